"""What the colours, strokes and signs of a picture mean: only those that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qdqviz.draw.picture import Picture, Presence
from qdqviz.draw.union import Mark
from qdqviz.ir.roles import Role
from qdqviz.ir.text import is_real

ROLE_TEXTS = {
    Role.QUANTIZE: "quantize",
    Role.DEQUANTIZE: "dequantize",
    Role.REQUANTIZE: "requantize",
    Role.QPARAMS: "chooses scale and zero point",
    Role.MOVEMENT: "moves data",
    Role.COMPUTE: "computes",
    Role.CONSTANT: "constant",
    Role.INPUT: "input",
    Role.OUTPUT: "output",
    Role.GETITEM: "takes one output",
    Role.SYMBOLIC: "computes a size",
    Role.CONTROL: "runs sub-graphs",
    Role.DELEGATE: "runs on a backend",
}
"""A role in words."""

MARK_TEXTS = {
    Mark.ADDED: "added",
    Mark.REMOVED: "removed",
    Mark.REWIRED: "rewired: other inputs",
    Mark.CHANGED: "same inputs, other result",
    Mark.MOVED: "runs earlier or later",
}
"""A mark in words."""

VALUE_TEXTS = {"real": "real values", "integer": "integers", "other": "no tensor, or unknown"}
"""What an edge carries, in words."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One line of a legend."""

    kind: Literal["role", "mark", "value", "edge", "ghost", "more"]
    """What is explained."""
    key: str
    """Role, mark glyph of a box or an edge, or kind of value; empty for ghosts and hidden neighbours."""
    text: str
    """In words."""
    is_faint: bool = False
    """True for edges that are drawn dotted."""


def legend(picture: Picture) -> tuple[LegendEntry, ...]:
    """The entries for what a picture shows in its view."""
    shown = [box for box in picture.boxes if box.presence is not Presence.GAP]
    solid = [box for box in shown if box.presence is Presence.SOLID]
    roles = {box.role for box in solid}
    marks = {box.mark for box in solid}
    values = {value_kind(edge.dtype) for edge in picture.edges if edge.presence is Presence.SOLID}
    entries = [LegendEntry("role", role, text) for role, text in ROLE_TEXTS.items() if role in roles]
    entries += [LegendEntry("mark", mark, text) for mark, text in MARK_TEXTS.items() if mark in marks]
    if any(box.presence is Presence.GHOST for box in shown):
        entries.append(LegendEntry("ghost", "", "was here before"))
    entries += [LegendEntry("value", kind, text) for kind, text in VALUE_TEXTS.items() if kind in values]
    entries += _edges(picture)
    if any(box.more_inputs or box.more_users for box in solid):
        entries.append(LegendEntry("more", "", "inputs and users not shown"))
    return tuple(entries)


def _edges(picture: Picture) -> list[LegendEntry]:
    """Edges that the step adds or removes: they have the colours of marks."""
    shown = [edge for edge in picture.edges if edge.presence is Presence.SOLID and edge.points]
    found = {edge.mark: edge.is_faint for edge in shown}
    texts = {Mark.ADDED: "edge added", Mark.REMOVED: "edge removed"}
    return [LegendEntry("edge", mark, text, found[mark]) for mark, text in texts.items() if mark in found]


def value_kind(dtype: str | None) -> Literal["real", "integer", "other"]:
    """Which of the three kinds of value a dtype is; None is no tensor."""
    return "other" if dtype is None else "real" if is_real(dtype) else "integer"


def legend_text(picture: Picture) -> str:
    """The legend of a picture without colours, as one line per kind of entry."""
    signs = {"mark": "{} {}", "ghost": "┄ {1}", "more": "↑n ↓n {1}"}
    entries = [entry for entry in legend(picture) if entry.kind in signs]
    words = [signs[entry.kind].format(entry.key, entry.text) for entry in entries]
    words += [f"⠢⡀ {entry.text}" for entry in legend(picture) if entry.kind == "edge" and entry.is_faint]
    kinds = {entry.key for entry in legend(picture) if entry.kind == "value"}
    if {"real", "integer"} <= kinds:
        words.append("⣿ real values ⢸ integers")
    return "   ".join(words)
