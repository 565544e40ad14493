"""What all parts of the rewriter share: where they are, new sites, calls of hooks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from qdqviz.record.instrument.protocol import HOOKS
from qdqviz.record.instrument.rewrite.bindings import Bindings
from qdqviz.record.instrument.rewrite.reads import NOTHING, reads
from qdqviz.record.instrument.rewrite.text import SourceText, shorten
from qdqviz.trace.events import Site

Located = ast.expr | ast.stmt | ast.pattern | ast.ExceptHandler
"""Nodes that have a place in the source."""

_TRUTH_IS_ASKED_AT_OPERAND = sys.version_info >= (3, 12)
"""Which line a traceback names when `bool()` raises: the operand's, or before 3.12 the statement's."""


@dataclass(slots=True)
class Group:
    """Siblings: arms of an elif chain, operands of one and/or, items of one any([...])."""

    id: int | None = None
    """The first sibling's site, once there is one."""


@dataclass(frozen=True, slots=True)
class Where:
    """What the expression being rewritten belongs to."""

    context: str = "value"
    """The construct that the whole test belongs to."""
    group: Group | None = None
    """Its siblings, or None where a test would begin a group of its own."""
    anchor: Located | None = None
    """The node at whose place the interpreter asks for its truth, before 3.12."""


@dataclass(slots=True)
class Function:
    """The function whose body is being rewritten."""

    site: int
    """Its `def`."""
    bindings: Bindings
    """Where it binds its names."""
    is_generator: bool
    """Whether it holds a `yield`."""
    is_lambda: bool = False
    """Whether it has no statements."""
    is_plain: bool = False
    """Whether its call is noted without a block around its body."""
    takes: dict[ast.expr, int] = field(default_factory=dict)
    """Expressions that take the next item from a worklist, with the site of its `while`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class around the current place."""

    name: str
    """Its name."""
    is_function: bool
    """False for a class."""


class Rewriter(ast.NodeTransformer):
    """Base of the rewriter's parts."""

    def __init__(
        self, file: str, text: SourceText, first_id: int, globals_: frozenset[str] = frozenset()
    ) -> None:
        self.file = file
        self.text = text
        self.first_id = first_id
        self.globals = globals_
        self.noted: dict[ast.AST, int] = {}
        self.sites: list[Site] = []
        self.too_deep: set[str] = set()
        self.function: Function | None = None
        self.where = Where()
        self.scopes: list[Scope] = []

    # Where we are

    @contextmanager
    def at(self, context: str, group: Group | None = None, anchor: Located | None = None) -> Iterator[None]:
        """Rewrite what is inside as part of another construct."""
        outer, self.where = self.where, Where(context, group, anchor)
        try:
            yield
        finally:
            self.where = outer

    def inner(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression whose own decisions are no siblings of those around it."""
        with self.at("value"):
            return self.expression(node)

    def expression(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression in value position."""
        rewritten = self.visit(node)
        assert isinstance(rewritten, ast.expr)
        return rewritten

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        rewritten: list[ast.stmt] = []
        with self.at("value"):
            for statement in body:
                result = self.visit(statement)
                rewritten.extend(result if isinstance(result, list) else [result])
        return rewritten

    # New sites

    def site(
        self,
        node: Located,
        kind: str,
        *,
        text: str | None = None,
        read: tuple[ast.AST, ...] | None = None,
        negated: bool = False,
        operator: str = "",
        reason: str | None = None,
    ) -> int:
        """Number a new site.

        Args:
            node: Where it is; must not have been rewritten yet.
            kind: Its kind.
            text: Its text, else that of `node`.
            read: The expressions that it reads, else `node` itself if that is an expression.
            negated: Whether it stands under an odd number of `not`.
            operator: The comparison's operator.
            reason: The docstring's first line, for a `def`.
        """
        number = self.first_id + len(self.sites)
        if read is None:
            read = (node,) if isinstance(node, ast.expr) else ()
        seen = reads(*read) if read else NOTHING
        end_line, end_offset = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        self.sites.append(
            Site(
                id=number,
                file=self.file,
                line=node.lineno,
                column=self.text.column(node.lineno, node.col_offset),
                end_line=end_line,
                end_column=self.text.column(end_line, end_offset),
                kind=kind,
                text=self.text.of(node) if text is None else shorten(text),
                function=self.qualified_name(),
                group=self._group(number),
                reason=reason,
                names=seen.names,
                calls=seen.calls,
                context=self.where.context,
                negated=negated,
                operator=operator,
                bound_by=self.function.bindings.calls(seen.names) if self.function else (),
                bound_at=self.function.bindings.lines(seen.names) if self.function else (),
            )
        )
        return number

    def qualified_name(self) -> str:
        """The name of the current function, as `__qualname__` gives it."""
        parts: list[str] = []
        for scope in self.scopes:
            parts.extend((scope.name, "<locals>") if scope.is_function else (scope.name,))
        return ".".join(parts).removesuffix(".<locals>")

    def _group(self, number: int) -> int | None:
        group = self.where.group
        if group is None:
            return None
        if group.id is None:
            group.id = number
        return group.id

    # Calls of hooks

    def hook(self, name: str, *arguments: ast.expr | int | bool | str, at: Located) -> ast.Call:
        """A call of a hook that tracebacks place where `at` is."""
        place = _start(at)
        hooks = ast.Name(HOOKS, ast.Load(), **place)
        call = ast.Call(
            # The attribute must end on the line it begins: the interpreter places a call there.
            func=ast.Attribute(hooks, name, ast.Load(), **place),
            args=[a if isinstance(a, ast.expr) else ast.Constant(a, None, **place) for a in arguments],
            keywords=[],
        )
        return ast.copy_location(call, at)

    def statement(self, name: str, *arguments: ast.expr | int | bool | str, at: Located) -> ast.stmt:
        """A statement that calls a hook."""
        return ast.Expr(self.hook(name, *arguments, at=at), **_start(at))

    def truth_place(self, operand: ast.expr) -> Located:
        """Where the interpreter asks for the truth of an operand of a test."""
        return operand if _TRUTH_IS_ASKED_AT_OPERAND else self.where.anchor or operand

    def compared(self, comparison: ast.Compare) -> None:
        """Note a comparison in a test: before 3.12 the compiler places the rest of the test there."""
        if not _TRUTH_IS_ASKED_AT_OPERAND:
            self.where = replace(self.where, anchor=comparison)


def _start(node: Located) -> dict[str, int]:
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.lineno,
        "end_col_offset": node.col_offset,
    }
