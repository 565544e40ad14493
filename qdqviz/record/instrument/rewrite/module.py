"""Rewrite a module: the remaining statements, and the whole."""

# ruff: noqa: D102, N802, N815  (methods named and called by ast.NodeVisitor)

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from qdqviz.record.instrument.rewrite.base import Group
from qdqviz.record.instrument.rewrite.functions import FunctionRewriter
from qdqviz.record.instrument.rewrite.operands import global_names
from qdqviz.record.instrument.rewrite.text import SourceText
from qdqviz.trace.events import Site


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A module whose functions report their decisions."""

    tree: ast.Module
    """Its syntax tree, ready to be compiled."""
    sites: Sequence[Site]
    """The sites in it, their ids dense."""
    too_deep: frozenset[str]
    """Qualified names of functions left alone because their blocks are nested too deeply."""


def rewrite(source: str, tree: ast.Module, file: str, first_id: int) -> Rewritten:
    """Rewrite the functions of a module; statements outside of functions stay as they are.

    Args:
        source: The module's text.
        tree: Its syntax tree; it is changed.
        file: Its path, as the interpreter names it.
        first_id: Id of the first site.
    """
    rewriter = ModuleRewriter(file, SourceText(source), first_id, global_names(tree))
    rewritten = rewriter.visit(tree)
    assert isinstance(rewritten, ast.Module)
    return Rewritten(rewritten, rewriter.sites, frozenset(rewriter.too_deep))


class ModuleRewriter(FunctionRewriter):
    """The whole rewriter: with if, assert, raise, match and handlers."""

    def visit_If(self, node: ast.If, group: Group | None = None) -> ast.stmt:
        if self.function is None:
            self.generic_visit(node)
            return node
        context = "if" if group is None else "elif"
        group = group or Group()
        node.test = self.condition(node.test, context, node, group)
        node.body = self.block(node.body)
        match node.orelse:
            # `elif` begins where its `if` does; an `if` inside of an `else` is indented.
            case [ast.If() as arm] if arm.col_offset == node.col_offset:
                node.orelse = [self.visit_If(arm, group)]
            case _:
                node.orelse = self.block(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if self.function is None:
            self.generic_visit(node)
            return node
        with self.at("assert", Group(), node):
            node.test = self.test(node.test, "assert")
            place = self.where.anchor
        if node.msg is not None:
            node.msg = self.inner(node.msg)
        if not isinstance(place, ast.Compare) or not __debug__:
            return node
        # The compiler places the error at the last comparison, which is a hook's call now.
        failed = ast.Assert(test=ast.copy_location(ast.Constant(False), place), msg=node.msg)
        passed = ast.copy_location(ast.Pass(), node)
        tested = ast.If(test=node.test, body=[passed], orelse=[ast.copy_location(failed, place)])
        return ast.copy_location(tested, node)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt | list[ast.stmt]:
        if self.function is None:
            return node
        site = self.site(node, "raise", read=(node.exc,) if node.exc else ())
        self.generic_visit(node)
        return [self.statement("leaving", site, "raise", at=node), node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if self.function is None:
            self.generic_visit(node)
            return node
        caught = ast.unparse(node.type) if node.type else ""
        name = f" as {node.name}" if node.name else ""
        text = f"except {caught}{name}".strip()
        site = self.site(node, "except", text=text, read=(node.type,) if node.type else ())
        if node.type is not None:
            node.type = self.inner(node.type)
        node.body = [
            self.statement("caught", site, self.function.site, at=node.body[0]),
            *self.block(node.body),
        ]
        return node

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        if self.function is None:
            self.generic_visit(node)
            return node
        with self.at("match", Group()):
            group = self.where.group
            subject = self.site(node.subject, "match")
            cases = [self.site(case.pattern, "case") for case in node.cases]
            none = self.site(node.subject, "case", text="no case")
        node.subject = self.hook("value", subject, self.inner(node.subject), at=node.subject)
        for case, site in zip(node.cases, cases, strict=True):
            if case.guard is not None:
                case.guard = self.condition(case.guard, "match", case.pattern, group)
            case.body = [self.statement("case", site, True, at=case.body[0]), *self.block(case.body)]
        if not any(case.guard is None and _matches_anything(case.pattern) for case in node.cases):
            missed = self.statement("case", none, False, at=node)
            anything = ast.copy_location(ast.MatchAs(pattern=None, name=None), node.subject)
            node.cases.append(ast.match_case(pattern=anything, guard=None, body=[missed]))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = self.inner(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Leave messages alone: they decide nothing."""
        return node

    visit_TemplateStr = visit_JoinedStr

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        """Leave types alone: they are evaluated lazily, by the interpreter."""
        return node


def _matches_anything(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(_matches_anything(choice) for choice in pattern.patterns)
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _matches_anything(pattern.pattern)
    )
