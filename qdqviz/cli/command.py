"""What a subcommand is: a class whose docstring is its help."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace

from qdqviz.cli.output import Output


class Command(ABC):
    """Base of all subcommands; a subclass's docstring is what `--help` shows.

    Modules of commands import what is heavy (torch, textual, rich, a trace's reader) inside `run` only:
    `qdqviz --help` imports all of them.
    """

    @classmethod
    def help(cls) -> str:
        """The docstring, without its indentation."""
        return inspect.getdoc(cls) or ""

    @classmethod
    def summary(cls) -> str:
        """First line of the docstring, for the list of commands."""
        return cls.help().partition("\n")[0]

    @abstractmethod
    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's arguments; the global options are there already."""

    @abstractmethod
    def run(self, options: Namespace, output: Output) -> int:
        """Do the work and return the exit code: 0 done, 1 failed or a demanded condition does not hold.

        Raises:
            QdqvizError: What went wrong in one line; the command line prints it and takes its exit code.
        """
