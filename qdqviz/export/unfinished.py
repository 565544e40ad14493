"""Files that appear under their name only when they are complete and found right."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qdqviz.errors import ExportFailedError


class Unfinished:
    """A file under a temporary name in the folder of `path`: `keep` gives it its name, else it is removed.

    Raises (as a context manager):
        ExportFailedError: the file cannot be written.
    """

    def __init__(self, path: Path, write: Callable[[Path], Any]) -> None:
        """Write the file by `write`, which receives the temporary path, when the block is entered."""
        self.path = path
        self.file = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
        self._write = write

    def __enter__(self) -> Unfinished:
        try:
            self._write(self.file)
        except BaseException as error:
            self.file.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _cannot_write(self.path, error) from error
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.file.unlink(missing_ok=True)

    def keep(self) -> None:
        """Give the file its name.

        Raises:
            ExportFailedError: there is something else of that name, a folder for instance.
        """
        try:
            os.replace(self.file, self.path)
        except OSError as error:
            raise _cannot_write(self.path, error) from error


def _cannot_write(path: Path, error: OSError) -> ExportFailedError:
    return ExportFailedError(f"cannot write {path}: {error.strerror or error}")
