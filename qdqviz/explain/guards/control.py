"""Why a call left where it did: the tests that led it there, and those that kept it from acting."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import (
    Cause,
    alternatives,
    asks,
    deeper,
    event_leaf,
    is_answer,
    led_here,
    missed_case,
    strongest,
)
from qdqviz.explain.guards.code import has_blocks, own_nodes
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.effects import Effect, Goal, effect
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.notes import keeps
from qdqviz.explain.guards.returned import raised_inside, returned
from qdqviz.explain.guards.steps import Exit, Step
from qdqviz.trace.events import Event


def cause_of_exit(call: Call, goal: Goal | None = None) -> Cause | None:
    """Why a call left where it did, or reached its end without having acted."""
    return block_cause(call, call.path.steps, call.path.exit, goal or call.goal)


def block_cause(call: Call, steps: Sequence[Step], left: Exit | None, goal: Goal) -> Cause | None:
    """Why a block was left as it was."""
    if left is None or not steps:
        return strongest(skipped(call, step, goal) for step in steps)
    last, before = steps[-1], steps[:-1]
    inner = _leaving(call, last, goal)
    if inner is not None and not (inner.provisional or isinstance(last.node, ast.Return)):
        return inner
    earlier = strongest(skipped(call, step, goal) for step in before)
    if inner is None or earlier is None:
        return inner or earlier
    if inner.provisional:
        return replace(inner, otherwise=inner.otherwise or earlier)
    # `if a: return True` and `return b` are as good as `return a or b`.
    return replace(inner, leaves=(*alternatives(earlier), *inner.leaves))


# -- the statement that left -----------------------------------------------------------------------


def _leaving(call: Call, step: Step, goal: Goal) -> Cause | None:
    node = step.node
    if isinstance(node, ast.Return):
        return returned(call, step) if goal.wants is None else None
    if isinstance(node, ast.Assert) and step.verdict is not None:
        return Cause(call, step.verdict.blame)
    if isinstance(node, ast.Raise | ast.Continue | ast.Break):
        return None
    if not step.blocks:
        return raised_inside(call, step)
    inner = block_cause(call, _left_block(step), step.exit, goal)
    if inner is None and isinstance(step.node, ast.For | ast.While) and len(step.blocks) > len(step.ends):
        return _never_broken(call, step, goal)
    if inner is not None and not (inner.provisional and inner.otherwise is None and step.arms):
        return inner if isinstance(step.node, ast.For | ast.While) else deeper(inner)
    # Where it had acted before it left, what led there turned nothing down.
    own = None if _acted_first(call, step, goal) else _own(call, step)
    if inner is not None:
        return replace(inner, otherwise=own)
    return own


def _left_block(step: Step) -> list[Step]:
    """The block that a statement was left from; what a `finally` runs after that leaves nothing itself."""
    left = (block for block in reversed(step.blocks) if block and block[-1].exit is step.exit)
    return next(left, step.blocks[-1])


def _acted_first(call: Call, step: Step, goal: Goal) -> bool:
    """Whether the block that was left had collected or edited something before: `x.append(y); continue`.

    A name that it wrote down, a count or a log line is nothing of that kind.
    """
    block = _left_block(step)
    while block and block[-1].blocks:
        block = _left_block(block[-1])
    if not block or not _leaves_silently(block[-1].node):
        return False
    done = (each.node for each in block[:-1] if not has_blocks(each.node))
    return any(keeps(node, goal, call.code, step.caught is not None) for node in done)


def _leaves_silently(node: ast.stmt) -> bool:
    """Whether a statement leaves a block without an answer."""
    return isinstance(node, ast.Continue | ast.Break) or (isinstance(node, ast.Return) and node.value is None)


def _never_broken(call: Call, step: Step, goal: Goal) -> Cause | None:
    """What kept a loop from its `break`, so that its `else` ran."""
    wish = replace(goal, breaks=True)
    rounds = zip(step.blocks, step.ends, strict=False)
    return strongest(block_cause(call, block, left, wish) for block, left in rounds)


def _own(call: Call, step: Step) -> Cause | None:
    """What a statement asked before it ran the block that left."""
    leaves = led_here(call, step)
    return Cause(call, leaves, led=True) if leaves else None


# -- statements that went on -----------------------------------------------------------------------


def skipped(call: Call, step: Step, goal: Goal) -> Cause | None:
    """What a statement that ran to its end kept from happening, and by which tests."""
    found = _skipped(call, step, goal)
    if found is None:
        return None
    items = call.frame.items[step.start : step.end]
    work = sum(item.asked if isinstance(item, Frame) else 1 for item in items)
    return replace(found, work=max(found.work, work))


def _skipped(call: Call, step: Step, goal: Goal) -> Cause | None:
    match step.node:
        case ast.If():
            return _skipped_if(call, step, goal)
        case ast.For() | ast.AsyncFor() | ast.While():
            return _skipped_loop(call, step, goal)
        case ast.Match():
            return _skipped_match(call, step, goal)
        case ast.Try():
            return _skipped_try(call, step, goal)
    if step.blocks:
        return strongest(skipped(call, each, goal) for block in step.blocks for each in block)
    return _called(call, step, goal) if goal.wants is None else None


def _skipped_if(call: Call, step: Step, goal: Goal) -> Cause | None:
    missed = [arm for arm in step.arms if arm.verdict.truth is False and isinstance(arm.node, ast.If)]
    ranked = [(effect(arm.node.body, goal), arm) for arm in missed if isinstance(arm.node, ast.If)]
    rank = max((each for each, _ in ranked), default=Effect.LEAVES)
    # An arm that would have left as well kept nothing from happening.
    leaves = tuple(leaf for each, arm in ranked if each > Effect.LEAVES for leaf in arm.verdict.blame)
    done = max((_done(each, goal) for block in step.blocks for each in block), default=Effect.LEAVES)
    own = Cause(call, leaves, rank) if leaves and rank > done else None
    last = step.arms[-1] if step.arms else None
    if last is not None and last.verdict.truth and isinstance(last.node, ast.If):
        otherwise = effect(last.node.orelse, goal)
        if otherwise > max(rank, done):
            own = Cause(call, last.verdict.blame, otherwise)
    inner = strongest(skipped(call, each, goal) for block in step.blocks for each in block)
    return strongest((own, deeper(inner) if inner is not None else None))


def _done(step: Step, goal: Goal) -> Effect:
    """The strongest effect of what ran in a statement."""
    if not has_blocks(step.node):
        return effect([step.node], goal)
    return max((_done(each, goal) for block in step.blocks for each in block), default=Effect.LEAVES)


def _skipped_loop(call: Call, step: Step, goal: Goal) -> Cause | None:
    node = step.node
    assert isinstance(node, ast.For | ast.AsyncFor | ast.While)
    if goal.wants is not None and effect(node.body, goal) is Effect.LEAVES:
        return None
    if not step.ends:  # an `else` may have run
        return _empty_loop(call, step, goal) or _header(call, step, goal)
    rounds = list(zip(step.blocks, step.ends, strict=False))
    broken = step.ends[-1] if step.ends else None
    if broken is not None and broken.kind == "break":
        rounds = rounds[-1:]
    found = [block_cause(call, block, left, goal) for block, left in rounds]
    best = strongest(found)
    otherwise = effect(node.orelse, goal)
    if otherwise > Effect.LEAVES and broken is not None and best is None:
        return None
    if best is None:
        return _header(call, step, goal)
    rank = min(best.rank, effect(node.body, goal))
    return None if _all_done(step, node.body, rank, goal) else replace(best, rank=rank)


def _all_done(step: Step, body: list[ast.stmt], rank: Effect, goal: Goal) -> bool:
    """Whether everything that a loop's body could do was done in one round or another."""
    if rank < Effect.ACTS:
        return False
    able = {id(each) for each in _simple(body) if effect([each], goal) >= rank}
    return able <= {id(each) for each in _ran(step)}


