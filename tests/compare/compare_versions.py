"""Versions of built-in passes that differ in one place, and recordings of both.

A changed version notes in a list `NOTED` what the change does, node by node, while it runs: that is what a
comparison of the recordings is held against.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import qdqviz.passes.builtin
from qdqviz.live.session import Session, run
from qdqviz.load.loaded import Loaded
from qdqviz.passes.resolve import resolve
from qdqviz.passes.wrap import wrap
from qdqviz.trace.compare.model import Comparison, RewritePair
from qdqviz.trace.compare.traces import compare
from qdqviz.trace.reader import Trace

BUILTIN = Path(qdqviz.passes.builtin.__file__).parent
SAMPLES = ("attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only")


NOTING = """NOTED = []


def note(node):
    NOTED.append(node.name)
"""
"""What a changed version notes with."""


@dataclass(frozen=True)
class Version:
    """A changed copy of a built-in pass."""

    module: ModuleType
    cls: type

    @property
    def noted(self) -> list[str]:
        """What the change did since the last call, by the names of the nodes looked at."""
        found = list(self.module.NOTED)
        self.module.NOTED.clear()
        return found


def version(folder: Path, module: str, cls: str, *changes: tuple[str, str]) -> Version:
    """A copy of a built-in pass's file with texts replaced, each of which occurs exactly once."""
    source = (BUILTIN / f"{module}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert source.count(old) == 1, (source.count(old), old)
        source = source.replace(old, new)
    path = folder / f"{module}_changed.py"
    path.write_text(re.sub(r"\nclass ", f"\n{NOTING}\n\nclass ", source, count=1), encoding="utf-8")
    name = f"changed_{module}_{abs(hash(changes))}"
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return Version(loaded, getattr(loaded, cls))


class Recorder:
    """Records passes on samples, each into a trace of its own."""

    def __init__(self, loaded_sample: Callable[[str], Loaded], folder: Path) -> None:
        self._loaded_sample = loaded_sample
        self._folder = folder
        self._count = 0

    def session(self, sample: str | Loaded, passes: Any) -> Session:
        """Run passes (names, classes, or a list of either) on a sample and record them."""
        loaded = self._loaded_sample(sample) if isinstance(sample, str) else sample
        self._count += 1
        found = run(loaded, _resolved(passes), self._folder / f"{self._count}.qdqtrace")
        assert found.error is None, found.error
        return found

    def trace(self, sample: str | Loaded, passes: Any) -> Trace:
        """The trace of the same."""
        return self.session(sample, passes).trace

    def compare(self, sample: str | Loaded, old: Any, new: Any) -> Comparison:
        """Record both, and compare."""
        return compare(self.trace(sample, old), self.trace(sample, new))


def _resolved(passes: Any) -> Sequence[Any]:
    if isinstance(passes, list | tuple):
        return [found for each in passes for found in _resolved(each)]
    return (
        resolve(passes) if isinstance(passes, str) else wrap(passes, f"{passes.__module__}:{passes.__name__}")
    )


def left_focus(found: Comparison, pair: RewritePair) -> str:
    """Name of the node that the left pass looked at."""
    return found.left.headers[pair.left - 1].name


def right_focus(found: Comparison, pair: RewritePair) -> str:
    """Name of the node that the right pass looked at."""
    return found.right.headers[pair.right - 1].name


def focus(found: Comparison, pair: RewritePair) -> str:
    """Name of the node that the pass looked at on either side."""
    return right_focus(found, pair) if pair.left is None else left_focus(found, pair)
