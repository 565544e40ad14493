"""What a stretch of code would have done, had it run: whether a test in front of it kept a rewrite away."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import IntEnum

from qdqviz.explain.guards.code import FunctionNode, call_name, dotted, own_nodes


class Effect(IntEnum):
    """How likely it is that running some code is what the pass is about."""

    LEAVES = 0
    """It goes on to the next node, or answers what was answered anyway."""
    BINDS = 1
    """It binds local names."""
    CALLS = 2
    """It calls something whose result is dropped, or sums up."""
    ACTS = 3
    """It collects, sets a flag, or hands something out."""
    EDITS = 4
    """It edits a graph, or answers otherwise."""


_TALKING = frozenset({"debug", "info", "warning", "warn", "error", "log", "exception", "print", "format"})
"""Calls that only say something."""

_COLLECTING = frozenset(
    {"append", "add", "extend", "appendleft", "insert", "update", "setdefault", "put", "push", "heappush"}
)
"""Methods of containers that keep something for later."""

_EMPTYING = frozenset({"clear", "remove", "discard", "pop", "popleft", "popitem", "difference_update"})
"""Methods of containers that take something out."""

_EDITING = frozenset(
    {
        "replace_all_uses_with",
        "replace_input_with",
        "erase_node",
        "create_node",
        "call_function",
        "call_method",
        "call_module",
        "call_operator",
        "node_copy",
        "graph_copy",
        "get_attr",
        "placeholder",
        "output",
        "update_arg",
        "update_kwarg",
        "insert_arg",
        "inserting_before",
        "inserting_after",
        "eliminate_dead_code",
        "replace_pattern",
        "replace_pattern_with_filters",
        "set_submodule",
        "delete_submodule",
        "register_buffer",
        "register_parameter",
    }
)
"""Methods of torch.fx (Graph, Node, GraphModule) and of ExportPass that edit a graph."""

_EDITING_VERBS = ("insert_", "replace_", "remove_", "erase_", "delete_", "fuse_", "rewrite_", "swap_")
"""How the names of helpers begin that edit a graph."""

_EDITED = frozenset({"args", "kwargs", "target", "meta", "name"})
"""Attributes of a torch.fx Node whose assignment edits the graph."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What the call under question ended with: code that would have ended it alike changes nothing."""

    answer: object = None
    """The constant that it returned."""
    constant: bool = False
    """Whether it returned a constant."""
    delegates: bool = False
    """Whether it returned what its base class gives for the same arguments."""
    function: FunctionNode | None = None
    """The function that it is a call of."""
    tested: frozenset[str] = frozenset()
    """Names that the code under question tests: setting one of them is no effect of its own."""
    wants: str | None = None
    """Set where the question is why a name was not set or filled: its dotted name."""
    recursion: str = ""
    """With `wants`: the function's own name, as calling itself may set the name further in."""
    breaks: bool = False
    """Set where the question is why a loop was not left by `break`."""


def effect(statements: list[ast.stmt], goal: Goal) -> Effect:
    """The strongest effect that these statements would have had."""
    if goal.wants is not None:
        sets = any(changes(node, goal.wants) or _recurs(node, goal) for node in own_nodes(*statements))
        return Effect.EDITS if sets else Effect.LEAVES
    if goal.breaks:
        return Effect.EDITS if any(map(_breaks, statements)) else Effect.LEAVES
    found = Effect.LEAVES
    for statement in statements:
        found = max(found, _effect(statement, goal))
        if found is Effect.EDITS:
            break
    return found


def _recurs(node: ast.AST, goal: Goal) -> bool:
    return bool(goal.recursion) and isinstance(node, ast.Call) and call_name(node) == goal.recursion


