"""docs/why.md shows what its commands print, and its Python holds."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from qdqviz.cli.main import run

PAGE = (Path(__file__).parents[2] / "docs" / "why.md").read_text()
SESSIONS = [
    block for block in re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "$ " in block
]
SECONDS = re.compile(r" +\d+\.\d\d$", re.MULTILINE)


def commands() -> list[tuple[list[str], str]]:
    """The commands of the page in order, each with what it is said to print."""
    found = []
    for session in SESSIONS:
        for part in session.split("$ qdqviz ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command.split(), printed))
    return found


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[tuple[list[str], str, str]]:
    """What each command of the page printed, beside what the page says."""
    folder, before = tmp_path_factory.mktemp("why"), Path.cwd()
    results = []
    os.chdir(folder)
    try:
        for command, said in commands():
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = run(command)
            assert code == 0, command
            results.append((command, said, out.getvalue()))
        # The Python on the page speaks of the trace that the commands have written.
        (python,) = [
            block
            for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
            if "qdqviz.Trace" in block
        ]
        exec(compile(python, "docs/why.md", "exec"), {})
    finally:
        os.chdir(before)
    return results


def test_every_command_prints_what_the_page_shows(printed):
    assert len(printed) == 6
    for command, said, out in printed:
        assert SECONDS.sub("", out) == SECONDS.sub("", said), command


def test_the_tables_name_every_verdict_and_every_reason():
    from typing import get_args

    from qdqviz.explain.answer import NeverReason, Verdict

    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert rows == [*get_args(Verdict), *get_args(NeverReason)]
