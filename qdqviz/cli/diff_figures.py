"""Numbers of final graphs, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from qdqviz.ir.text import bytes_text

if TYPE_CHECKING:
    from qdqviz.trace.compare.model import Comparison, Figures, SubjectPair


def _qdq(found: Figures) -> int:
    return found.quantize + found.dequantize + found.requantize


FIGURES: dict[str, Callable[[Figures], int]] = {
    "nodes": lambda found: found.nodes,
    "q/dq": _qdq,
    "moved": lambda found: found.moved_bytes,
    "peak": lambda found: found.peak_bytes,
    "byte-steps": lambda found: found.byte_steps,
}
"""Columns of the table of several targets: nodes, quantization ops, bytes of what data movement makes, most
bytes alive at a time, bytes alive summed over all steps."""

_BYTES = ("moved", "peak", "byte-steps")

ROWS: dict[str, Callable[[Figures], int]] = {
    "nodes": lambda found: found.nodes,
    "quantize": lambda found: found.quantize,
    "dequantize": lambda found: found.dequantize,
    "requantize": lambda found: found.requantize,
    "bytes moved": lambda found: found.moved_bytes,
    "live peak": lambda found: found.peak_bytes,
    "byte-steps": lambda found: found.byte_steps,
}
"""Rows of one comparison's table."""


def change(found: Comparison, name: str) -> str:
    """`48 → 44`, or one number where both sides agree; summed over the programs that both have."""
    both = [each for each in found.subjects if each.left is not None and each.right is not None]
    number = FIGURES[name]
    old = sum(number(each.left_final) for each in both)
    new = sum(number(each.right_final) for each in both)
    texts = [_text(name in _BYTES, value) for value in (old, new)]
    return texts[0] if old == new else " → ".join(texts)


def graph_word(found: Comparison) -> str:
    """`same` or `differ`: the final graphs."""
    return "same" if found.same_graphs else "differ"


def subject_rows(each: SubjectPair, sides: tuple[str, str]) -> list[tuple[str, ...]]:
    """A table of numbers: before the passes, at the end of either side, and by how much they differ.

    Ops follow where their counts differ.
    """
    rows: list[tuple[str, ...]] = [("", "before", *sides, "")]
    states = each.left_first, each.left_final, each.right_final
    for name, number in ROWS.items():
        values = [number(state) for state in states]
        rows.append((name, *(f"{value:,}" for value in values), _growth(values[2] - values[1])))
    counts = [dict(state.ops) for state in states]
    for op in sorted({*counts[1], *counts[2]}):
        values = [found.get(op, 0) for found in counts]
        if values[1] != values[2]:
            rows.append((op, *map(str, values), _growth(values[2] - values[1])))
    return rows


def _growth(value: int) -> str:
    return f"{value:+,}" if value else ""


def _text(in_bytes: bool, value: int) -> str:
    return bytes_text(value) if in_bytes else f"{value:,}"