def changes(node: ast.AST, name: str) -> bool:
    """Whether a node of a syntax tree sets or fills what a dotted name stands for."""
    match node:
        case ast.Assign(targets=targets):
            return any(_holds(target, name) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
            return _holds(target, name)
        case ast.NamedExpr(target=target):
            return target.id == name
        case ast.Call(func=ast.Attribute(value=holder, attr=attribute)):
            return attribute in _COLLECTING and _holds(holder, name)
    return False


def empties(node: ast.AST, name: str) -> bool:
    """Whether a node of a syntax tree takes something out of what a dotted name stands for."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=attribute)):
            return attribute in _EMPTYING and _holds(holder, name)
    return False


def _holds(target: ast.expr, name: str) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return any(_holds(each, name) for each in target.elts)
    if isinstance(target, ast.Starred):
        return _holds(target.value, name)
    return dotted(target.value if isinstance(target, ast.Subscript) else target) == name


def delegates(expr: ast.expr | None, function: FunctionNode | None) -> bool:
    """Whether an expression is `super().method(...)` with the very arguments of `method` itself."""
    match expr:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name)):
            pass
        case _:
            return False
    if function is None or isinstance(function, ast.Lambda) or function.name != name:
        return False
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][1:]
    given = [each.id if isinstance(each, ast.Name) else None for each in expr.args]
    named = all(isinstance(k.value, ast.Name) and k.value.id == k.arg for k in expr.keywords)
    return given == parameters[: len(given)] and named


def _effect(statement: ast.stmt, goal: Goal) -> Effect:
    match statement:
        case ast.Return(value=value):
            return _returning(value, goal)
        case ast.Continue() | ast.Break() | ast.Pass() | ast.Raise() | ast.Assert():
            return Effect.LEAVES
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
            return Effect.LEAVES
        case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            return max(effect(body, goal), effect(orelse, goal))
        case ast.While(body=body, orelse=orelse):
            return max(effect(body, goal), effect(orelse, goal))
        case ast.With(body=body, items=items):
            inside = effect(body, goal)
            return max(inside, *(_calling(item.context_expr) for item in items))
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            blocks = [body, orelse, final, *(handler.body for handler in handlers)]
            return max(effect(block, goal) for block in blocks)
        case ast.Match(cases=cases):
            return max(effect(case.body, goal) for case in cases)
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            return Effect.ACTS
        case ast.Expr(value=value):
            return max(_calling(value), _talk_or_call(value))
        case ast.Assign(targets=targets, value=value):
            return max(_assigning(targets, value, goal), _calling(value))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return max(_assigning([target], value, goal), _calling(value))
        case ast.AugAssign(value=value):
            return max(Effect.CALLS, _calling(value))
        case ast.Delete():
            return Effect.CALLS
    return Effect.BINDS


def _returning(value: ast.expr | None, goal: Goal) -> Effect:
    if goal.delegates:
        return Effect.LEAVES if delegates(value, goal.function) else Effect.EDITS
    literal, answer = literal_of(value)
    if literal:
        # By type as well: 0 and False are no equal answers.
        alike = goal.constant and answer == goal.answer and type(answer) is type(goal.answer)
        return Effect.LEAVES if alike or not goal.constant else Effect.EDITS
    if not goal.constant:
        return Effect.LEAVES if _says_unmodified(value) else Effect.EDITS
    return Effect.EDITS


def literal_of(value: ast.expr | None) -> tuple[bool, object]:
    """Whether what is returned is a literal number, text, bool or None; and which."""
    if value is None:
        return True, None
    match value:
        case ast.Constant(value=answer):
            return True, answer
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True, ast.unparse(value)
        case ast.Call(func=ast.Name(id="set" | "list" | "dict" | "tuple"), args=[], keywords=[]):
            return True, ast.unparse(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return True, -number
    return False, None


def _says_unmodified(value: ast.expr | None) -> bool:
    """Whether a returned value is a `PassResult(graph_module, False)`, or the module as it was given."""
    match value:
        case ast.Call(args=[_, ast.Constant(value=False)]):
            return True
        case ast.Call(keywords=keywords):
            return any(k.arg == "modified" and _is_false(k.value) for k in keywords)
    return isinstance(value, ast.Name | ast.Attribute)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _breaks(statement: ast.stmt) -> bool:
    """Whether a statement of a loop's body holds a `break` of that loop."""
    if isinstance(statement, ast.Break):
        return True
    if isinstance(statement, ast.For | ast.While | ast.FunctionDef | ast.ClassDef):
        return False
    return any(_breaks(child) for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt))


def tested_names(statements: list[ast.stmt]) -> frozenset[str]:
    """The names that these statements test, assert or return."""
    found: set[str] = set()
    for node in own_nodes(*statements):
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            asked: ast.expr | None = node.test
        else:
            asked = node.value if isinstance(node, ast.Return) else None
        if asked is not None:
            found.update(each.id for each in own_nodes(asked) if isinstance(each, ast.Name))
    return frozenset(found)


def _assigning(targets: list[ast.expr], value: ast.expr, goal: Goal) -> Effect:
    for target in targets:
        if isinstance(target, ast.Name) and target.id in goal.tested:
            return Effect.BINDS
        if isinstance(target, ast.Subscript):
            holder = target.value
            of_node = isinstance(holder, ast.Attribute) and holder.attr in _EDITED
            return Effect.EDITS if of_node else Effect.ACTS
        if isinstance(target, ast.Attribute):
            return Effect.EDITS if target.attr in _EDITED else Effect.CALLS
    return Effect.ACTS if isinstance(value, ast.Constant) and value.value is True else Effect.BINDS


def _calling(value: ast.expr) -> Effect:
    """Whether an expression edits or collects."""
    found = Effect.LEAVES
    for node in own_nodes(value):
        name = call_name(node) if isinstance(node, ast.Call) else ""
        if name in _EDITING or name.lstrip("_").startswith(_EDITING_VERBS):
            return Effect.EDITS
        if name in _COLLECTING:
            found = Effect.ACTS
    return found


def _talk_or_call(value: ast.expr) -> Effect:
    calls = [node for node in own_nodes(value) if isinstance(node, ast.Call)]
    if not calls or call_name(calls[0]) in _TALKING:
        return Effect.LEAVES
    return Effect.CALLS
