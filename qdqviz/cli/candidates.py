"""What could stand for the last word of a command line: for the shells' completion."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from qdqviz.cli.parser import build_parser
from qdqviz.cli.registry import HIDDEN
from qdqviz.cli.traces import names_trace
from qdqviz.errors import QdqvizError

if TYPE_CHECKING:
    from qdqviz.trace.reader import Trace


def candidates(words: Sequence[str]) -> list[str]:
    """Words that may stand for the last of `words`; none where a file's name is wanted.

    Args:
        words: The command line without the program's name; the last one is being typed and may be empty.
    """
    *before, last = words or [""]
    parser, rest = _subparser(build_parser(), before)
    value_of = _option_that_waits(parser, rest)
    if value_of is not None:
        return _of_trace(value_of.dest, rest, last) or _values(value_of.dest, value_of.choices, last)
    if last.startswith("-"):
        return _starting(last, (name for action in parser._actions for name in action.option_strings))
    positional = _positional(parser, rest)
    if positional is None:
        return []
    return _values(positional.dest, positional.choices, last)


def _subparser(parser: ArgumentParser, words: Sequence[str]) -> tuple[ArgumentParser, list[str]]:
    """The parser of the subcommand among `words`, and the words after it."""
    commands = next(action for action in parser._actions if isinstance(action, _SubParsersAction))
    for index, word in enumerate(words):
        if word in commands.choices:
            return commands.choices[word], list(words[index + 1 :])
    return parser, list(words)


def _option_that_waits(parser: ArgumentParser, words: Sequence[str]) -> Action | None:
    """The option that the last complete word names, if it takes a value."""
    for action in parser._actions:
        if words and words[-1] in action.option_strings and action.nargs != 0:
            return action
    return None


def _positional(parser: ArgumentParser, words: Sequence[str]) -> Action | None:
    """The positional argument that comes next."""
    taking = {name for action in parser._actions if action.nargs != 0 for name in action.option_strings}
    given, skip = 0, False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in taking
            continue
        given += 1
    positionals = [action for action in parser._actions if not action.option_strings]
    return positionals[given] if given < len(positionals) else None


def _values(dest: str, choices: Iterable[object] | None, typed: str) -> list[str]:
    if choices is not None:
        return _starting(typed, (str(choice) for choice in choices if str(choice) not in HIDDEN))
    known = _KNOWN.get(dest)
    if known is None:
        return []
    # Of names separated by commas the last one is being typed.
    done, comma, open_name = typed.rpartition(",") if dest == "passes" else ("", "", typed)
    try:
        return [f"{done}{comma}{name}" for name in _starting(open_name, known())]
    except QdqvizError:
        return []


def _of_trace(dest: str, words: Sequence[str], typed: str) -> list[str]:
    """Passes or nodes of the trace that is named on the command line."""
    names = _TRACED.get(dest)
    path = next((word for word in words if names_trace(word)), None)
    if names is None or path is None:
        return []
    from qdqviz.trace.reader import Trace

    try:
        trace = Trace(path)
    except QdqvizError:
        return []
    try:
        return _starting(typed, names(trace))
    except QdqvizError:
        return []
    finally:
        trace.close()


def _pass_labels(trace: Trace) -> list[str]:
    return [run.label for run in trace.runs if run.kind == "pass"]


def _node_names(trace: Trace) -> list[str]:
    """Names of nodes before and after all passes."""
    states = [at(subject.id) for subject in trace.subjects for at in (trace.first, trace.final)]
    return [node.name for state in states for path in state.paths() for node in state.body(path)]


def _starting(typed: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(typed)})


def _samples() -> list[str]:
    from qdqviz.load.samples import list_samples

    return [sample.name for sample in list_samples()]


def _passes() -> list[str]:
    from qdqviz.passes.catalogue import Catalogue

    return [entry.name for entry in Catalogue().entries()]


def _themes() -> list[str]:
    from qdqviz.draw.theme import theme_names

    return list(theme_names())


_KNOWN: dict[str, Callable[[], list[str]]] = {
    "target": _samples,
    "sample": _samples,
    "passes": _passes,
    "theme": _themes,
}

_TRACED: dict[str, Callable[[Trace], list[str]]] = {
    "pass_": _pass_labels,
    "walk": _pass_labels,
    "node": _node_names,
}
