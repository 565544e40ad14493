"""Write the picture, or the program, to a file."""

from __future__ import annotations

from pathlib import Path

from qdqviz.errors import UsageError
from qdqviz.tui.model.details.about_check import NO_PROGRAM
from qdqviz.tui.screens.dialog import Question

PROGRAMS = (".pt2", ".pte", ".py")
"""Endings of program files."""


class ExportScreen(Question[Path]):
    """Asks for a file name; one that exists must be confirmed. Its ending says what is written."""

    ask = "write the picture to"
    hint = ".svg, .png, .dot or .txt · enter writes · esc closes"

    def __init__(self, value: str, has_program: bool = False) -> None:
        """Begin with a name.

        Args:
            value: The name.
            has_program: Whether the program can be written as well.
        """
        if has_program:
            self.ask = "write the picture or the program to"
            self.hint = "picture: .svg .png .dot .txt · program as it is here: .pt2 .pte .py · esc closes"
        super().__init__(value)
        self._has_program = has_program
        self._confirmed = ""

    def accept(self, text: str) -> None:
        """A file name with an ending that names a format."""
        from qdqviz.draw.files import format_of

        path = Path(text).expanduser()
        if path.suffix in PROGRAMS and not self._has_program:
            self.say(NO_PROGRAM)
            return
        try:
            _ = None if path.suffix in PROGRAMS else format_of(path)
        except UsageError as error:
            self.say(str(error))
            return
        if path.is_dir() or not path.parent.is_dir():
            self.say(f"{path if path.is_dir() else path.parent} is {'a' if path.is_dir() else 'no'} folder")
        elif path.exists() and self._confirmed != text:
            self._confirmed = text
            self.say(f"{path} exists: enter again replaces it")
        else:
            self.dismiss(path)
