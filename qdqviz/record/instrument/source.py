"""Read the source that a code object was compiled from."""

from __future__ import annotations

import io
import linecache
import tokenize
from pathlib import Path
from typing import Any

from qdqviz.errors import QdqvizError


class NoSourceError(QdqvizError):
    """There is no source for a file that code claims to come from."""


def read_source(file: str, module_globals: dict[str, Any] | None = None) -> str:
    """The source text of `file`, as the interpreter names it.

    Files are read afresh; what is no file (a notebook's cell, a module in an archive) comes from `linecache`.

    Args:
        file: `co_filename` of a code object.
        module_globals: Globals of a function from it, whose `__loader__` may know the source.

    Raises:
        NoSourceError: There is none, or it cannot be decoded.
    """
    path = Path(file)
    if path.is_file():
        try:
            data = path.read_bytes()
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return io.IncrementalNewlineDecoder(None, translate=True).decode(data.decode(encoding))
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise NoSourceError(f"{file} cannot be read as Python source ({type(error).__name__})") from error
    if module_globals is not None:
        linecache.lazycache(file, module_globals)
    lines = linecache.getlines(file)
    if not lines:
        raise NoSourceError(f"there is no source for {file}; run the pass from a file")
    return "".join(lines)
