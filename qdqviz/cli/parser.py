"""The argument parser: global options before and after the subcommand, errors as one line."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, NoReturn

from qdqviz import __version__
from qdqviz.cli.registry import COMMANDS, HIDDEN, load_command
from qdqviz.errors import UsageError

DESCRIPTION = """\
A time-travel debugger for graph passes: it watches any PyTorch FX or ExecuTorch pass while it
runs, splits what the pass did into single rewrites, and lets you walk through them.

  qdqviz demo                                           look around
  qdqviz run encoder -p cadence-reorder -o t.qdqtrace   record a sample
  qdqviz open t.qdqtrace                                walk through what was recorded
"""

EPILOG = """\
exit codes: 0 done, 1 failed or a demanded condition does not hold, 2 usage.
`qdqviz COMMAND --help` says more about a command.
"""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of leaving the process."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            UsageError: Always, with one line.
        """
        raise UsageError(f"{' '.join(message.split())}{self._meant(message)}; see `{self.prog} --help`")

    def _meant(self, message: str) -> str:
        """The option that was meant where one is not known; empty where there is none like it."""
        unknown = re.match(r"unrecognized arguments: (?:.* )?(--[\w-]+)", message)
        if unknown is None:
            return ""
        parsers: list[argparse.ArgumentParser] = [self]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
        options = sorted({option for parser in parsers for option in parser._option_string_actions})
        close = difflib.get_close_matches(unknown[1], options, n=1, cutoff=0.7)
        return f" (did you mean {close[0]}?)" if close else ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse's, but an optional positional may also come after options (`live x -p PASSES 3`)."""
        return super().parse_known_args(None if args is None else self._options_first(list(args)), namespace)

    def _options_first(self, words: list[str]) -> list[str]:
        """The words with options and their values moved to the front.

        argparse gives an optional positional up as soon as an option follows the ones before it.
        """
        if any(each.nargs in (argparse.PARSER, argparse.REMAINDER) for each in self._actions):
            return words
        options: list[str] = []
        positionals: list[str] = []
        rest = iter(words)
        for word in rest:
            action = self._option_string_actions.get(word)
            if word == "--":
                return [*options, *positionals, word, *rest]
            if word == "-" or not word.startswith("-") or word[1:].isdigit():
                positionals.append(word)
                continue
            options.append(word)
            if action is not None and action.nargs is None:
                options.extend(islice(rest, 1))
        return [*options, *positionals]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of an argument's choices, naming the closest; argparse lists them all."""
        if action.choices is None or value in action.choices:
            return
        what = "command" if action.dest == "command" else argparse._get_action_name(action)
        raise argparse.ArgumentError(None, f"{value!r} is no {what}: {_hint(str(value), action.choices)}")


def build_parser() -> Parser:
    """The parser of the whole command line; the command's instance ends up in `options.handler`."""
    parser = Parser(prog="qdqviz", description=DESCRIPTION, epilog=EPILOG)
    _add_global_options(parser, default=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser, title="commands")
    for name in (*COMMANDS, *HIDDEN):
        handler = load_command(name)
        # A command without `help` is not listed.
        listed: dict[str, Any] = {"help": handler.summary()} if name in COMMANDS else {}
        child = commands.add_parser(name, description=handler.help(), **listed)
        handler.configure(child)
        # Suppressed defaults: what was given before the subcommand must not be set back.
        _add_global_options(child, default=argparse.SUPPRESS)
        child.set_defaults(handler=handler)
    return parser


def _add_global_options(parser: argparse.ArgumentParser, default: Any) -> None:
    group = parser.add_argument_group("global options")
    group.add_argument("--quiet", action="store_true", default=default, help="no progress, notes or warnings")
    group.add_argument("--debug", action="store_true", default=default, help="show tracebacks of errors")
    theme_default = default if default is argparse.SUPPRESS else None
    group.add_argument(
        "--theme", metavar="NAME|FILE", default=theme_default, help="colours: a theme's name, or a .toml file"
    )
    group.add_argument("--version", action="version", version=f"qdqviz {__version__}")


def _hint(value: str, choices: Iterable[Any]) -> str:
    names = [str(choice) for choice in choices if str(choice) not in HIDDEN]
    close = difflib.get_close_matches(value, names, n=2, cutoff=0.5) if len(names) > 5 else []
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"
