"""Is this file a trace that this version can read? Decided from its first hundred bytes."""

from __future__ import annotations

from pathlib import Path

from qdqviz.errors import TraceFileError
from qdqviz.trace.schema import APPLICATION_ID, VERSION

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
"""Bytes of a SQLite database header (https://www.sqlite.org/fileformat2.html, section 1.3)."""


def check_file(path: Path) -> None:
    """Refuse what is no readable trace.

    Raises:
        TraceFileError: With one line that says what the file is instead.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER)
    except FileNotFoundError:
        raise TraceFileError(
            f"no such file: {path}; record one with `qdqviz run TARGET -p PASSES -o {path}`"
        ) from None
    except OSError as error:
        raise TraceFileError(f"cannot read {path}: {error.strerror}") from error
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        kind = "is empty" if not head else "is no qdqviz trace"
        raise TraceFileError(f"{path} {kind}; record one with `qdqviz run TARGET -p PASSES -o FILE`")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise TraceFileError(f"{path} is a database of another program, no qdqviz trace")
    version = int.from_bytes(head[60:64], "big")
    if version > VERSION:
        raise TraceFileError(
            f"{path} was written by a newer qdqviz (format {version}); upgrade qdqviz to open it"
        )
    if version < VERSION:
        raise TraceFileError(f"{path} was written by an older qdqviz (format {version}); record it again")
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    wal = Path(f"{path}-wal")
    if size < page * pages and not wal.exists():
        raise TraceFileError(f"{path} is truncated: {size} of {page * pages} bytes; copy or record it again")
