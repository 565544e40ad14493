"""Live ranges as lanes in character cells: before above after, in one order of steps.

Real values are full blocks, integers shaded ones; `├` is where a value is made, `┤` its last use, `▶` the
graph's end for a value that is returned; `×` is never used. `+`, `-` and `~` say that a value came, went or
changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator

from qdqviz.draw.axis import Axis, merged_axis
from qdqviz.draw.grid import CellRect, Cells, Grid
from qdqviz.draw.lane_choice import MAX_LANES, Lane, choose_lanes, choose_window
from qdqviz.draw.text import cut, cut_middle, width
from qdqviz.draw.union import Mark
from qdqviz.ir.graph import Body
from qdqviz.ir.liveness import Liveness, LiveRange, LiveValues, Which, alive_bytes, live_pair, liveness
from qdqviz.ir.text import bytes_text, short_dtype

_BARS = " ▁▂▃▄▅▆▇█"
_TITLES = {
    "qdq": "live ranges of q/dq values",
    "carried": "live ranges of q/dq values and of what carries them",
    "all": "live ranges of all values",
    "chosen": "live ranges",
}


def live_lanes(
    before: Body | None,
    after: Body | None,
    *,
    which: Which = "carried",
    focus: Collection[int] = (),
    columns: int = 100,
    most: int = MAX_LANES,
) -> Cells:
    """Lanes of a graph before and after a step; see `draw_lanes`.

    Args:
        before: The graph before; None shows one state.
        after: The graph after; None shows one state.
        which: The values that count, see `qdqviz.ir.liveness.Which`.
        focus: Nodes whose values are shown even where nothing changed.
        columns: Width of the result.
        most: Most values to show.
    """
    first, last = _lives(before, after, which)
    return draw_lanes(first, last, merged_axis(before, after), focus=focus, columns=columns, most=most)


def _lives(before: Body | None, after: Body | None, which: Which) -> tuple[Liveness | None, Liveness | None]:
    if before is not None and after is not None:
        return live_pair(LiveValues(before), LiveValues(after), which)
    one = None if before is None else liveness(before, which)
    other = None if after is None else liveness(after, which)
    return one, other


def draw_lanes(
    before: Liveness | None,
    after: Liveness | None,
    axis: Axis,
    *,
    focus: Collection[int] = (),
    columns: int = 100,
    most: int = MAX_LANES,
    words: tuple[str, str] = ("before", "after"),
) -> Cells:
    """Draw live ranges before and after a step as lanes, with a profile of the bytes alive and the totals.

    Shown are the values that the rewrite changes, those of `focus`, and some nearby; see `choose_lanes`.

    Args:
        before: Live ranges before; None shows one state.
        after: Live ranges after; None shows one state.
        axis: Places of the steps, from `merged_axis`.
        focus: Nodes whose values are shown even where nothing changed.
        columns: Width of the result, at least 40.
        most: Most values to show.
        words: What the two states are called; six columns of it are shown.

    Returns:
        Cells whose `rects` give each value's rows by the node that makes it.
    """
    lanes = choose_lanes(before, after, axis, focus, most)
    painter = _Painter(before, after, axis, lanes, max(columns, 40), (cut(words[0], 6), cut(words[1], 6)))
    return painter.paint()


class _Painter:
    """Lays out rows and writes them."""

    def __init__(
        self,
        before: Liveness | None,
        after: Liveness | None,
        axis: Axis,
        lanes: tuple[Lane, ...],
        columns: int,
        words: tuple[str, str],
    ) -> None:
        self.words = words
        self.states = [
            (word, live, steps)
            for word, live, steps in ((words[0], before, axis.before), (words[1], after, axis.after))
            if live is not None
        ]
        self.lanes = lanes
        self.columns = columns
        self.axis = axis
        self.label = min(44, max(26, columns // 2 if len(self.states) > 1 else columns * 9 // 20))
        self.window = choose_window(lanes, axis, columns - self.label - 1)
        rows = 1 + sum(len(self._rows(lane)) for lane in lanes) + len(self.states) + len(list(self._totals()))
        self.grid = Grid(columns, rows)

    def _rows(self, lane: Lane) -> list[tuple[str, LiveRange, tuple[int, ...]]]:
        """Rows of one lane: one where both states are alike, else one for each state that has it."""
        found = []
        for word, _, steps in self.states:
            item = lane.change.before if word == self.words[0] else lane.change.after
            if item is not None:
                found.append((word, item, steps))
        return found[-1:] if lane.mark is Mark.NONE else found

    def paint(self) -> Cells:
        rects: dict[int, CellRect] = {}
        self._heading()
        row = 1
        for lane in self.lanes:
            lines = self._rows(lane)
            for index, (word, item, steps) in enumerate(lines):
                self._lane_label(row + index, lane, item, word, index == 0)
                self._bar(row + index, item, steps)
            rects.setdefault(lane.node, CellRect(0, row, self.columns, len(lines)))
            row += len(lines)
        for word, live, steps in self.states:
            self._profile(row, word, live, steps)
            row += 1
        for text, style in self._totals():
            self.grid.write(1, row, cut(text, self.columns - 2), style)
            row += 1
        return self.grid.cells(rects)

    def _heading(self) -> None:
        if not self.states:
            return
        _, live, _ = self.states[-1]
        title = _TITLES[live.which]
        self.grid.write(1, 0, cut(title, self.columns - 2), "bold")
        window = self.window
        shown = f"nodes {window.first + 1}–{window.first + window.places} of {self.axis.length}"
        if width(title) + width(shown) + 4 <= self.columns:
            self.grid.write(self.columns - width(shown) - 1, 0, shown, "muted")

    def _lane_label(self, row: int, lane: Lane, item: LiveRange, word: str, is_first: bool) -> None:
        size = "?" if item.nbytes is None else bytes_text(item.nbytes)
        facts = f"{short_dtype(item.dtype):>5} {size:>8} "
        if len(self.states) > 1:
            facts = f"{word if lane.mark is not Mark.NONE else '':<6} {facts}"
        room = self.label - width(facts) - 3
        if is_first:
            style = "" if lane.mark is Mark.NONE else f"mark.{lane.mark.name.lower()}"
            self.grid.write(0, row, str(lane.mark or " "), style)
            self.grid.write(2, row, cut_middle(lane.name, room), "")
        self.grid.write(self.label - width(facts), row, facts, "muted")

    def _bar(self, row: int, item: LiveRange, steps: tuple[int, ...]) -> None:
        first, last = self.window.column(steps[item.start]), self.window.column(steps[item.end])
        after_last = self.window.column(steps[item.end] + 1) - 1
        last = max(last, after_last)
        style = f"lane.{'real' if item.is_real else 'integer'}"
        for column in range(self.window.columns):
            if first <= column <= last:
                self.grid.put(self.label + column, row, _glyph(item, column, first, last), style)
            else:
                self.grid.put(self.label + column, row, "·", "faint")

    def _profile(self, row: int, word: str, live: Liveness, steps: tuple[int, ...]) -> None:
        """Bytes alive in each column, as bars; the peak of both states fills a row."""
        name = "bytes alive" + (f" {word}" if len(self.states) > 1 else "")
        self.grid.write(2, row, cut(name, self.label - 3), "muted")
        top = max((other.peak_bytes for _, other, _ in self.states), default=0)
        tall = [0] * self.window.columns
        alive = alive_bytes(live)
        begin = max(bisect_right(steps, self.window.first) - 1, 0)
        end = bisect_left(steps, self.window.first + self.window.places)
        for step in range(begin, end):
            # Places that only the other state has belong to the step before them.
            beyond = steps[step + 1] if step + 1 < len(steps) else self.axis.length
            first, last = self.window.column(steps[step]), self.window.column(beyond)
            for column in range(max(first, 0), min(max(last, first + 1), len(tall))):
                tall[column] = max(tall[column], alive[step])
        for column, count in enumerate(tall):
            level = -(-count * (len(_BARS) - 1) // top) if top else 0
            self.grid.put(self.label + column, row, _BARS[level], "muted")

    def _totals(self) -> Iterator[tuple[str, str]]:
        lives = [live for _, live, _ in self.states]
        if not lives:
            return
        yield f"  peak {_bytes_change(*(live.peak_bytes for live in lives))}", ""
        byte_steps = _bytes_change(*(live.byte_steps for live in lives))
        real = _bytes_change(*(live.real_byte_steps for live in lives))
        yield f"  byte-steps {byte_steps}   real values {real}", ""


def _glyph(item: LiveRange, column: int, first: int, last: int) -> str:
    if item.last_user is None:
        return "×"
    if column == last and item.returned:
        return "▶"
    if first == last:
        return "│"
    return "├" if column == first else "┤" if column == last else "█" if item.is_real else "▒"


def _bytes_change(before: int, after: int | None = None) -> str:
    """`48 KiB → 36 KiB (−25 %)`."""
    if after is None or after == before:
        return bytes_text(before)
    share = f" ({_percent((after - before) * 100 / before)} %)" if before else ""
    return f"{bytes_text(before)} → {bytes_text(after)}{share.replace('-', '−')}"


def _percent(change: float) -> str:
    return f"{change:+.0f}" if abs(change) >= 1 else f"{change:+.1f}"
