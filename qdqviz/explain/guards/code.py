"""Source as a syntax tree that sites can be looked up in; nothing of it is ever run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from qdqviz.trace.events import Site

Place = tuple[int, int, int, int]
"""First line (from 1) and column, last line and column after the end; columns in characters."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Code:
    """One source file."""

    def __init__(self, text: str) -> None:
        """Parse a file's text.

        Raises:
            SyntaxError: If it is no Python.
        """
        self.text = text
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self._at: dict[Place, list[ast.AST]] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        self._places: dict[ast.AST, Place] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if hasattr(node, "lineno"):
                place = self._place(node)
                self._places[node] = place
                self._at.setdefault(place, []).append(node)

    def place(self, node: ast.AST) -> Place:
        """Where a node stands; for a comprehension's `for` the place of what it iterates over."""
        shown = node.iter if isinstance(node, ast.comprehension) else node
        return self._places.get(shown) or self._place(shown)

    def source(self, node: ast.AST) -> str:
        """The text of a node, on one line: as it stands there, or put together where it takes several."""
        first, column, last, end = self.place(node)
        text = self.lines[first - 1][column:end] if first == last else ""
        return text or ast.unparse(node)

    def at(self, site: Site) -> list[ast.AST]:
        """The nodes that stand exactly where a site does, outermost first."""
        return self._at.get(place_of(site), [])

    def function(self, site: Site) -> FunctionNode | None:
        """The function that a `def` site defines."""
        return next((node for node in self.at(site) if isinstance(node, FUNCTIONS)), None)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        current = self._parents.get(node)
        while current is not None:
            yield current
            current = self._parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node is, or belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next((each for each in self.around(node) if isinstance(each, ast.stmt)), None)

    def function_around(self, node: ast.AST) -> FunctionNode | None:
        """The function that a node is in."""
        return next((each for each in self.around(node) if isinstance(each, FUNCTIONS)), None)

    def inside(self, site: Site, node: ast.AST) -> bool:
        """Whether a site lies within a node."""
        line, column, end_line, end_column = self.place(node)
        return (line, column) <= (site.line, site.column) and (site.end_line, site.end_column) <= (
            end_line,
            end_column,
        )

    def exactly(self, site: Site, node: ast.AST) -> bool:
        """Whether a site stands exactly where a node does."""
        return place_of(site) == self.place(node)

    def _place(self, node: ast.AST) -> Place:
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return (
            first,
            self._column(first, node.col_offset),  # type: ignore[attr-defined]
            last,
            self._column(last, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def place_of(site: Site) -> Place:
    """Where a site stands."""
    return site.line, site.column, site.end_line, site.end_column


def own_nodes(*roots: ast.AST) -> Iterator[ast.AST]:
    """All nodes of these trees in source order, without those of functions and classes inside."""
    pending = list(reversed(roots))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def has_blocks(node: ast.stmt) -> bool:
    """Whether a statement holds others: an `if`, a loop, a `with`, a `try`, a `match`, a definition."""
    return hasattr(node, "body") or isinstance(node, ast.Match)


def called_names(*roots: ast.AST) -> set[str]:
    """Plain names of what these trees call, and of attributes that they read (which may be properties)."""
    names: set[str] = set()
    for node in own_nodes(*roots):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names.add(node.func.id)
    return names


def call_name(call: ast.Call) -> str:
    """The plain name of what is called; empty for a computed one."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of attributes of a name, else empty."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
