"""The subcommands, in the order in which `--help` lists them. To add one: a module, and a line here."""

from __future__ import annotations

import importlib

from qdqviz.cli.command import Command

COMMANDS: dict[str, str] = {
    "demo": "qdqviz.cli.demo:Demo",
    "open": "qdqviz.cli.open:Open",
    "run": "qdqviz.cli.run:Run",
    "record": "qdqviz.cli.record:Record",
    "steps": "qdqviz.cli.steps:Steps",
    "show": "qdqviz.cli.show:Show",
    "nodes": "qdqviz.cli.nodes:Nodes",
    "why": "qdqviz.cli.why:WhyCommand",
    "draw": "qdqviz.cli.draw:Draw",
    "live": "qdqviz.cli.live:Live",
    "check": "qdqviz.cli.check:Check",
    "bisect": "qdqviz.cli.bisect:Bisect",
    "lint": "qdqviz.cli.lint:Lint",
    "whatif": "qdqviz.cli.whatif:Whatif",
    "diff": "qdqviz.cli.diff:DiffCommand",
    "golden": "qdqviz.cli.golden:Golden",
    "export": "qdqviz.cli.export:Export",
    "samples": "qdqviz.cli.samples:Samples",
    "passes": "qdqviz.cli.passes:Passes",
    "doctor": "qdqviz.cli.doctor:Doctor",
    "completion": "qdqviz.cli.completion:Completion",
}
"""Name -> `module:Class`; the class is imported when it is asked for."""

HIDDEN: dict[str, str] = {"complete-words": "qdqviz.cli.completion:CompleteWords"}
"""Subcommands that shells call and people do not see."""


def load_command(name: str) -> Command:
    """An instance of the class behind a subcommand's name.

    Raises:
        KeyError: If there is no such subcommand.
    """
    module, _, attribute = (COMMANDS | HIDDEN)[name].partition(":")
    made = getattr(importlib.import_module(module), attribute)()
    if not isinstance(made, Command):
        raise TypeError(f"{module}:{attribute} is no Command")
    return made
