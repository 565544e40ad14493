"""Interventions against a recording: how a forced decision is to come out, and why one met nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from qdqviz.errors import UsageError
from qdqviz.ir.labels import short_name
from qdqviz.live.interventions import Force, Intervention
from qdqviz.trace.events import Event, Kind
from qdqviz.trace.model import Attempt, PassRun
from qdqviz.trace.reader import Trace

MOST_CHOICES = 6
"""How many decisions or nodes a message lists."""

MOST_TEXT = 40
"""Characters of a decision's source text in a message."""


def settle(force: Force, trace: Trace) -> Force:
    """Say how a forced decision is to come out: the opposite of how it came out last in `trace`.

    Turning every evaluation round would also turn round those that a node has passed, so the outcome is fixed
    where an earlier recording knows it.

    Raises:
        UsageError: The trace has no such pass run, node or decision; the message says what it has.
    """
    if force.outcome is not None:
        return force
    attempts = _attempts_on(force, trace)
    events = [event for each in attempts for event in each.events if _decides(event, force, trace)]
    if not events:
        raise UsageError(_no_such_decision(force, attempts, trace))
    return replace(force, outcome=not events[-1].outcome)


def with_whole_name(intervention: Intervention, trace: Trace) -> Intervention:
    """The intervention on the node that is meant by a short name, as pictures and tables have it.

    As it is where no node, or more than one, of those that the pass run looked at goes by that name.
    """
    runs = [run for run in trace.runs if run.label == intervention.run]
    seen = {each.name for run in runs for each in trace.attempts(run.id) if each.path == intervention.path}
    meant = [name for name in seen if short_name(name) == intervention.node]
    is_clear = len(meant) == 1 and intervention.node not in seen
    return replace(intervention, node=meant[0]) if is_clear else intervention


def missed(intervention: Intervention, trace: Trace) -> str:
    """Why an intervention met nothing in a recording, in one line that says what there is instead."""
    try:
        attempts = _attempts_on(intervention, trace)
    except UsageError as error:
        return str(error)
    if isinstance(intervention, Force):
        return _no_such_decision(intervention, attempts, trace)
    return f"{intervention}: {intervention.run} cannot be kept from it"


def met_nothing(unused: Sequence[tuple[Intervention, str | None]], trace: Trace) -> str:
    """Why the first of some interventions met nothing.

    Args:
        unused: `Session.unused`, not empty: interventions, each with the reason if the recording knows it.
        trace: What was recorded with them.
    """
    first, reason = unused[0]
    return missed(first, trace) if reason is None else f"{first}: {reason}"


def _attempts_on(intervention: Intervention, trace: Trace) -> list[Attempt]:
    """The attempts on the node.

    Raises:
        UsageError: No such pass run, or it did not look at the node.
    """
    run = _run(trace, intervention)
    attempts = trace.attempts(run.id)
    found = [each for each in attempts if (each.path, each.name) == (intervention.path, intervention.node)]
    if not found:
        raise UsageError(_no_such_node(intervention, attempts))
    return found


def _run(trace: Trace, intervention: Intervention) -> PassRun:
    for run in trace.runs:
        if run.label == intervention.run:
            return run
    names = ", ".join(dict.fromkeys(run.label for run in trace.runs if run.kind == "pass"))
    raise UsageError(f"no pass run is named {intervention.run}: there are {names or 'none'}")


def _no_such_node(intervention: Intervention, attempts: Iterable[Attempt]) -> str:
    wanted = _place(intervention.path, intervention.node)
    seen = list(dict.fromkeys(_place(each.path, each.name) for each in attempts if each.name))
    named = {each: each.rpartition("/")[2] for each in seen}
    same = [each for each, name in named.items() if intervention.node in (name, short_name(name))]
    close = same or difflib.get_close_matches(wanted, seen, n=3, cutoff=0.5)
    there = f"did you mean {_listed(close)}?" if close else f"it looked at {_listed(seen) or 'no node'}"
    return f"{intervention.run} did not look at {wanted}: {there}"


def _decides(event: Event, force: Force, trace: Trace) -> bool:
    site = trace.sites.get(event.site)
    return _is_test(event) and site is not None and force.is_at(site)


def _is_test(event: Event) -> bool:
    """Whether it can be forced; what a loop hands out cannot."""
    return event.outcome is not None and event.kind not in (Kind.ITEM, Kind.LOOP)


def _no_such_decision(force: Force, attempts: Sequence[Attempt], trace: Trace) -> str:
    lines: dict[str, None] = {}
    for event in (event for each in attempts for event in each.events if _is_test(event)):
        site = trace.sites.get(event.site)
        if site is not None:
            text = " ".join(site.text.split())
            shown = text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"
            lines[f"{site.line}:{site.column} `{shown}`"] = None
    at = f"{force.file}:{force.line}:{force.column}" if force.file else f"{force.line}:{force.column}"
    there = f"it took some at {_listed(list(lines))}" if lines else "it took none there"
    return f"{force.run} took no decision at {at} on {_place(force.path, force.node)}: {there}"


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > MOST_CHOICES else ""
    return ", ".join(names[:MOST_CHOICES]) + more


def _place(path: str, node: str) -> str:
    return f"{path}/{node}" if path else node
