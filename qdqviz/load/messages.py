"""Foreign errors as one line of text."""

from __future__ import annotations

LONGEST = 200
"""Characters of a foreign message that are shown."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """The first line of `text` that says something, cut to `longest`, without control characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = "".join(character if character.isprintable() else " " for character in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def describe_error(error: BaseException) -> str:
    """What kind of error it was and the first line of its message: `ValueError: bad shape`."""
    message = one_line(str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
