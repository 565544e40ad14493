"""README's commands are the ones that are run and that exist."""

from __future__ import annotations

import re
from pathlib import Path

from qdqviz.cli.registry import COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks() -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_ci_runs_exactly_the_test_command_of_the_readme():
    (command,) = [block.strip() for block in blocks() if block.strip().endswith("-m pytest")]
    assert f"{command} || exit 1" in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_command_in_the_readme_exists():
    named = set(re.findall(r"(?:^\$ |`|bin/|\()qdqviz ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "run", "steps", "open", "record", "export"} <= named <= set(COMMANDS)


def test_every_path_in_the_readme_exists():
    for path in re.findall(r"(?:tests|qdqviz|benchmarks|docs)/[\w/.]*", README):
        assert (ROOT / path).exists(), path
