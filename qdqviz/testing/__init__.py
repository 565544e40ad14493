"""What a pass's own tests call: assertions whose failure message says why.

from qdqviz.testing import assert_fires, assert_same_rewrites

assert_fires(FuseMMWithAdd(), graph_module, node="aten_mm_default")
assert_same_rewrites(OldFusion, NewFusion, graph_module)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdqviz.testing.fires import assert_declines as assert_declines
    from qdqviz.testing.fires import assert_fires as assert_fires
    from qdqviz.testing.fires import why_on as why_on
    from qdqviz.testing.same import assert_same_rewrites as assert_same_rewrites

_MODULES = {
    "assert_declines": "fires",
    "assert_fires": "fires",
    "assert_same_rewrites": "same",
    "why_on": "fires",
}
"""Name here -> the module that defines it."""

__all__ = ["assert_declines", "assert_fires", "assert_same_rewrites", "why_on"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: it needs torch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
