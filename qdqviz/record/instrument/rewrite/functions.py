"""Rewrite functions: what is entered, returned, yielded."""

# ruff: noqa: D102, N802, N815  (methods named and called by ast.NodeVisitor)

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from qdqviz.record.instrument.rewrite.base import Function, Scope
from qdqviz.record.instrument.rewrite.bindings import Bindings
from qdqviz.record.instrument.rewrite.loops import LoopRewriter

DEEPEST = 14
"""Most nested blocks of a function that is rewritten; the compiler allows 20, and the rewriter adds some."""

OP_REGISTRATIONS = frozenset(
    {
        "impl",
        "impl_abstract",
        "impl_tracked",
        "register_fake",
        "register_kernel",
        "register_meta",
        "custom_op",
        "register_autograd",
        "register_autocast",
    }
)
"""Decorators that make a function an op's implementation: it computes values, it decides nothing."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

_BLOCKS: dict[type[ast.AST], int] = {
    ast.For: 1,
    ast.AsyncFor: 1,
    ast.While: 2,
    ast.With: 1,
    ast.AsyncWith: 1,
    ast.Try: 2,
    ast.TryStar: 2,
    ast.ExceptHandler: 1,
}
"""Blocks that the compiler, and the rewriter, open for a statement."""

_NOT_PLAIN = (
    *_BLOCKS,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""What a function whose call is noted without a block around its body must not hold."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class FunctionRewriter(LoopRewriter):
    """The part that knows functions."""

    @contextmanager
    def inside(self, scope: Scope, function: Function | None) -> Iterator[None]:
        """Rewrite the body of a function, or (None) of a class."""
        outer, self.function = self.function, function
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()
            self.function = outer

    def _function(self, node: FunctionNode) -> ast.stmt:
        node.decorator_list = [self.inner(decorator) for decorator in node.decorator_list]
        self._defaults(node.args)
        if _registers_op(node):
            return node
        if _depth(node.body) > DEEPEST:
            with self.inside(Scope(node.name, True), None):
                self.too_deep.add(self.qualified_name())
            return node
        first_line = (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()
        docstring, body = _split_docstring(node.body)
        function = Function(-1, Bindings(node.body), has_yield(node.body), is_plain=_is_plain(node))
        with self.inside(Scope(node.name, True), function):
            with self.at("def"):
                text = f"def {node.name}({ast.unparse(node.args)})"
                function.site = self.site(node, "def", text=text, reason=first_line or None)
            body = self.block(body) or [ast.copy_location(ast.Pass(), node.body[-1])]
        if function.is_plain:
            begins = self.statement("entered", function.site, at=body[0])
            ends = self.statement("ended", function.site, at=body[-1])
            node.body = [*docstring, begins, *body, ends]
            return node
        manager = ast.withitem(context_expr=self.hook("frame", function.site, at=body[0]))
        node.body = [*docstring, ast.copy_location(ast.With(items=[manager], body=body), body[0])]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        place = node.body
        function = Function(-1, Bindings(()), has_yield([node.body]), is_lambda=True)
        with self.inside(Scope("<lambda>", True), function):
            with self.at("def"):
                function.site = self.site(node, "def")
            with self.at("return"):
                node.body = self._answer(node.body)
        if not function.is_generator:
            entered = self.hook("entered", function.site, at=place)
            node.body = self.hook("left", entered, function.site, node.body, at=place)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.decorator_list = [self.inner(decorator) for decorator in node.decorator_list]
        node.bases = [self.inner(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.inner(keyword.value)
        with self.inside(Scope(node.name, False), None):
            node.body = self.block(node.body)
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        """Rewrite default values, which belong to the scope around; annotations stay as they are."""
        arguments.defaults = [self.inner(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and self.inner(default) for default in arguments.kw_defaults]

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        function = self.function
        if function is None:
            return node
        with self.at("return"):
            site = self.site(node, "return", read=(node.value,) if node.value else ())
        returns = "left" if function.is_plain else "returning"
        if node.value is None:
            nothing = ast.copy_location(ast.Constant(None), node)
            return [self.statement(returns, site, function.site, nothing, at=node), node]
        place = node.value
        with self.at("return"):
            value = self._answer(node.value)
        node.value = self.hook(returns, site, function.site, value, at=place)
        return node

    def _answer(self, node: ast.expr) -> ast.expr:
        """Rewrite what a function returns; what a call asks about on the way is noted."""
        return self.tested(node) if isinstance(node, ast.Call) else self.expression(node)

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:
        """A block that may swallow an exception: what follows it says that the function goes on."""
        self.generic_visit(node)
        return [node, self.statement("settled", self.function.site, at=node)] if self.function else node

    def _try(self, node: ast.Try | ast.TryStar) -> ast.stmt:
        # An exception goes through `finally` on its way: the function goes on there.
        self.generic_visit(node)
        if self.function and node.finalbody:
            settled = self.statement("settled", self.function.site, at=node.finalbody[0])
            node.finalbody = [settled, *node.finalbody]
        return node

    visit_Try = visit_TryStar = _try

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        function = self.function
        if function is None or function.is_lambda:
            return self._generic(node)
        site = self.site(node, "yield")
        value = ast.copy_location(ast.Constant(None), node) if node.value is None else self.inner(node.value)
        node.value = self.hook("pausing", site, function.site, value, at=node.value or node)
        return self.hook("resuming", self.hook("here", function.site, at=node), node, at=node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        function = self.function
        if function is None or function.is_lambda:
            return self._generic(node)
        site = self.site(node, "yield")
        node.value = self.hook("pausing", site, function.site, self.inner(node.value), at=node)
        return self.hook("resuming", self.hook("here", function.site, at=node), node, at=node)


def has_yield(body: Iterable[ast.AST]) -> bool:
    """Whether these nodes, which belong to one scope, hold a `yield` of that scope."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return False


def _is_plain(node: FunctionNode) -> bool:
    """Whether no block and no loop is in a function, so that only a statement of it can begin or end it.

    Methods with special names are not plain: who calls them is the interpreter, which may swallow exceptions.
    """
    if isinstance(node, ast.AsyncFunctionDef) or (node.name.startswith("__") and node.name.endswith("__")):
        return False
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, _NOT_PLAIN):
            return False
        if not isinstance(part, _SCOPES):
            pending.extend(ast.iter_child_nodes(part))
    return True


def _split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return body[:1], body[1:]
    return [], body


def _registers_op(node: FunctionNode) -> bool:
    """Whether a decorator makes it an op's implementation."""
    for decorator in node.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
        if last in OP_REGISTRATIONS:
            return True
    return False


def _depth(body: Iterable[ast.AST]) -> int:
    """How deep blocks are nested in a function's body."""
    deepest = 0
    pending = [(node, 0) for node in body]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, _SCOPES):
            continue
        depth += _BLOCKS.get(type(node), 0)
        deepest = max(deepest, depth)
        pending.extend((child, depth) for child in ast.iter_child_nodes(node))
    return deepest
