"""Which statements of a call ran: its source walked along the events that it left.

Every branch asked something, so the events say which way it went; what stands between them ran in order.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence

from qdqviz.explain.guards.code import Code, call_name, called_names, own_nodes
from qdqviz.explain.guards.conditions import Cursor, Verdict, evaluate
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.steps import Arm, Exit, Path, Step
from qdqviz.trace.events import Event, Kind, Site

BUILT_IN = frozenset(dir(builtins))
"""Names that call no function of a pass."""


def replay(
    body: Sequence[ast.stmt], frame: Frame, sites: Mapping[int, Site], code: Code, start: int = 0
) -> Path:
    """The statements of `body` that ran in `frame`, from its item `start` on."""
    walker = _Walker(Cursor(frame.items, sites, code, start))
    steps = walker.block(body)
    return Path(steps, steps[-1].exit if steps else None)


class _Walker:
    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._rest: Sequence[ast.stmt] = ()
        self._ways: dict[type[ast.stmt], Callable[[Step], None]] = {
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.Try: self._try,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Match: self._match,
            ast.Assert: self._assert,
            ast.Return: self._leave("return"),
            ast.Continue: self._leave("continue"),
            ast.Break: self._leave("break"),
            ast.Raise: self._leave("raise"),
            ast.FunctionDef: self._nothing,
            ast.AsyncFunctionDef: self._nothing,
            ast.ClassDef: self._nothing,
        }

    def block(self, statements: Sequence[ast.stmt]) -> list[Step]:
        steps: list[Step] = []
        for index, statement in enumerate(statements):
            self._rest = statements[index + 1 :]
            step = Step(statement, self._cursor.at)
            steps.append(step)
            self._ways.get(type(statement), self._simple)(step)
            step.end = self._cursor.at
            if step.exit is None and self._raised(step):
                step.exit = Exit("raise", statement)
            if step.exit is not None:
                break
        return steps

    # -- statements --------------------------------------------------------------------------------

    def _nothing(self, step: Step) -> None:
        """A definition runs nothing that asks."""

    def _simple(self, step: Step) -> None:
        """Take what a statement without blocks asked and called."""
        cursor = self._cursor
        names = called_names(step.node)
        while cursor.at < cursor.stop:
            item = cursor.items[cursor.at]
            if isinstance(item, Frame):
                if item.name not in names and not cursor.within(step.node) and not self._takes(step, item):
                    return
            elif not cursor.code.inside(cursor.site(item), step.node):
                return
            cursor.at += 1

    def _takes(self, step: Step, frame: Frame) -> bool:
        """Whether a call by another name is a statement's: it calls something, and no later one by name."""
        if any(frame.name in called_names(later) for later in self._rest):
            return False
        calls = (node for node in own_nodes(step.node) if isinstance(node, ast.Call))
        return any(call_name(node) not in BUILT_IN for node in calls)

    def _leave(self, kind: str) -> Callable[[Step], None]:
        def leave(step: Step) -> None:
            self._simple(step)
            self._take_rest(step)
            step.exit = Exit(kind, step.node)

        return leave

    def _take_rest(self, step: Step) -> None:
        """A `return` is the last thing that a call does: calls that nothing else claims are its own."""
        cursor = self._cursor
        if isinstance(step.node, ast.Return) and step.node.value is not None:
            while cursor.at < cursor.stop and isinstance(cursor.items[cursor.at], Frame):
                cursor.at += 1

    def _assert(self, step: Step) -> None:
        assert isinstance(step.node, ast.Assert)
        step.verdict = evaluate(step.node.test, self._cursor)
        self._simple(step)
        if step.verdict.truth is False:
            step.exit = Exit("raise", step.node)

    def _if(self, step: Step) -> None:
        node = step.node
        while isinstance(node, ast.If):
            verdict = self._test(node)
            step.arms.append(Arm(node, verdict))
            if verdict.truth is not False:
                step.taken = node.body if verdict.truth else None
                break
            match node.orelse:
                case [ast.If() as arm]:
                    node = arm
                case rest:
                    step.taken = rest or None
                    break
        if step.taken is not None:
            self._inside(step, step.taken)

    def _test(self, node: ast.If) -> Verdict:
        verdict = evaluate(node.test, self._cursor)
        if verdict.truth is not None or not self._cursor.next_event():
            return verdict
        # Its answer was not seen: tell it from what comes next.
        for truth, body in ((True, node.body), (False, node.orelse)):
            if any(self._cursor.within(each) for each in body):
                return Verdict(truth, verdict.blame, verdict.asked)
        return verdict

    def _for(self, step: Step) -> None:
        cursor, node = self._cursor, step.node
        assert isinstance(node, ast.For | ast.AsyncFor)
        while (found := self._upcoming(node.iter)) is not None:
            index, event = found
            if not cursor.code.exactly(cursor.site(event), node.iter):
                break
            if event.kind is Kind.LOOP:
                cursor.at, step.over = index + 1, event
                break
            if event.kind is not Kind.ITEM:
                break
            cursor.at = index + 1
            step.items.append(event)
            if self._iteration(step, node.body):
                break
        else:
            return
        self._loop_over(step, node.iter)
        if step.exit is None and not self._broken(step):
            self._inside(step, node.orelse)

    def _upcoming(self, iterable: ast.expr) -> tuple[int, Event] | None:
        """The next event, past what was asked in the iterable to make it, or to find its next item."""
        cursor = self._cursor
        while (found := cursor.next_event()) is not None:
            site = cursor.site(found[1])
            if cursor.code.exactly(site, iterable) and found[1].kind in (Kind.ITEM, Kind.LOOP):
                return found
            if not cursor.code.inside(site, iterable):
                return found
            cursor.at = found[0] + 1
        return None

    def _while(self, step: Step) -> None:
        node = step.node
        assert isinstance(node, ast.While)
        endless = isinstance(node.test, ast.Constant)
        while True:
            before = self._cursor.at
            verdict = step.verdict = evaluate(node.test, self._cursor)
            if verdict.truth is not True:
                break
            if self._iteration(step, node.body) or (endless and self._cursor.at == before):
                break
        self._loop_over(step, node)
        if step.exit is None and not self._broken(step):
            self._inside(step, node.orelse)

    def _iteration(self, step: Step, body: list[ast.stmt]) -> bool:
        """Run a loop's body once; True if that ended the loop."""
        steps = self.block(body)
        step.blocks.append(steps)
        left = steps[-1].exit if steps else None
        step.ends.append(left)
        if left is not None and left.kind in ("return", "raise"):
            step.exit = left
            return True
        return left is not None and left.kind == "break"

    def _loop_over(self, step: Step, place: ast.AST) -> None:
        found = self._cursor.next_event()
        if found is None or step.over is not None:
            return
        index, event = found
        if event.kind is Kind.LOOP and self._cursor.code.exactly(self._cursor.site(event), place):
            self._cursor.at, step.over = index + 1, event

    def _broken(self, step: Step) -> bool:
        last = step.ends[-1] if step.ends else None
        return last is not None and last.kind == "break"

    def _with(self, step: Step) -> None:
        assert isinstance(step.node, ast.With | ast.AsyncWith)
        for item in step.node.items:
            self._cursor.take_within(item.context_expr)
        self._inside(step, step.node.body)

    def _try(self, step: Step) -> None:
        node = step.node
        assert isinstance(node, ast.Try)
        caught = self._caught(node)
        if caught is None:
            self._inside(step, node.body)
            if step.exit is None:
                self._inside(step, node.orelse)
        else:
            index, handler = caught
            inner = _Walker(self._cursor.over(self._cursor.at, index))
            step.blocks.append(inner.block(node.body))
            event = self._cursor.items[index]
            step.caught = event if isinstance(event, Event) else None
            self._cursor.at = index + 1
            self._inside(step, handler.body)
        left = step.exit
        self._inside(step, node.finalbody)
        step.exit = step.exit or left

    def _caught(self, node: ast.Try) -> tuple[int, ast.ExceptHandler] | None:
        """The handler of this `try` that ran next, and the index of its event."""
        cursor = self._cursor
        for index in range(cursor.at, cursor.stop):
            item = cursor.items[index]
            if isinstance(item, Frame):
                continue
            site = cursor.site(item)
            if not cursor.code.inside(site, node):
                return None
            if item.kind is Kind.EXCEPT:
                for handler in node.handlers:
                    if cursor.code.exactly(site, handler):
                        return index, handler
        return None

    def _match(self, step: Step) -> None:
        cursor, node = self._cursor, step.node
        assert isinstance(node, ast.Match)
        while (found := cursor.next_event()) is not None:
            index, event = found
            site = cursor.site(event)
            if not cursor.code.inside(site, node):
                return
            guarded = next((case for case in node.cases if case.guard and cursor.within(case.guard)), None)
            if guarded is not None and guarded.guard is not None:
                step.arms.append(Arm(guarded, evaluate(guarded.guard, cursor)))
                cursor.take_within(guarded.guard)
                continue
            cursor.at = index + 1
            if event.kind is not Kind.CASE:
                continue
            for case in node.cases:
                if event.outcome and cursor.code.exactly(site, case.pattern):
                    step.taken = case.body
                    self._inside(step, case.body)
            return

    # -- helpers -----------------------------------------------------------------------------------

    def _inside(self, step: Step, body: list[ast.stmt]) -> None:
        if body:
            steps = self.block(body)
            step.blocks.append(steps)
            step.exit = steps[-1].exit

    def _raised(self, step: Step) -> bool:
        """Whether the last call made in a statement was left by an exception that nobody caught there."""
        if step.blocks or step.end <= step.start:
            return False
        last = self._cursor.items[step.end - 1]
        return isinstance(last, Frame) and last.how == "raise"
