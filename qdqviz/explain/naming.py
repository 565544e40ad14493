"""How a sentence names nodes: short, and never two alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qdqviz.explain.effect import Effect
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.labels import short_name, short_names
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import QUANTIZATION, op_name, role

FEW = 3
"""Nodes that are named one by one; of more, the first and how many others."""


class Names:
    """Names of the nodes around one rewrite, as text to be read: raw, so make it safe where it is shown."""

    def __init__(self, effect: Effect, before: GraphState, after: GraphState) -> None:
        self.before = before.bodies.get(effect.path) or Body()
        """The graph that the rewrite is about, before it."""
        self.after = after.bodies.get(effect.path) or Body()
        """The same graph after it."""
        self.same_as = {new.id: old.id for group in effect.groups for new, old in group.pairs()}
        """New identity -> old identity of nodes that were made anew in place of an equal one."""
        net = effect.net
        nodes = [node for _, node in (*net.removed, *net.added)]
        nodes += [node for each in net.updated for node in (each.old, each.new)]
        near = {ref for node in nodes for ref in node.input_ids()}
        near.update(effect.crossing.crossed if effect.crossing else ())
        self._short = short_names(
            [node.name for node in nodes] + [found.name for ref in near if (found := self.find(ref))]
        )

    def find(self, node: int) -> NodeState | None:
        """The node of this identity, as it is after the rewrite, else as it was before."""
        return self.after.get(node) or self.before.get(node)

    def of(self, node: NodeState) -> str:
        """A node's name."""
        return self._short.get(node.name) or short_name(node.name)

    def of_id(self, node: int) -> str:
        """The name of the node of this identity."""
        found = self.find(node)
        return "?" if found is None else self.of(found)

    def crossed(self, effect: Effect) -> list[NodeState]:
        """The nodes that a move went past, as they were before it."""
        passed = effect.crossing.crossed if effect.crossing is not None else ()
        found = [self.before.get(self.same_as.get(each, each)) for each in passed]
        return [node for node in found if node is not None]

    def list(self, nodes: Sequence[NodeState]) -> str:
        """`a`, `a and b`, `a, b and c`, `a and 4 more`."""
        return enumerated([self.of(node) for node in nodes])


def enumerated(words: Sequence[str], few: int = FEW) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `few` the first and how many more."""
    if len(words) > few:
        return f"{words[0]} and {len(words) - 1} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def op_word(node: NodeState) -> str:
    """What a node calls, in one word: `view`, `quantize`, `linear`."""
    plain = op_name(node.target).plain
    if role(node) in QUANTIZATION:
        return plain.partition("_per_")[0].removesuffix("_affine")
    return plain


def op_words(nodes: Iterable[NodeState]) -> str:
    """What several nodes call, in their order and each once: `mm, add`."""
    return ", ".join(dict.fromkeys(map(op_word, nodes)))


def counted(count: int, word: str) -> str:
    """`1 node`, `3 nodes`; words in s, such as alias, take `es`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}{'es' if word.endswith('s') else 's'}"
