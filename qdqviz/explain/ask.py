"""What a question names: a pass run, and a node that it could have looked at."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from qdqviz.errors import UsageError
from qdqviz.explain.answer import NodeLink
from qdqviz.ir.change import Insert
from qdqviz.ir.graph import GraphState
from qdqviz.ir.labels import short_name
from qdqviz.trace.model import PassRun
from qdqviz.trace.reader import Trace

_NUMBERED = re.compile(r"(?P<name>.+)#(?P<number>\d+)")
_AT_STEP = re.compile(r"(?P<name>.+)@(?P<step>\d+)")

MOST_CHOICES = 8
"""How many choices an error lists."""

MOST_NAMES = 6
"""How many names of nodes it lists where none is like the one asked for."""


def find_runs(trace: Trace, name: str | int | type) -> list[PassRun]:
    """The pass runs that a name stands for: several where a pass ran several times.

    Args:
        trace: The trace.
        name: `PASS`, `PASS#2`, `PROGRAM:PASS`, a pass run's number, or the pass class itself.

    Raises:
        UsageError: If no pass run goes by that name.
    """
    if isinstance(name, int):
        found = [run for run in trace.runs if run.id == name]
        if not found:
            raise UsageError(f"no pass run {name} in {trace.path.name}: it has {len(trace.runs)}")
        return found
    wanted = name if isinstance(name, str) else name.__name__
    subject, _, plain = wanted.rpartition(":")
    runs = [run for run in trace.runs if run.kind == "pass"]
    named = [run for run in runs if _matches(run, plain)]
    if subject:
        named = [run for run in named if subject in (trace.subjects[run.subject].name, _module(run))]
    if not named:
        raise UsageError(_unknown_pass(trace, wanted, runs))
    return named


def _matches(run: PassRun, name: str) -> bool:
    found = _NUMBERED.fullmatch(name)
    if found is None:
        return run.name == name
    return run.name == found["name"] and run.ordinal == int(found["number"])


def _module(run: PassRun) -> str:
    return run.source.partition(":")[0]


def _unknown_pass(trace: Trace, name: str, runs: Sequence[PassRun]) -> str:
    if not runs:
        return f"no pass ran in {trace.path.name}"
    labels = list(dict.fromkeys(run.label for run in runs))
    close = _closest(name.partition("#")[0], [run.name for run in runs])
    same = [run.label for run in runs if run.name == name.partition("#")[0]]
    if same:
        return f"no {name} in {trace.path.name}: there is {_listed(dict.fromkeys(same))}"
    hint = f"did you mean {_listed(close, 'or')}?" if close else f"there ran {_listed(labels)}"
    return f"no pass {name} in {trace.path.name}; {hint}"


def single_run(trace: Trace, runs: Sequence[PassRun]) -> PassRun:
    """The only one of some pass runs.

    Raises:
        UsageError: If there are several, with their names.
    """
    if len(runs) == 1:
        return runs[0]
    several = len({run.subject for run in runs}) > 1
    choices = [run_name(trace, run, several) for run in runs]
    raise UsageError(f"{runs[0].name} ran {len(runs)} times: say {_listed(choices, 'or')}")


def run_name(trace: Trace, run: PassRun, with_subject: bool) -> str:
    """A name that stands for one pass run: `PASS#1`, or `PROGRAM:PASS#1`."""
    label = f"{run.name}#{run.ordinal}"
    return f"{trace.subjects[run.subject].name}:{label}" if with_subject else label


def find_node(trace: Trace, run: PassRun, name: str | int) -> NodeLink:
    """The node that a name stands for, as seen from a pass run.

    Args:
        trace: The trace.
        run: The pass run that is asked about.
        name: The node's name before that pass, `NAME@STEP` for its name after a step, `PATH/NAME` for one
            in a sub-graph, or its identity. The short name that pictures and sentences use will do where no
            node has it for its own.

    Raises:
        UsageError: If no node goes by that name, with the closest ones; or several do, with the choices.
    """
    if isinstance(name, int):
        return _by_identity(trace, run, name)
    states = states_of(trace, run)
    seen = [link for link in _looked_at(trace, run) if _goes_by(link, name) and _held(trace, run, link.id)]
    groups = [seen, *(list(_links(state)) for state in states)]
    found = next((named for group in groups if (named := _named(group, name))), {})
    if found:
        # A plain name also stands for nodes of other graphs, which the pass may never have looked at.
        found = {**_named(groups[1], name), **found}
    elif stepped := _AT_STEP.fullmatch(name):
        return _at_step(trace, run, stepped["name"], int(stepped["step"]))
    called = list(found.values()) or _shortly(trace, run, groups[1:], name)
    return _single(called, name, states[0], f"before {run.label}", _names_that_go(trace, run, states[0]))


def _names_that_go(trace: Trace, run: PassRun, before: GraphState) -> str:
    """Some names that can be asked about: those of nodes that the pass looked at come before all others."""
    seen = {link.id: link for link in _looked_at(trace, run) if _held(trace, run, link.id)}
    return _some(seen.values(), "it looked at") or _some(_links(before), "the program has")


def _some(links: Iterable[NodeLink], verb: str) -> str:
    names = list(dict.fromkeys(f"{link.path}/{link.name}" if link.path else link.name for link in links))
    return f"{verb} {_listed(names, most=MOST_NAMES)}" if names else ""


def _shortly(trace: Trace, run: PassRun, states: Iterable[list[NodeLink]], name: str) -> list[NodeLink]:
    """The nodes that a short name stands for: those that the pass looked at come before all others."""
    seen = [link for link in _short(_looked_at(trace, run), name) if _held(trace, run, link.id)]
    return seen or next((short for links in states if (short := _short(links, name))), [])


def _looked_at(trace: Trace, run: PassRun) -> Iterable[NodeLink]:
    """The nodes that a pass run looked at, under the names that they had then."""
    return (NodeLink(a.focus, a.name, a.path) for a in trace.attempts(run.id) if a.focus is not None)


def _held(trace: Trace, run: PassRun, node: int) -> bool:
    """Whether the program held a node at some time in a pass run; a pattern's own nodes it never does."""
    if any(node in state.body(path) for state in states_of(trace, run) for path in state.paths()):
        return True
    steps = range(run.first_step + 1, run.last_step + 1)
    return any(
        isinstance(change, Insert) and change.node.id == node
        for step in steps
        for change in trace.rewrite(step).changes
    )


