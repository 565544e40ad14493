"""An answer in plain text: the verdict in a sentence, the chain line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qdqviz.explain.answer import Guard, NearMiss, NodeLink, Seen, Why
from qdqviz.explain.naming import counted, enumerated
from qdqviz.explain.seen_text import op_text

MOST_MISSES = 12
"""How many groups of near misses are told."""

_MOST_JOINED = 3
"""How many tests one sentence names."""

_MOST_ASKED = 6
"""How many tests are told of a node with which nothing was done; the last ones."""

_SHORT_TEST = 60
"""Characters of a test that can be named beside others."""

_SHORT_VALUE = 60
"""Characters of a value that fits into a sentence."""

_SIZE = re.compile(r"\w+ of \d+")
"""A container of which only the size was kept: it says nothing in a sentence."""

_SEARCHED_TARGETS = 4
"""How many targets are named in a sentence."""


def lines_of(answer: Why) -> tuple[str, ...]:
    """An answer, line by line: what happened first, then where and why."""
    return tuple(_lines(answer))


def _lines(answer: Why) -> Iterator[str]:
    yield headline(answer)
    yield from _wanted(answer)
    yield from chain_lines(answer.chain)
    if answer.idle and not answer.chain:
        for guard in answer.passed[-_MOST_ASKED:]:
            yield from chain_lines([guard])
    if answer.error is not None and answer.verdict == "raised":
        yield f"  {answer.error.type}: {answer.error.message}".rstrip(": ")
        yield f"  raised at {_short(answer.error.file)}:{answer.error.line}  {answer.error.text}"
    if answer.further is not None and answer.further.through is not None:
        before, after = further_text(answer.further)
        yield f"  {before}{answer.further.through.name}{after}"
    yield from (f"  {remark}" for remark in answer.remarks)
    if len(answer.attempts) > 1:
        yield f"  looked at {len(answer.attempts)} times; this is the time it got furthest"
    if answer.near_misses:
        yield from _misses(answer.near_misses)


def further_text(further: Why) -> tuple[str, str]:
    """What is said of an attempt on another node that got further: before that node's name and after it."""
    return "it got further as an operand of ", f", which was left alone{_because(further.guard)}"


def headline(answer: Why) -> str:
    """The verdict as one sentence."""
    who = answer.pass_ if answer.inside is None else f"{answer.inside}, run by {answer.pass_},"
    what = answer.node.name if answer.node is not None else answer.graph
    said = _verdict(answer, who, what)
    return said if not answer.note else f"{said.removesuffix('.')}; {answer.note}."


def _verdict(answer: Why, who: str, what: str) -> str:
    match answer.verdict:
        case "fired":
            return _fired(answer, who, what)
        case "raised":
            error = answer.error.type if answer.error is not None else "an exception"
            return f"{who} raised {error} on {what}{_when(answer)}."
        case "declined" if answer.node is None and answer.idle:
            left = f", then left early{_because(answer.guard)}" if answer.chain else ""
            return f"{who} rewrote nothing: it looked at {counted(answer.idle, 'node')} of {what}{left}."
        case "declined" if answer.node is None:
            total = sum(miss.count for miss in answer.near_misses)
            return f"{who} rewrote nothing: it turned down {counted(total, 'node')} of {what}."
        case "declined":
            return f"{who} looked at {what} and left it alone{_because_of(answer.chain)}."
        case "considered":
            return _considered(answer, who, what)
    if answer.node is None:
        what = f"any node of {what}"
    return f"{who} {_never(answer, what)}."


def _when(answer: Why) -> str:
    """The node that a pass was looking at."""
    return f", when it looked at {answer.through.name}" if answer.through is not None else ""


def _fired(answer: Why, who: str, what: str) -> str:
    if not answer.rewrites:
        return f"{who} fired on {what}."
    steps = (
        f"step {answer.rewrites[0]}" if len(answer.rewrites) == 1 else f"steps {_numbers(answer.rewrites)}"
    )
    if answer.node is None:
        return f"{who} made {counted(len(answer.rewrites), 'rewrite')} in {what}: {steps}."
    if answer.through is not None:
        return f"{who} took {what} away when it looked at {answer.through.name}: {steps}."
    return f"{who} fired on {what}: {steps}."


def _considered(answer: Why, who: str, what: str) -> str:
    other = answer.through.name if answer.through is not None else "another node"
    said = f"{who} never looked at {what} itself, it saw it while looking at {other}"
    if answer.rewrites:
        return f"{said}, which it rewrote in step {answer.rewrites[0]}."
    return f"{said}, which it left alone{_because(answer.guard)}."


def _never(answer: Why, what: str) -> str:
    guard = answer.guard
    match answer.reason:
        case "looked_for_other":
            if not answer.wanted:
                return f"never looked at {what}"
            return f"never looked at {what}: it looks for {_targets(answer.wanted)}"
        case "filtered" if answer.node is None:
            return f"never looked at {what}: all were filtered out{_because(guard)}"
        case "filtered":
            return f"never looked at {what}: it was filtered out{_because(guard)}"
        case "left_early":
            return f"never looked at {what}: it left early{_because(guard)}"
        case "loop_ended":
            other = answer.through.name if answer.through is not None else "another node"
            did = f", rewritten in step {answer.rewrites[0]}" if answer.rewrites else _because(guard)
            return f"never came to {what}: its loop ended at {other}{did}"
        case "not_yet_created":
            return f"never looked at {what}: step {answer.step} made it"
        case "pass_raised" if answer.error is not None:
            return f"never came to {what}: it raised {answer.error.type} before"
        case "other_graph":
            return f"never looked at {what}: the node is in another graph"
    return f"never looked at {what}" if answer.note else f"never looked at {what}; why is not known"