def _simple(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements without blocks of their own, at any depth."""
    for node in own_nodes(*statements):
        if isinstance(node, ast.stmt) and not has_blocks(node):
            yield node


def _ran(step: Step) -> Iterator[ast.stmt]:
    """The statements that ran in one, at any depth."""
    for block in step.blocks:
        for each in block:
            yield each.node
            yield from _ran(each)


def _header(call: Call, step: Step, goal: Goal) -> Cause | None:
    """What ended a `while` that walks along nodes; that a worklist is empty says nothing."""
    if not isinstance(step.node, ast.While) or step.verdict is None or step.verdict.truth is not False:
        return None
    tests = tuple(leaf for leaf in step.verdict.blame if not isinstance(leaf.expr, ast.Name | ast.Attribute))
    rank = effect(step.node.body, goal)
    return Cause(call, tests, min(rank, Effect.BINDS) if goal.wants is None else rank) if tests else None


def _empty_loop(call: Call, step: Step, goal: Goal) -> Cause | None:
    """A loop without an item: what it runs over is to blame."""
    node = step.node
    rank = effect(node.body, goal) if isinstance(node, ast.For | ast.AsyncFor) else Effect.LEAVES
    if rank is Effect.LEAVES or step.over is None or _count(step.over) != 0:
        return None
    return Cause(call, (event_leaf(call, step.over),), rank)


def _skipped_match(call: Call, step: Step, goal: Goal) -> Cause | None:
    assert isinstance(step.node, ast.Match)
    missed = [(effect(case.body, goal), case) for case in step.node.cases if case.body is not step.taken]
    rank = max((each for each, _ in missed), default=Effect.LEAVES)
    leaves = missed_case(call, step, [case for each, case in missed if each > Effect.LEAVES])
    own = Cause(call, leaves, rank) if leaves and rank > Effect.LEAVES else None
    inner = strongest(skipped(call, each, goal) for block in step.blocks for each in block)
    return strongest((own, deeper(inner) if inner is not None else None))


def _skipped_try(call: Call, step: Step, goal: Goal) -> Cause | None:
    assert isinstance(step.node, ast.Try)
    inner = strongest(skipped(call, each, goal) for block in step.blocks for each in block)
    own = None
    if step.caught is not None:
        rank = effect([*step.node.body, *step.node.orelse], goal)
        own = Cause(call, (event_leaf(call, step.caught),), rank, depth=1)
    return strongest((inner, own))


def _called(call: Call, step: Step, goal: Goal) -> Cause | None:
    """A statement that left everything to another call, which did nothing either."""
    node = step.node
    match node:
        case ast.Expr(value=value):
            rank = Effect.CALLS
        case ast.AugAssign(value=value):
            rank = Effect.CALLS
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            rank = Effect.BINDS
        case _:
            return None
    frames = [frame for frame in call.frames(step.start, step.end) if asks(frame)]
    if not frames or (rank is Effect.BINDS and not is_answer(frames[-1])):
        return None
    return Cause(call, (Leaf(value, None, start=step.start, end=step.end),), rank, provisional=True)


def _count(event: Event) -> int:
    return event.values[0] if event.values and isinstance(event.values[0], int) else -1
