"""Several rewrites as one animated picture, for commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.cli.output import Output
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.draw.theme import Theme
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace


def steps_of_pass(trace: Trace, label: str) -> tuple[int, ...]:
    """The steps that a pass run took, those of runs within it included.

    Args:
        trace: The trace.
        label: The pass's name, with #N where it ran more than once on a program.

    Raises:
        UsageError: If no such pass ran, or it rewrote nothing.
    """
    import difflib

    runs = [run for run in trace.runs if run.label == label]
    if not runs:
        close = difflib.get_close_matches(label, {run.label for run in trace.runs}, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise UsageError(f"no pass {label} ran in {trace.path.name}{hint}")
    run = next((run for run in runs if run.rewrites), None)
    if run is None:
        raise UsageError(f"{label} rewrote nothing in {trace.path.name}")
    return tuple(range(run.first_step + 1, run.last_step + 1))


def walk_bytes(trace: Trace, steps: tuple[int, ...], radius: int, theme: Theme, output: Output) -> bytes:
    """The animated SVG of some steps; steps of other graphs than the first one's are left out.

    Raises:
        LayoutError: If the layout engine is missing, fails or takes too long.
    """
    from qdqviz.draw.walk import walk, walk_svg
    from qdqviz.explain.sentence import sentence
    from qdqviz.ir.graph import Body
    from qdqviz.ir.neighbourhood import touched

    rewrites = _of_one_graph([trace.rewrite(step) for step in steps])
    if len(rewrites) < len(steps):
        output.warn(
            f"left out {len(steps) - len(rewrites)} steps of other graphs than that of step {steps[0]}"
        )
    first, path = rewrites[0], rewrites[0].path
    states = [trace.before(first.step), *(trace.after(each.step) for each in rewrites)]
    shown = walk(
        [state.bodies.get(path) or Body() for state in states],
        [touched(each.changes, path) for each in rewrites],
        [f"step {each.step}: {sentence(trace, each)}" for each in rewrites],
        trace.ops,
        radius=radius,
    )
    if shown.cut:
        output.warn("not all nodes fit in one picture: choose fewer steps, or a smaller --radius")
    labels = dict.fromkeys(trace.runs[each.run].label for each in rewrites)
    return walk_svg(shown, theme, title=f"{trace.info.title}: {', '.join(labels)}").encode()


def _of_one_graph(rewrites: list[Rewrite]) -> list[Rewrite]:
    place = (rewrites[0].subject, rewrites[0].path)
    return [each for each in rewrites if (each.subject, each.path) == place]
