"""Write the picture to a file."""

from __future__ import annotations

from pathlib import Path

from qdqviz.errors import UsageError
from qdqviz.tui.screens.dialog import Question


class ExportScreen(Question[Path]):
    """Asks for a file name; one that exists must be confirmed."""

    ask = "write the picture to"
    hint = ".svg, .png, .dot or .txt · enter writes · esc closes"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self._confirmed = ""

    def accept(self, text: str) -> None:
        """A file name with an ending that names a format."""
        from qdqviz.draw.files import format_of

        path = Path(text).expanduser()
        try:
            format_of(path)
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
