"""How quick the terminal app is: key to picture through its own pilot, process start to first frame, memory.

    OMP_NUM_THREADS=1 python benchmarks/bench_tui.py [TRACE]

Without a trace it measures two: the passes `cadence` on a transformer of about 600 nodes, and a generated
graph of 20,000 nodes with 5,000 rewrites. Each trace is shown by a process of its own, without torch, so
that the memory stated is that of somebody who looks at it.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import resource
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

# Run as a script: what it measures is in the checkout, and the app is driven as its tests drive it.
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "tests" / "tui")]

SIZE = (200, 60)
"""Columns and rows of the terminal."""

WALKS = (
    ("rewrite by rewrite", ["right"] * 100 + ["left"] * 50),
    ("pages, first, last", ["pagedown", "G", "g"] * 20),
)
"""What is pressed."""

PACE = 0.08
"""Seconds between a picture and the next key: somebody who keeps an arrow key pressed for a while."""

RUNS = 7
"""Process starts, of which the median is told."""

EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first-frame")
Empty().run()
"""


@dataclass(frozen=True)
class Sample:
    """One key."""

    wall: float
    """Milliseconds from the key to the frame with its picture."""
    own: float
    """Milliseconds of processor time that the drawing thread took for it."""
    shared: int
    """Boxes of the picture that the one before had too."""
    kept: int
    """Those of them that stayed in their cell of the screen."""


class Watch:
    """Notes when the picture of a place has been painted."""

    def __init__(self) -> None:
        from qdqviz.tui.stage import Stage

        self.painted: tuple[float, float] | None = None
        original = Stage.show_scene

        def show(stage, scene, view, window=None):
            original(stage, scene, view, window)
            stage.frame.screen.call_after_refresh(self.note)

        Stage.show_scene = show

    def note(self) -> None:
        """The frame is out."""
        self.painted = (time.perf_counter(), time.thread_time())


def places(app) -> dict[int, tuple[int, int]]:
    """Column and row of every box, from the corner of its pane."""
    stage = app.main.stage
    window = stage.left.window
    rects = stage.scene.cells["union"].rects
    return {box: (rect.column - window.x, rect.row - window.y) for box, rect in rects.items()}


async def key_to_picture(path: Path, keys: list[str], watch: Watch) -> list[Sample]:
    """A sample for each key, pressed at a person's pace."""
    from driving import make_app, settle
    from textual import events

    app = make_app(path)
    samples: list[Sample] = []
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot, ahead=False)
        before = places(app)
        for key in keys:
            watch.painted = None
            wall, own = time.perf_counter(), time.thread_time()
            app.post_message(events.Key(key, None))
            while watch.painted is None:
                await asyncio.sleep(0.0005)
                assert time.perf_counter() - wall < 10, f"no picture after {key}"
            after = places(app)
            shared = before.keys() & after.keys()
            kept = sum(before[box] == after[box] for box in shared)
            took = (watch.painted[0] - wall) * 1e3, (watch.painted[1] - own) * 1e3
            samples.append(Sample(*took, len(shared), kept))
            before = after
            await asyncio.sleep(PACE)
    return samples


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def measure_keys(path: Path) -> None:
    """Print figures as JSON; the work of the process that shows one trace."""
    from qdqviz.tui.terminal import answering

    watch = Watch()
    figures = {}
    with answering():
        for name, keys in WALKS:
            samples = asyncio.run(key_to_picture(path, keys, watch))
            walls, own = [each.wall for each in samples], [each.own for each in samples]
            times = [percentile(walls, 0.5), percentile(walls, 0.95), percentile(own, 0.95)]
            shared = sum(each.shared for each in samples)
            figures[name] = [*times, sum(each.kept for each in samples) / shared if shared else 1.0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"walks": figures, "peak": peak}))


AUTOGROUP = Path("/proc/self/autogroup")
"""Linux shares processors among sessions, each of which has a priority: `/autogroup-7 nice -15`."""


def group_priority() -> str:
    """The priority of this session; empty where there is no such thing."""
    return AUTOGROUP.read_text().split()[-1] if AUTOGROUP.exists() else ""


def set_group_priority(priority: str) -> None:
    """Give this session a priority: one that was just opened has none of its parent's."""
    if priority not in ("", "0"):
        AUTOGROUP.write_text(priority)


def first_frame(command: list[str], text: str) -> float:
    """Seconds from the start of a process to a text on its terminal."""
    priority = group_priority()
    start = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        set_group_priority(priority)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    seen = b""
    try:
        while text.encode() not in seen:
            assert time.perf_counter() - start < 30, seen[-2000:]
            if select.select([terminal], [], [], 0.02)[0]:
                seen += os.read(terminal, 65536)
        return time.perf_counter() - start
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def first_frames(path: Path) -> tuple[float, float]:
    """Medians of interleaved runs: the app with a trace, and an empty Textual app."""
    ours, empty = [], []
    for _ in range(RUNS):
        ours.append(first_frame([sys.executable, "-m", "qdqviz", "open", str(path)], "passes & rewrites"))
        empty.append(first_frame([sys.executable, "-c", EMPTY_APP], "first-frame"))
    return statistics.median(ours), statistics.median(empty)


def record_transformer(path: Path) -> None:
    """Record the passes on the transformer; the work of a process that has torch."""
    from models import transformer

    from qdqviz.live.session import run
    from qdqviz.load.programs import describe
    from qdqviz.load.quiet import quiet
    from qdqviz.passes.resolve import resolve

    with quiet():
        run(describe("transformer", transformer(), None), resolve(["cadence"]), path)


def in_process(*arguments: str) -> str:
    """What this script prints in a process of its own."""
    command = [sys.executable, str(HERE / "bench_tui.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def report(title: str, path: Path) -> None:
    """Measure a trace and print its figures."""
    from qdqviz.trace.reader import Trace

    trace = Trace(path)
    first = trace.first(0)
    nodes = sum(len(first.body(name)) for name in first.paths())
    print(f"{title}: {nodes:,} nodes, {trace.steps:,} rewrites")
    trace.close()
    found = json.loads(in_process("--keys", str(path)).splitlines()[-1])
    for name, (half, most, own, kept) in found["walks"].items():
        print(f"  {name}: p50 {half:.0f} ms, p95 {most:.0f} ms; drawing thread p95 {own:.0f} ms")
        print(f"    {kept:.0%} of the boxes that a picture shares with the one before stay in their cell")
    print(f"  peak memory {found['peak']:.0f} MB")
    ours, empty = first_frames(path)
    print(f"  process start to first frame {ours:.2f} s; an empty Textual app {empty:.2f} s")


def main() -> None:
    """Measure one trace, or make two and measure them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--keys", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.keys is not None:
        measure_keys(given.keys)
    elif given.record is not None:
        record_transformer(given.record)
    elif given.trace is not None:
        report(given.trace.name, given.trace)
    else:
        import fakes

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            in_process("--record", str(folder / "transformer.qdqtrace"))
            report("transformer", folder / "transformer.qdqtrace")
            report("generated", fakes.write_large_trace(folder / "large.qdqtrace", 20_000, 5_000))


if __name__ == "__main__":
    main()
