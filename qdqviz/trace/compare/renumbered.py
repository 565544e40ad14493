"""A trace read with the identities of another one, so that states of both can be laid over each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replaced

from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import DictArg, ListArg, Ref, TextRef, Value, map_refs
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace


class Renumbered(Trace):
    """A trace whose nodes go by the identities of their counterparts in another trace.

    Nodes that have none go by numbers that the other trace does not use, and so do long texts. States and
    changes are renumbered; attempts are as they are in the file.
    """

    def __init__(self, path: str | Path, counterparts: Mapping[int, int]) -> None:
        """Open the trace once more.

        Args:
            path: The trace file.
            counterparts: Identity in the other trace -> identity in this one, one to one.

        Raises:
            TraceFileError: If the file cannot be read as a trace.
        """
        self._others = {mine: other for other, mine in counterparts.items()}
        self._first_free = max(counterparts, default=0) + 1_000_000_000
        super().__init__(path)

    def number(self, node: int) -> int:
        """The identity that a node of the file goes by."""
        found = self._others.get(node)
        return self._first_free + node if found is None else found

    def owns_text(self, text_id: int) -> bool:
        """Whether a long text is one of this trace, as its states name it."""
        return text_id < 0

    def text(self, text_id: int) -> str:
        """A long text by its id, as states name it."""
        return super().text(-1 - text_id if text_id < 0 else text_id)

    def rewrite(self, step: int) -> Rewrite:
        """The rewrite of a step, with its changes."""
        found = super().rewrite(step)
        focus = None if found.focus is None else self.number(found.focus)
        return replace(found, focus=focus, changes=tuple(map(self._change, found.changes)))

    def _state_at(self, subject: int, seq: int) -> GraphState:
        state = super()._state_at(subject, seq)
        changes = [
            Insert(path, self._node(node)) for path in state.paths() for node in state.body(path).in_order()
        ]
        return GraphState().apply_all(changes)

    def _changes_of(self, subject: int, first: int, last: int) -> dict[int, Any]:
        found = super()._changes_of(subject, first, last)
        return {seq: tuple(map(self._change, changes)) for seq, changes in found.items()}

    def _change(self, change: Change) -> Change:
        if isinstance(change, Update):
            return replaced(
                change,
                node=self.number(change.node),
                old=self._value(change.field, change.old),
                new=self._value(change.field, change.new),
            )
        node = self._node(change.node)
        return Insert(change.path, node) if isinstance(change, Insert) else Erase(change.path, node)

    def _node(self, node: NodeState) -> NodeState:
        return replaced(
            node,
            id=self.number(node.id),
            args=self._value("args", node.args),
            kwargs=self._value("kwargs", node.kwargs),
            meta=self._value("meta", node.meta),
            shares_meta=self._value("shares_meta", node.shares_meta),
        )

    def _value(self, field: str, value: Any) -> Any:
        """What a field of a node holds, with the nodes in it renumbered."""
        if field in ("args", "kwargs"):
            return map_refs(value, lambda ref: Ref(self.number(ref)))
        if field == "meta":
            return tuple((key, _renumber_texts(item)) for key, item in value)
        if field == "shares_meta" and value is not None:
            return self.number(value)
        return value


def _renumber_texts(value: Value) -> Value:
    if isinstance(value, TextRef):
        return TextRef(-1 - value.id)
    if isinstance(value, tuple):
        return tuple(_renumber_texts(item) for item in value)
    if isinstance(value, ListArg):
        return ListArg(tuple(_renumber_texts(item) for item in value.items))
    if isinstance(value, DictArg):
        return DictArg(tuple((key, _renumber_texts(item)) for key, item in value.items))
    return value
