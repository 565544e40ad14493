"""Go to a step by its number."""

from __future__ import annotations

from qdqviz.tui.screens.dialog import Question


class GotoScreen(Question[int]):
    """Asks for the number of a step."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        """The last step."""
        self.ask = f"go to step (1 to {steps:,})"
        super().__init__()

    def accept(self, text: str) -> None:
        """A number within the trace."""
        digits = text.replace(",", "").lstrip(":#")
        if not digits.isdecimal():
            self.say(f"a step is a number from 1 to {self.steps:,}")
        elif not 1 <= int(digits) <= self.steps:
            self.say(f"there is no step {int(digits):,}: the last one is {self.steps:,}")
        else:
            self.dismiss(int(digits))
