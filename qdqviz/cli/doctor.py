"""`qdqviz doctor`: what is installed and what the terminal can do."""

from __future__ import annotations

import platform
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns
from qdqviz.cli.terminal import terminal
from qdqviz.errors import QdqvizError

NEEDED = ("textual", "rich", "graphviz", "graphviz-pure", "rpds-py")
"""Packages that qdqviz does not work without."""

OPTIONAL = ("torch", "executorch", "torchao", "cairosvg")
"""Packages that some commands need."""


class Doctor(Command):
    """Check versions, the layout engine and the terminal."""

    def configure(self, parser: ArgumentParser) -> None:
        """Add `--json`."""
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print what was found; fail if what every command needs is missing."""
        found = examine()
        if options.json:
            output.json(found)
        else:
            print_findings(found, output)
        missing = [name for name in NEEDED if found["packages"][name] is None]
        return 1 if missing or found["engine"]["error"] else 0


def examine() -> dict[str, Any]:
    """What is installed and what works (schemas/doctor.schema.json); nothing of it is imported."""
    return {
        "qdqviz": _version("qdqviz"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "executable": sys.executable,
        "packages": {name: _version(name) for name in (*NEEDED, *OPTIONAL)},
        "engine": _engine(),
        "themes": _themes(),
        "terminal": asdict(terminal()),
    }


def print_findings(found: dict[str, Any], output: Output) -> None:
    """The findings for people."""
    rows = [("qdqviz", found["qdqviz"] or "not installed as a package")]
    rows += [("python", f"{found['python']} ({found['executable']})"), ("platform", found["platform"])]
    for name, installed in found["packages"].items():
        remedy = "not installed" + (": pip install 'qdqviz[executorch]'" if name in OPTIONAL[:3] else "")
        rows.append((name, installed or remedy))
    engine = found["engine"]
    rows.append(("layout engine", engine["error"] or f"{engine['name']} works: {engine['path']}"))
    rows += [(f"theme {name}", problem) for name, problem in found["themes"].items() if problem]
    seen = found["terminal"]
    colours = {"true": "16 million", "256": "256", "16": "16", "none": "none"}[seen["colours"]]
    kind = "a terminal" if seen["is_terminal"] else "no terminal"
    rows += [
        ("standard output", f"{kind} ({seen['name']}), {seen['columns']} x {seen['rows']} cells"),
        ("colours", colours),
        ("box characters", "yes" if seen["unicode"] else "no: set a UTF-8 locale"),
        ("graphics", {"none": "none known"}.get(seen["graphics"], f"likely {seen['graphics']}")),
    ]
    for line in columns(rows):
        output.line(line)


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _engine() -> dict[str, str | None]:
    from qdqviz.draw.engine import LayoutEngine, find_engine

    engine = LayoutEngine()
    found: dict[str, str | None] = {"name": engine.name, "path": None, "error": None}
    try:
        found["path"] = str(find_engine(engine.name))
        engine.layout("digraph { n1 [shape=box, width=1, height=1]; n2 [width=1, height=1]; n1 -> n2 }")
    except QdqvizError as error:
        found["error"] = str(error)
    return found


def _themes() -> dict[str, str | None]:
    from qdqviz.draw.theme import load_themes

    try:
        loaded, failed = load_themes()
    except QdqvizError as error:
        return {"": str(error)}
    return {**dict.fromkeys(loaded), **{name: str(error) for name, error in failed.items()}}