def _because_of(chain: tuple[Guard, ...]) -> str:
    """The deepest test; in front of it what the predicate that the pass itself asks says of itself."""
    told = _because(chain[-1] if chain else None)
    said = (chain[0].reason or _message(chain[0])) if len(chain) > 1 else None
    return f": “{said}”; {told.removeprefix(': ')}" if said else told


def _message(guard: Guard) -> str | None:
    """What the exception said that a handler caught."""
    if not guard.text.startswith("except"):
        return None
    return next((seen.value.strip("'\"") for seen in guard.values if seen.text == "message"), None)


def _because(guard: Guard | None) -> str:
    if guard is None:
        return ""
    tests = list(dict.fromkeys((*(each.text for each in guard.siblings), guard.text)))
    same = {each.outcome for each in guard.siblings} <= {guard.outcome} and guard.outcome is not None
    if same and 1 < len(tests) <= _MOST_JOINED and all(len(text) <= _SHORT_TEST for text in tests):
        said = f"{enumerated([f'`{text}`' for text in tests], _MOST_JOINED)} are {_truth(guard)}"
    else:
        said = test_text(guard)
    about = f" at {enumerated([node.name for node in guard.about])}" if guard.about else ""
    return f": {said}{about}{_with_values(guard)}"


def _with_values(guard: Guard) -> str:
    """What makes a test understood at once: the predicate's own words, else a value or two."""
    if guard.reason:
        return f" ({guard.reason.rstrip('.')})"
    telling = (seen for seen in guard.values if not (_says_it(guard, seen) or _SIZE.fullmatch(seen.value)))
    shown = [seen_line(seen) for seen in telling]
    short = [line for line in shown if len(line) <= _SHORT_VALUE][:2]
    return f" ({', '.join(short)})" if short else ""


def _truth(guard: Guard) -> str:
    return "true" if guard.outcome else "false"


def _wanted(answer: Why) -> Iterator[str]:
    """What the graph has instead of what the pass asks for."""
    if not answer.wanted:
        return
    if answer.verdict == "declined":
        yield f"  it looks for {_targets(answer.wanted)}; this graph has none"
    elif answer.looked_for and not any(each.found for each in answer.looked_for):
        yield "  this graph has none"
    if answer.nearest:
        yield f"  nearest: {', '.join(node.name for node in answer.nearest)}"
    if answer.kinship:
        yield f"  {answer.kinship}"


# -- guards ----------------------------------------------------------------------------------------


def chain_lines(chain: Iterable[Guard]) -> Iterator[str]:
    """The chain, one test a line, each deeper one indented, what it saw below."""
    for depth, guard in enumerate(chain):
        indent = "  " * (depth + 1)
        for each in (*guard.siblings, guard):
            yield f"{indent}{each.place}:{each.column}  {test_text(each)}  in {function_text(each)}"
            yield from (f"{indent}    {seen_line(seen)}" for seen in each.values if not _says_it(each, seen))
            if each.bound:
                yield f"{indent}    from {each.bound}"
            if each.reason and (each is guard or each.reason != guard.reason):
                yield f"{indent}    “{each.reason}”"


def test_text(guard: Guard, most: int | None = None) -> str:
    """A test with how it came out: `len(node.users) != 1 is true`; its source cut to `most` characters."""
    text = guard.text if most is None or len(guard.text) <= most else f"{guard.text[: most - 1]}…"
    if guard.outcome is None and guard.kind == "match":
        return _match_text(guard, text)
    if guard.outcome is None:
        return f"nothing in {text}" if guard.kind in ("for", "comprehension") else text
    return f"`{text}` is {_truth(guard)}"


def _match_text(guard: Guard, text: str) -> str:
    """What a `match` did with its subject."""
    if guard.case in ("", "_"):
        return f"no case of `match {text}` fits{' but `case _`' if guard.case else ''}"
    return f"`match {text}` takes `case {guard.case}`"


def function_text(guard: Guard) -> str:
    """The function that holds a test: `Matcher.match.backtracking` for one inside of another."""
    return guard.function.replace(".<locals>", "")


def seen_line(seen: Seen) -> str:
    """`len(node.users) = 2`."""
    return f"{seen.text} = {seen.value}"


def _says_it(guard: Guard, seen: Seen) -> bool:
    """Whether a value only repeats how a test came out."""
    return seen.text == guard.text and seen.value in ("True", "False")


# -- near misses -----------------------------------------------------------------------------------


def _misses(misses: tuple[NearMiss, ...]) -> Iterator[str]:
    what = "filtered out" if misses[0].filtered else "near misses"
    yield f"  {what}, those that got furthest first:"
    for miss in misses[:MOST_MISSES]:
        yield f"  {miss_text(miss)}"
    if len(misses) > MOST_MISSES:
        yield f"  … and {counted(len(misses) - MOST_MISSES, 'guard')} more"


def miss_text(miss: NearMiss) -> str:
    """`31 x input is not data movement: addmm 12, bmm 9`."""
    ops = ", ".join(f"{op} {count}" for op, count in miss.ops[:4])
    more = f", … ({len(miss.ops)} ops)" if len(miss.ops) > 4 else ""
    said = (miss.reason or "").rstrip(".") or test_text(miss.guard, _SHORT_TEST)
    return f"{miss.count:>4} × {said}: {ops}{more}  {miss.guard.place}"


def _targets(targets: tuple[str, ...]) -> str:
    names = [op_text(target) for target in targets]
    return enumerated(names, _SEARCHED_TARGETS)


def _numbers(steps: tuple[int, ...]) -> str:
    return enumerated([str(step) for step in steps], 6)


def _short(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def name_of(link: NodeLink) -> str:
    """A node's name with its graph's path, where that is not the outermost."""
    return f"{link.path}/{link.name}" if link.path else link.name
