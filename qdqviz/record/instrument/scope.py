"""Which code belongs to a pass, and which to the machinery around it."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from types import FunctionType

PASS_CODE: dict[str, bool] = {
    "torch": False,
    "torch.fx.subgraph_rewriter": True,
    "torch.fx.passes.operator_support": True,
    "torch.fx.passes.utils.matcher_utils": True,
    "torch.fx.passes.utils.matcher_with_name_node_map_utils": True,
    "torch.fx.passes.utils.source_matcher_utils": True,
    "torchao": True,
    "executorch": True,
    "executorch.codegen": False,
    "executorch.devtools": False,
    "executorch.exir": False,
    "executorch.exir.passes": True,
    "executorch.extension": False,
    "executorch.kernels": False,
    "executorch.runtime": False,
    "qdqviz": False,
    "qdqviz.passes": True,
    "qdqviz.passes.builtin.metadata": False,
    "qdqviz.passes.builtin.ops": False,
    "qdqviz.passes.builtin.values": False,
}
"""Packages and modules that are pass code or not; the longest one that fits decides.

What only computes values, copies metadata, or gives names of ops and their arguments, decides nothing.
"""

OP_MODULES = ("ops_registrations", "ref_implementations", "custom_ops", "op_implementations")
"""Ends of module names that hold implementations of ops: they compute values, they decide nothing."""

_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep

_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Scope:
    """Decides what is pass code, given the pass."""

    own: frozenset[str] = field(default_factory=frozenset)
    """Top-level packages of the passes themselves: an installed package of private passes is pass code."""

    def admits(self, module: str, file: str) -> bool:
        """Whether code of this module and file is pass code."""
        if module.endswith(OP_MODULES):
            return False
        known = _listed(module)
        if known is not None:
            return known
        if module.partition(".")[0] in self.own:
            return True
        return not _is_installed(file, module)

    def admits_function(self, function: FunctionType) -> bool:
        """Whether a function is pass code."""
        return self.admits(module_of(function), function.__code__.co_filename)

    def admits_class(self, kind: type) -> bool:
        """Whether the methods that a class itself defines are pass code."""
        module = type.__dict__["__dict__"].__get__(kind).get("__module__")
        if type(module) is not str or module == "builtins":
            return False
        loaded = sys.modules.get(module)
        return self.admits(module, getattr(loaded, "__file__", None) or "")


def module_of(function: FunctionType) -> str:
    """The module whose globals a function uses."""
    name = function.__globals__.get("__name__")
    return name if type(name) is str else ""


@lru_cache(maxsize=4096)
def _listed(module: str) -> bool | None:
    while module:
        if module in PASS_CODE:
            return PASS_CODE[module]
        module = module.rpartition(".")[0]
    return None


@lru_cache(maxsize=4096)
def _is_installed(file: str, module: str) -> bool:
    """Whether code belongs to the standard library or an installed library."""
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    if any(folder in PurePath(file).parts for folder in _INSTALLED):
        return True
    return file.startswith((_STANDARD_LIBRARY, "<frozen "))
