"""What an export wrote, and how far it was compared with the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Format = Literal["pt2", "pte", "py"]
"""What a file holds, by its suffix: a serialized program, a lowered one, readable code."""


@dataclass(frozen=True)
class ExportReport:
    """One file that was written and read back."""

    path: Path
    """The file."""
    format: Format
    """What it holds."""
    size: int
    """Bytes."""
    methods: tuple[str, ...]
    """Methods in it."""
    compared: tuple[str, ...]
    """What was compared with the program and found equal, each a few words: `graph (51 nodes)`."""
    max_difference: float | None
    """Largest absolute difference between the file's outputs and the program's; None if not compared."""
    steps: float | None
    """The largest difference in quantization steps of its output; None where no output is quantized."""
    unchecked: str | None
    """What could not be compared and why; None if everything was."""

    @property
    def summary(self) -> str:
        """One line for a person."""
        parts = [f"wrote {self.path} ({self.size:,} bytes)"]
        if self.compared:
            parts.append(f"read back equal: {', '.join(self.compared)}")
        if self.max_difference is not None:
            steps = "" if self.steps is None else f" ({self.steps:.2g} quantization steps)"
            parts.append(f"largest difference {self.max_difference:.3g}{steps}")
        if self.unchecked:
            parts.append(f"not compared: {self.unchecked}")
        return "; ".join(parts)
