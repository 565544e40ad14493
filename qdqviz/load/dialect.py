"""Which dialect a graph is in, and a warning where a pass looks for the other one."""

from __future__ import annotations

from typing import Any, Literal

Dialect = Literal["aten", "edge", "mixed"]
"""`mixed`: ops of both stand side by side, as in a graph that a pass has half lowered."""

LOWERED_MODULES = ("executorch.exir.dialects.edge", "executorch.exir.dialects.backend")
"""Where the classes of edge and backend op overloads are defined."""


def dialect_of(graph_module: Any) -> Dialect:
    """The dialect of a torch.fx.GraphModule's ops, those of its control-flow branches included.

    What both dialects share says nothing: getitem, higher-order ops, symbolic sizes and asserts. A graph that
    holds only delegate calls is edge, one without any ops is aten.
    """
    kinds = {_kind_of(node.target) for graph in graphs_of(graph_module) for node in graph.nodes}
    if {"edge", "aten"} <= kinds:
        return "mixed"
    return "edge" if kinds & {"edge", "delegate"} else "aten"


def graphs_of(graph_module: Any) -> list[Any]:
    """The torch.fx graphs of a module and of the modules inside it; delegates are not looked into."""
    return [module.graph for module in graph_modules_of(graph_module)]


def graph_modules_of(graph_module: Any) -> list[Any]:
    """The module and the GraphModules inside it, outermost first; delegates are not looked into."""
    found = [graph_module]
    for child in graph_module.children():
        if hasattr(child, "graph") and hasattr(child, "recompile"):
            found.extend(graph_modules_of(child))
    return found


def warn_dialect(pass_name: str, pass_dialect: str | None, graph_dialect: Dialect) -> str | None:
    """One line if a pass looks for ops of a dialect that the graph does not have, else None.

    Args:
        pass_name: what the pass is called.
        pass_dialect: the one dialect whose ops it looks for, None if it looks for both or that is not known.
        graph_dialect: the graph's.
    """
    if pass_dialect not in ("aten", "edge") or graph_dialect in ("mixed", pass_dialect):
        return None
    remedy = "give it an edge program (to_edge)" if pass_dialect == "edge" else "run it before to_edge"
    return (
        f"{pass_name} looks for {pass_dialect} ops and this graph is in the {graph_dialect} dialect: {remedy}"
    )


def _kind_of(target: Any) -> str | None:
    module = str(type(target).__module__)
    if module.startswith(LOWERED_MODULES):
        return "edge"
    if getattr(target, "__name__", "") == "executorch_call_delegate":
        return "delegate"
    if type(target).__name__ == "OpOverload" and module == "torch._ops" and not _is_shared(str(target)):
        return "aten"
    return None


def _is_shared(name: str) -> bool:
    """Whether an overload stays as it is when a graph is lowered: symbolic sizes and run-time asserts."""
    operator = name.split(".")[1] if name.startswith("aten.") else ""
    return operator.startswith(("sym_", "_assert_", "_local_scalar_dense"))
