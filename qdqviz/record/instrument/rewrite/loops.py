"""Rewrite loops: for, comprehensions, map and filter, while loops over a worklist, break and continue."""

# ruff: noqa: D102, N802, N815  (methods named and called by ast.NodeVisitor)

from __future__ import annotations

import ast
import sys

from qdqviz.record.instrument.rewrite.base import Group, Located
from qdqviz.record.instrument.rewrite.handing import handing
from qdqviz.record.instrument.rewrite.tests import TestRewriter
from qdqviz.record.instrument.rewrite.worklists import takes

_ITERATOR_IS_ASKED_AT_ITERABLE = sys.version_info >= (3, 13)
"""Which line a traceback names for what cannot be iterated: the iterable's, or before 3.13 the loop's."""

Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


class LoopRewriter(TestRewriter):
    """The part that knows loops."""

    def visit_For(self, node: ast.For) -> ast.stmt:
        if self.function:
            node.iter = self._each(node.iter, "for", node)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        node.iter = self.inner(node.iter)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def _each(self, iterable: ast.expr, kind: str, loop: Located) -> ast.expr:
        with self.at(kind):
            site = self.site(iterable, kind)
        place = iterable if _ITERATOR_IS_ASKED_AT_ITERABLE else loop
        return self.hook("each", site, self.inner(iterable), at=place)

    def generators(self, node: Comprehension) -> None:
        with self.at("comprehension", Group(), node):
            for generator in node.generators:
                if generator.is_async:
                    generator.iter = self.inner(generator.iter)
                else:
                    generator.iter = self._each(generator.iter, "comprehension", self.where.anchor or node)
                generator.ifs = [self.test(test, "comprehension") for test in generator.ifs]

    def _comprehension(self, node: Comprehension) -> ast.expr:
        if not self.function:
            return self._generic(node)
        with self.at("value"):
            self.generators(node)
            if isinstance(node, ast.DictComp):
                node.key, node.value = self.expression(node.key), self.expression(node.value)
            else:
                node.elt = self.expression(node.elt)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_While(self, node: ast.While) -> ast.stmt:
        function = self.function
        taken = [] if function is None or function.is_lambda else takes(node)
        loop = -1
        if function is not None and taken:
            with self.at("worklist"):
                loop = self.site(node, "worklist", text=f"while {ast.unparse(node.test)}", read=(node.test,))
            function.takes.update(dict.fromkeys(taken, loop))
        if function is not None:
            node.test = self.condition(node.test, "while", node)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        if function is None or not taken:
            return node
        finished = self.statement("popped_all", loop, function.site, at=node)
        return ast.copy_location(ast.Try(body=[node], handlers=[], orelse=[], finalbody=[finished]), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not self.function:
            return self._generic(node)
        site = self._taken(node)
        if not self.items_of(node):
            self._arguments(node)
        return self._take(node, site)

    def _arguments(self, node: ast.Call) -> None:
        """Rewrite what is called and with what; `map`, `filter` and the like look at one item at a time."""
        handed = handing(node)
        if handed is None:
            with self.at("value"):
                self._generic(node)
            return
        iterable = node.args[handed.place]
        with self.at("handed"):
            site = self.site(iterable, "handed")
        with self.at("value"):
            self._generic(node)
        called = ast.copy_location(ast.Name(handed.called.id, ast.Load()), handed.called)
        items = node.args[handed.place]
        node.args[handed.place] = self.hook("handed", site, handed.name, called, items, at=iterable)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        site = self._taken(node)
        with self.at("value"):
            self._generic(node)
        return self._take(node, site)

    def _taken(self, node: ast.expr) -> int | None:
        if self.function is None or node not in self.function.takes:
            return None
        with self.at("worklist"):
            return self.site(node, "worklist")

    def _take(self, node: ast.expr, site: int | None) -> ast.expr:
        if site is None or self.function is None:
            return node
        loop = self.function.takes[node]
        return self.hook("popped", site, loop, self.function.site, node, at=node)

    def _jump(self, node: ast.Continue | ast.Break) -> ast.stmt | list[ast.stmt]:
        if not self.function:
            return node
        kind = "continue" if isinstance(node, ast.Continue) else "break"
        return [self.statement("leaving", self.site(node, kind), kind, at=node), node]

    visit_Continue = visit_Break = _jump