def states_of(trace: Trace, run: PassRun) -> tuple[GraphState, ...]:
    """A pass run's program right before it: with and without what followed the last step, and at its end."""
    cursor = trace.cursor(run.subject)
    before = cursor.at(run.first_step)
    steps = [step for step in cursor.steps if step <= run.first_step]
    earlier = cursor.after(steps[-1]) if steps else cursor.first()
    return before, earlier, cursor.at(run.last_step)


def _at_step(trace: Trace, run: PassRun, name: str, step: int) -> NodeLink:
    trace.check_step(step)
    state = trace.cursor(run.subject).at(step)
    found = list(_named(_links(state), name).values()) or _short(_links(state), name)
    names = _some(_links(state), "the program has")
    return _single(found, name, state, f"after step {step}", names)


def _by_identity(trace: Trace, run: PassRun, identity: int) -> NodeLink:
    for state in states_of(trace, run):
        for link in _links(state):
            if link.id == identity:
                return link
    for attempt in trace.attempts(run.id):
        if attempt.focus == identity:
            return NodeLink(identity, attempt.name, attempt.path)
    final = trace.final(run.subject)
    found = next((link for link in _links(final) if link.id == identity), None)
    if found is None:
        raise UsageError(f"no node with identity {identity} in the program that {run.label} ran on")
    return found


def _links(state: GraphState) -> Iterable[NodeLink]:
    for path in state.paths():
        for node in state.body(path):
            yield NodeLink(node.id, node.name, path)


def _goes_by(link: NodeLink, name: str) -> bool:
    """`PATH/NAME`; a plain name goes for any graph, `/NAME` for the outermost."""
    return name in (link.name, f"{link.path}/{link.name}")


def _named(links: Iterable[NodeLink], name: str) -> dict[str, NodeLink]:
    """The first node of each graph that goes by a name."""
    found: dict[str, NodeLink] = {}
    for link in links:
        if _goes_by(link, name):
            found.setdefault(link.path, link)
    return found


def _short(links: Iterable[NodeLink], name: str) -> list[NodeLink]:
    """The nodes, each once, whose short name is `name` or `PATH/NAME`."""
    found = {link.id: link for link in links if _goes_by(replace(link, name=short_name(link.name)), name)}
    return list(found.values())


def _single(found: list[NodeLink], name: str, state: GraphState, when: str, names: str) -> NodeLink:
    """The only node found; else an error with the choices, the closest names, or some names that would do."""
    if len(found) == 1:
        return found[0]
    if found:
        choices = [f"{link.path}/{link.name}" for link in found]
        raise UsageError(f"several nodes are named {name}: say {_listed(choices, 'or')}")
    close = _closest(name.rpartition("/")[2], [link.name for link in _links(state)])
    hint = f"did you mean {_listed(close, 'or')}?" if close else names
    raise UsageError(f"no node {name} {when}; {hint}".removesuffix("; "))


def _closest(name: str, names: Iterable[str]) -> list[str]:
    known = list(dict.fromkeys(names))
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    within = [each for each in known if len(name) >= 3 and name in each]
    return list(dict.fromkeys([*within[:3], *close]))[:4]


def _listed(names: Iterable[str], word: str = "and", most: int = MOST_CHOICES) -> str:
    shown = list(names)
    if len(shown) > most:
        return f"{', '.join(shown[:most])}, … ({len(shown)} in all)"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"
