"""Nodes that use what is not there: computed later, or erased."""

from __future__ import annotations

from collections.abc import Iterator

from qdqviz.check.region import order_faults
from qdqviz.check.rules.rule import Rule, Suspicion, Touched
from qdqviz.ir.graph import Body


class UseBeforeDefinition(Rule):
    """A node uses a value that is computed behind it."""

    names = ("use-before-definition",)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at the nodes that are new, rewired or moved, and at their users."""
        for user, used in order_faults(touched.after, touched.region.dirty | touched.region.moved):
            found = f"uses {used.name}, which is computed later"
            yield Suspicion(self.names[0], user.id, found, f"{used.name} stands before it", used.id)

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether the node still stands before what it uses."""
        node, used = body[suspicion.node], body.get(suspicion.about)
        return used is not None and used.id in node.input_ids() and used.order > node.order


class UseOfErased(Rule):
    """A node uses a node that is gone."""

    names = ("use-of-erased",)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at the users that erased nodes still have."""
        for node in touched.region.erased:
            name = touched.before[node].name
            for user in touched.after.users(node):
                yield Suspicion(self.names[0], user, f"uses {name}, which is gone", f"no use of {name}", node)

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether the node still uses it, and it is still gone."""
        return suspicion.about not in body and suspicion.about in body[suspicion.node].input_ids()
