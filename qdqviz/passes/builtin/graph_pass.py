"""The frame of all built-in passes: a plain torch.fx pass that edits in place and says so honestly."""

from __future__ import annotations

import abc

import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult


class GraphPass(PassBase, abc.ABC):
    """Rewrites a graph and the graphs below it (the branches of cond, the bodies of map and while).

    There is no retrace: nodes keep their names, a rewrite updates `meta["val"]` of the nodes that it
    touches, and `modified` is true only if something was rewritten. Delegates are opaque: what is inside one
    has its own program.
    """

    @abc.abstractmethod
    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Rewrites one graph and returns whether anything changed."""

    def call(self, graph_module: torch.fx.GraphModule) -> PassResult:
        """Runs the pass, in place.

        Args:
            graph_module: A graph in the aten or the edge dialect.

        Returns:
            The same module, and whether it was changed.
        """
        modified = False
        for module in list(graph_module.modules()):
            if isinstance(module, torch.fx.GraphModule) and self.rewrite(module.graph):
                module.recompile()
                modified = True
        return PassResult(graph_module, modified)
