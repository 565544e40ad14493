"""Source text of a module, addressed the way syntax trees address it."""

from __future__ import annotations

import ast
import io

MOST_CHARACTERS = 200
"""Longest text that a site keeps."""


class SourceText:
    """The lines of a source file; columns of syntax trees are bytes of UTF-8, ours are characters."""

    def __init__(self, source: str) -> None:
        # As the tokenizer splits: form feeds and the like end no line.
        self._lines = io.StringIO(source, newline=None).readlines()

    def column(self, line: int, offset: int) -> int:
        """The character column of byte `offset` in `line` (1-based)."""
        text = self._line(line)
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))

    def of(self, node: ast.expr | ast.pattern | ast.stmt | ast.ExceptHandler) -> str:
        """The source of a node on one line, at most 200 characters."""
        if node.end_lineno == node.lineno and node.end_col_offset is not None:
            line = self._line(node.lineno).encode()
            text = line[node.col_offset : node.end_col_offset].decode(errors="replace")
        else:
            text = ast.unparse(node)
        return shorten(text)

    def _line(self, line: int) -> str:
        return self._lines[line - 1] if 0 < line <= len(self._lines) else ""


def shorten(text: str) -> str:
    """The text on one line, cut at 200 characters."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
