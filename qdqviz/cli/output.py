"""Where a command writes: results to standard output, progress and warnings to standard error."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from qdqviz.errors import QdqvizError
from qdqviz.ir.text import safe_text

STDOUT = "-"
"""The name that `-o` takes for standard output."""


class Output:
    """The two streams of a command.

    A reader that closes the pipe early ends the writing, not the command: its exit code stays true.
    """

    def __init__(
        self, *, quiet: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self._stdout = sys.stdout if stdout is None else stdout
        self._stderr = sys.stderr if stderr is None else stderr
        self._closed = False
        self.quiet = quiet
        """No progress, notes or warnings."""
        for stream in (self._stdout, self._stderr):
            # A terminal that cannot show a character gets a question mark, not a traceback.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")

    # -- results -----------------------------------------------------------------------------------

    def line(self, text: str = "") -> None:
        """Write one line (or several) of the result; what could steer a terminal is shown instead."""
        self._write("\n".join(map(safe_text, text.split("\n"))) + "\n")

    def styled(self, text: str) -> None:
        """Write lines that are safe already and may hold colours."""
        self._write(text + "\n")

    def json(self, data: Any) -> None:
        """Write the result as JSON."""
        self._write(json.dumps(data, indent=2, allow_nan=False) + "\n")

    def binary(self, data: bytes) -> None:
        """Write a file's content to standard output."""
        buffer = getattr(self._stdout, "buffer", None)
        if buffer is None:
            self._write(data.decode(errors="replace"))
            return
        try:
            self._stdout.flush()
            buffer.write(data)
            buffer.flush()
        except BrokenPipeError:
            self._drop()

    def file(self, name: str, data: bytes) -> None:
        """Write `data` to the file `name`; `-` is standard output.

        Raises:
            QdqvizError: If the file cannot be written.
        """
        if name == STDOUT:
            self.binary(data)
            return
        try:
            Path(name).write_bytes(data)
        except OSError as error:
            raise QdqvizError(f"cannot write {name}: {error.strerror}") from error
        self.note(f"wrote {name}")

    def flush(self) -> None:
        """Hand everything to the reader; silent when it is gone."""
        try:
            self._stdout.flush()
        except BrokenPipeError:
            self._drop()

    # -- what is beside the result -----------------------------------------------------------------

    def note(self, text: str) -> None:
        """Say something in passing, unless quiet."""
        if not self.quiet:
            self._say(text)

    def warn(self, text: str) -> None:
        """Warn, unless quiet."""
        if not self.quiet:
            self._say(f"qdqviz: warning: {text}")

    def error(self, text: str) -> None:
        """Say why the command failed, in one line."""
        self._say(f"qdqviz: error: {' '.join(text.split())}")

    @property
    def shows_progress(self) -> bool:
        """True where somebody looks at standard error, and did not ask for quiet."""
        return not self.quiet and self._stderr.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def closed(self) -> bool:
        """True once the reader of the result has gone away: what takes long may end."""
        return self._closed

    @property
    def is_terminal(self) -> bool:
        """Whether the result goes to a terminal."""
        return self._stdout.isatty()

    @property
    def interactive(self) -> bool:
        """True where a full-screen program can run: keys come in and a terminal shows what goes out."""
        return sys.stdin.isatty() and self._stdout.isatty() and os.environ.get("TERM") != "dumb"

    def _write(self, text: str) -> None:
        if self._closed:
            return
        try:
            self._stdout.write(text)
        except BrokenPipeError:
            self._drop()

    def _say(self, text: str) -> None:
        try:
            self._stderr.write(safe_text(text) + "\n")
            self._stderr.flush()
        except BrokenPipeError:
            return

    def _drop(self) -> None:
        """Send the rest to nowhere, also what the interpreter flushes when it ends."""
        self._closed = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stdout.fileno())
        os.close(nowhere)
