"""Single differences between two traces as lines: `dequantize_6: axis 0 → 1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from qdqviz.explain.naming import counted, enumerated
from qdqviz.ir.graph import GraphState
from qdqviz.ir.labels import op_label, short_name
from qdqviz.ir.node import Constant, NodeState
from qdqviz.ir.text import spec_text, value_text
from qdqviz.ir.values import TextRef
from qdqviz.trace.compare.fields import SHARED
from qdqviz.trace.compare.model import Difference
from qdqviz.trace.compare.replay import Spot
from qdqviz.trace.reader import Trace

MOST_REORDERED = 4
"""How many nodes are named that stand elsewhere."""

_LONG = 60
"""Characters of a value that is told whole."""


class Lines:
    """Writes differences as lines; text from graphs is in them as it is."""

    def __init__(
        self,
        traces: tuple[Trace, Trace],
        sides: tuple[str, str],
        left: Sequence[GraphState],
        right: Sequence[GraphState],
        *,
        of_graphs: bool = False,
    ) -> None:
        """Take both traces, what their sides are called, and states to look nodes up in, the best first.

        Args:
            traces: Both traces.
            sides: What their sides are called.
            left: States of the left trace to look nodes up in, the best first.
            right: States of the right trace.
            of_graphs: Whether the differences are those of graphs, which have nodes, and do not make them.
        """
        self._of_graphs = of_graphs
        self._traces = traces
        self._sides = sides
        self._states = left, right

    def line(self, each: Difference) -> str:
        """One difference, the left trace's value first."""
        if each.aspect in ("created", "erased"):
            return self._one_sided(each)
        left, right = self.values(each)
        if each.untouched is not None:
            told, side = (left, self._sides[1]) if each.untouched == "right" else (right, self._sides[0])
            return f"{self._name(each)}: {self.what(each)} {told}, unchanged in {side}"
        if left == right:  # names are no identities: passes re-use them
            return f"{self._name(each)}: {self.what(each)} {left} → another {right}"
        return f"{self._name(each)}: {self.what(each)} {left} → {right}"

    def what(self, each: Difference) -> str:
        """What differs, in a word: a parameter's name, a metadata key, `calls`, `placed`."""
        words = {"target": "calls", "constant": "content", "position": "placed", "spec": "val"}
        if each.aspect == "argument":
            return self._parameter(each)
        return words.get(each.aspect) or str(each.place[-1] if each.place else each.aspect)

    def values(self, each: Difference) -> tuple[str, str]:
        """What either trace has there, as text."""
        return self._value(each, each.left_value, 0), self._value(each, each.right_value, 1)

    def _value(self, each: Difference, value: Any, side: int) -> str:
        match each.aspect:
            case "created" | "erased":
                node = (each.left, each.right)[side]
                return "nothing" if node is None or value is False else self._label(each, node, side)
            case "position":
                return self._spot(each.path, value, side)
            case "constant":
                return _constant_text(value)
            case "spec":
                return spec_text(value) or "nothing"
            case "target":
                return str(value)
        if isinstance(value, TextRef):
            value = self._traces[side].text(value.id)
        if value is None:
            return "nothing"
        is_text = each.aspect == "metadata" and isinstance(value, str)
        return _short(
            value if is_text else value_text(value, lambda ref: self._node_name(each.path, side, ref))
        )

    def of_metadata(self, differences: Iterable[Difference]) -> Iterator[str]:
        """One line for all differences in metadata: `metadata: debug_handle, val`."""
        keys = Counter("val" if each.aspect == "spec" else str(each.place[-1]) for each in differences)
        if keys:
            yield "metadata: " + ", ".join(
                key if n == 1 else f"{key} ({n})" for key, n in sorted(keys.items())
            )

    def reordered(self, nodes: Sequence[tuple[NodeState, NodeState]]) -> str:
        """One line for nodes that run at another time."""
        names = [short_name(left.name) for left, _ in nodes]
        verb = "stands" if len(nodes) == 1 else "stand"
        return f"{enumerated(names, MOST_REORDERED)} {verb} elsewhere in the execution order"

    # -- parts -------------------------------------------------------------------------------------

    def _name(self, each: Difference) -> str:
        nodes = [node for node in (each.left, each.right) if node is not None]
        return " → ".join(dict.fromkeys(short_name(node.name) for node in nodes))

    def _one_sided(self, each: Difference) -> str:
        """What only one side makes, erases or has."""
        verb = "makes" if each.aspect == "created" else "erases"
        if each.left is not None and each.right is not None:
            side = self._sides[0] if each.left_value else self._sides[1]
            return f"only {side} {verb} {self._name(each)}"
        index = 0 if each.left is not None else 1
        node = each.left or each.right
        assert node is not None
        verb = "has" if self._of_graphs else verb
        return f"only {self._sides[index]} {verb} {short_name(node.name)}: {self._label(each, node, index)}"

    def _label(self, each: Difference, node: NodeState, side: int) -> str:
        ops = self._traces[side].ops
        return op_label(node, ops, lambda ref: self._node_name(each.path, side, ref))

    def _parameter(self, each: Difference) -> str:
        where, key = each.place[:2]
        node = each.left or each.right
        trace = self._traces[0 if each.left is not None else 1]
        if where == "args" and isinstance(key, int) and node is not None:
            known = trace.ops.get(node.target)
            if known is not None and key < len(known.params):
                return known.params[key]
            return f"argument {key}"
        return str(key)

    def _spot(self, path: str, spot: Spot | None, side: int) -> str:
        if spot is None:
            return "where it was"
        around = [
            f"{word} {self._node_name(path, side, nodes[0])}"
            for word, nodes in (("after", spot.before), ("before", spot.after))
            if nodes
        ]
        return " and ".join(around) or "alone"

    def _node_name(self, path: str, side: int, node: int) -> str:
        for state in self._states[side]:
            for where in dict.fromkeys((path, *state.paths())):
                body = state.bodies.get(where)
                found = None if body is None else body.get(node)
                if found is not None:
                    return short_name(found.name)
        return f"#{node}"


def metadata_keys(differences: Iterable[Difference]) -> list[str]:
    """The metadata that differs, `val` for what the values are, each once and sorted."""
    return sorted({"val" if d.aspect == "spec" else str(d.place[-1]) for d in differences if d.is_metadata})


def metadata_summary(count: int, keys: Iterable[str]) -> str:
    """`19 rewrites differ in metadata alone (debug_handle, val)`."""
    verb = "differs" if count == 1 else "differ"
    shown = ", ".join("whose dictionary it is" if key == SHARED else key for key in keys)
    return f"{counted(count, 'rewrite')} {verb} in metadata alone ({shown})"


def _constant_text(constant: Constant | None) -> str:
    if constant is None:
        return "none"
    told = constant.fingerprint[:8] if constant.fingerprint else constant.target
    return f"{constant.kind} {told}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
