"""Rewrite decisions: tests, comparisons, operands of and/or, any/all.

`test` rewrites an expression in test position and takes apart exactly what the compiler takes apart there
(`not`, and/or, ternaries, comparisons); everything else in it is one operand whose truth is asked once. The
`visit_` methods rewrite value position, where and/or and chains stay with the interpreter and only the values
that pass through are seen.
"""

# ruff: noqa: D102, N802  (methods named and called by ast.NodeVisitor)

from __future__ import annotations

import ast
from typing import Any

from qdqviz.record.instrument.rewrite.base import Group, Located, Rewriter
from qdqviz.record.instrument.rewrite.operands import asked_about

_HOOKS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "=="),
    ast.NotEq: ("ne", "!="),
    ast.Lt: ("lt", "<"),
    ast.LtE: ("le", "<="),
    ast.Gt: ("gt", ">"),
    ast.GtE: ("ge", ">="),
    ast.Is: ("is_", "is"),
    ast.IsNot: ("is_not", "is not"),
    ast.In: ("in_", "in"),
    ast.NotIn: ("not_in", "not in"),
}


class TestRewriter(Rewriter):
    """The part that knows decisions."""

    def condition(
        self, node: ast.expr, context: str, anchor: Located, group: Group | None = None
    ) -> ast.expr:
        """Rewrite the whole test of a statement, ternary or filter."""
        with self.at(context, group or Group(), anchor):
            return self.test(node, context)

    def test(self, node: ast.expr, kind: str, negated: bool = False) -> ast.expr:
        """Rewrite an expression whose truth alone matters."""
        match node:
            case ast.Constant() | ast.Name(id="__debug__"):
                return node  # the compiler decides these, and drops what they rule out
            case ast.BoolOp():
                node.values = [self.test(value, _junction(node), negated) for value in node.values]
                return node
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self.test(node.operand, "not", not negated)
                return node
            case ast.IfExp():
                node.test = self.test(node.test, "ternary")
                node.body = self.test(node.body, kind, negated)
                node.orelse = self.test(node.orelse, kind, negated)
                return node
            case ast.Compare():
                self.compared(node)
                return self._compare(node, "_test", negated)
        site = self.site(node, kind, negated=negated)
        place = self.truth_place(node)
        return self.hook("test", site, self.tested(node), at=place)

    def tested(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression whose value is an answer; a call notes what it asks about on the way."""
        for operand in asked_about(node, self.globals):
            self.noted[operand] = self.site(operand, "operand")
        return self.inner(node)

    def visit(self, node: ast.AST) -> Any:
        """Rewrite any node; an operand that is to be noted goes through a hook."""
        site = self.noted.pop(node, None) if self.noted else None
        rewritten = super().visit(node)
        if site is None:
            return rewritten
        assert isinstance(node, ast.expr)
        return self.hook("operand", site, rewritten, at=node)

    def _compare(self, node: ast.Compare, position: str, negated: bool) -> ast.expr:
        if len(node.ops) > 1:
            return self._chain(node, position, negated)
        name, operator = _HOOKS[type(node.ops[0])]
        site = self.site(node, "compare", negated=negated, operator=operator)
        left, right = self.inner(node.left), self.inner(node.comparators[0])
        return self.hook(name + position, site, left, right, at=node)

    def _chain(self, node: ast.Compare, position: str, negated: bool) -> ast.expr:
        operands = [node.left, *node.comparators]
        links: list[int] = []
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            operator = _HOOKS[type(op)][1]
            text = f"{self.text.of(left)} {operator} {self.text.of(right)}"
            links.append(
                self.site(node, "compare", text=text, read=(left, right), negated=negated, operator=operator)
            )
        node.left = self.hook("chain_first", links[0], self.inner(operands[0]), at=operands[0])
        node.comparators = [
            self.hook("chain_next", links[0], self.inner(operand), at=operand) for operand in operands[1:]
        ]
        if not position:
            return self.hook("chain", links[0], len(links), node, at=node)
        # A ternary makes the interpreter ask each link for its truth as the statement would: once.
        true, false = (ast.copy_location(ast.Constant(outcome), node) for outcome in (True, False))
        outcome = ast.copy_location(ast.IfExp(test=node, body=true, orelse=false), node)
        return self.hook("chain_test", links[0], outcome, at=node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return self._compare(node, "", False) if self.function else self._generic(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if not self.function:
            return self._generic(node)
        kind = _junction(node)
        with self.at(self.where.context, self.where.group or Group()):
            node.values = [self._operand(value, kind) for value in node.values]
        return node

    def _operand(self, node: ast.expr, kind: str) -> ast.expr:
        """An operand of and/or, or an item of any/all; comparisons and the like report themselves."""
        if isinstance(node, (ast.Constant, ast.Starred)):
            return node if isinstance(node, ast.Constant) else self.inner(node)
        if isinstance(node, (ast.Compare, ast.BoolOp)) or _is_not(node):
            return self.expression(node)
        site = self.site(node, kind)
        return self.hook("value", site, self.tested(node), at=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if not self.function or not _is_not(node):
            return self._generic(node)
        return self._negation(node, True)

    def _negation(self, node: ast.UnaryOp, negated: bool) -> ast.expr:
        """Rewrite a `not` in value position, where the interpreter does not take its operand apart."""
        operand = node.operand
        if isinstance(operand, ast.UnaryOp) and _is_not(operand):
            node.operand = self._negation(operand, not negated)
        elif isinstance(operand, ast.Compare) and len(operand.ops) == 1 and operand.lineno == node.lineno:
            node.operand = self._compare(operand, "_test", negated)
        elif not isinstance(operand, ast.Constant):
            # Not in one: `a and b` is asked for its value first, and that for its truth here.
            site = self.site(operand, "not", negated=negated)
            node.operand = self.hook("test", site, self.tested(operand), at=node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if not self.function:
            return self._generic(node)
        node.test = self.condition(node.test, "ternary", node)
        node.body = self.expression(node.body)
        node.orelse = self.expression(node.orelse)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.expression(node.value)
        return node

    def items_of(self, call: ast.Call) -> bool:
        """Rewrite the argument of any/all; False if the call is something else."""
        match call:
            case ast.Call(func=ast.Name(id="any" | "all" as kind), args=[argument], keywords=[]):
                pass
            case _:
                return False
        with self.at(kind, Group()):
            match argument:
                case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                    self.generators(argument)
                    argument.elt = self._operand(argument.elt, kind)
                case ast.List() | ast.Tuple() | ast.Set():
                    argument.elts = [self._operand(element, kind) for element in argument.elts]
                case _:
                    return False
        return True

    def generators(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        """Rewrite the loops of a comprehension."""
        raise NotImplementedError

    def _generic(self, node: ast.expr) -> ast.expr:
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.expr)
        return visited


def _junction(node: ast.BoolOp) -> str:
    return "and" if isinstance(node.op, ast.And) else "or"


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
