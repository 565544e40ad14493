"""docs/review.md: its commands are run, and say what the page says they do."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from pathlib import Path

import pytest

from qdqviz.cli.main import run
from qdqviz.cli.registry import load_command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
BUILTIN = ROOT / "qdqviz" / "passes" / "builtin" / "hoist.py"


def blocks(language: str = "") -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind == language]


def commands() -> list[tuple[str, list[str]]]:
    """Every command of the page, in order, with the lines that it says are printed."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks():
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
    return found


def parser() -> ArgumentParser:
    """The parser of `qdqviz diff`."""
    made = ArgumentParser()
    load_command("diff").configure(made)
    return made


def pattern(lines: list[str]) -> str:
    """What output matches lines in which `…` stands for anything; alone in a line for any lines."""
    parts = [".*" if line.strip() == "…" else re.escape(line).replace("…", "[^\n]*") for line in lines]
    return "\n".join(parts)


@pytest.fixture
def versions(tmp_path, monkeypatch):
    """A folder with the two files of the page."""
    old = BUILTIN.read_text(encoding="utf-8")
    (change,) = blocks("diff")
    gone = "".join(f"{line[1:]}\n" for line in change.splitlines())
    assert all(line.startswith("-") for line in change.splitlines())
    assert old.count(gone) == 1
    (tmp_path / "old.py").write_text(old, encoding="utf-8")
    (tmp_path / "new.py").write_text(old.replace(gone, ""), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_the_commands_of_the_page_print_what_it_says(versions, samples_once, capsys):
    walked = 0
    for command, lines in commands():
        program, *words = shlex.split(command)
        assert program == "qdqviz"
        if "--tui" in words:
            parser().parse_args(words[1:])
            walked += 1
            continue
        assert run(["--quiet", *words]) == 0, command
        printed = capsys.readouterr().out.rstrip("\n")
        assert re.fullmatch(pattern(lines), printed, re.DOTALL), f"{command}\n{printed}"
    assert walked == 1
    assert len(commands()) >= 8
    (snippet,) = blocks("python")
    exec(compile(snippet, "docs/review.md", "exec"), {})  # the two versions are the same: nothing is raised


def test_everything_that_the_page_names_is_there():
    for path in re.findall(r"(?:tests|qdqviz|benchmarks)/[\w/.]*\w", PAGE):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\((\w[\w./]*)\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    of_diff = PAGE.replace("".join(blocks("sh")), "")
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", of_diff))
    told = {option for action in parser()._actions for option in action.option_strings}
    assert {"--tui", "--markdown", "--fail-on", "--brief", "--metadata"} <= options <= told
