"""Live-range lanes for commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.cli.output import Output

if TYPE_CHECKING:
    from qdqviz.ir.liveness import LiveDifference


def lanes_text(found: LiveDifference, theme: str | None, output: Output) -> str:
    """The lanes before and after, with the colours that standard output can show."""
    raise NotImplementedError
