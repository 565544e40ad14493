"""The terminal while the app has it: how many colours it shows, and that nobody else writes to it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from qdqviz.draw.ansi import Depth

SWITCH_SECONDS = 0.001
"""How long a busy thread may keep the interpreter from the one that draws; Python's default is 0.005."""


def colour_depth(environ: Mapping[str, str]) -> Depth:
    """How many colours the terminal shows; NO_COLOR (https://no-color.org) means none."""
    from rich.console import Console

    if environ.get("NO_COLOR"):
        return "none"
    system = Console(force_terminal=True, _environ=environ).color_system
    depths: dict[str | None, Depth] = {"standard": "16", "256": "256", "truecolor": "true", "windows": "16"}
    return depths.get(system, "none")


GARBAGE = (5_000, 20, 50)
"""New objects before a collection, and collections before one of the next generation."""


@contextmanager
def answering() -> Iterator[None]:
    """Have keys answered while workers are busy: threads take turns more often, garbage waits longer."""
    seconds, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*GARBAGE)
    try:
        yield
    finally:
        sys.setswitchinterval(seconds)
        gc.set_threshold(*thresholds)


@contextmanager
def shielded(log: Path) -> Iterator[None]:
    """Send what native code writes to the standard streams to a file; the app keeps the terminal.

    Passes and compilers log through C++ straight to file descriptors 1 and 2, across the picture.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    terminal = (os.dup(1), os.dup(2))
    before = (sys.__stdout__, sys.__stderr__)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    own = tuple(os.fdopen(os.dup(each), "w", encoding="utf-8", errors="replace") for each in terminal)
    sys.__stdout__, sys.__stderr__ = own  # type: ignore[misc]
    try:
        yield
    finally:
        sys.__stdout__, sys.__stderr__ = before  # type: ignore[misc]
        for each in own:
            each.close()
        for descriptor, number in zip(terminal, (1, 2), strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
