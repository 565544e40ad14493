"""What a pass's own tests call: assertions whose failure message says why.

from qdqviz.testing import assert_fires

assert_fires(FuseMMWithAdd(), graph_module, node="aten_mm_default")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdqviz.testing.fires import assert_declines as assert_declines
    from qdqviz.testing.fires import assert_fires as assert_fires
    from qdqviz.testing.fires import why_on as why_on

__all__ = ["assert_declines", "assert_fires", "why_on"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: it needs torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from qdqviz.testing import fires

    return getattr(fires, name)
