"""Match the code objects of a module with those of its rewritten twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from types import CodeType


def pair(plain: CodeType, rewritten: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Walk two modules in step: each function's code, and the code that reports its decisions.

    Rewriting adds and removes no function, so the two trees of constants have the same shape. Where they
    do not (the compiler dropped what it could prove dead in one of them), functions are matched by name and
    line, and those that cannot be told apart are left out.
    """
    pending = [(plain, rewritten)]
    while pending:
        for couple in _children(*pending.pop()):
            yield couple
            pending.append(couple)


def same_shape(plain: CodeType, rewritten: CodeType) -> bool:
    """Whether a function can run the rewritten code in place of the plain one."""
    parameters = plain.co_argcount + plain.co_kwonlyargcount
    return (
        plain.co_name == rewritten.co_name
        and plain.co_firstlineno == rewritten.co_firstlineno
        and plain.co_flags == rewritten.co_flags
        and plain.co_argcount == rewritten.co_argcount
        and plain.co_posonlyargcount == rewritten.co_posonlyargcount
        and plain.co_kwonlyargcount == rewritten.co_kwonlyargcount
        and plain.co_freevars == rewritten.co_freevars
        and plain.co_varnames[:parameters] == rewritten.co_varnames[:parameters]
        and set(plain.co_varnames) == set(rewritten.co_varnames)
        and set(plain.co_cellvars) == set(rewritten.co_cellvars)
    )


def _children(plain: CodeType, rewritten: CodeType) -> list[tuple[CodeType, CodeType]]:
    ours, theirs = _codes(plain), _codes(rewritten)
    if len(ours) == len(theirs):
        couples = list(zip(ours, theirs, strict=True))
        if all(same_shape(*couple) for couple in couples):
            return couples
    return _by_name(ours, theirs)


def _by_name(ours: list[CodeType], theirs: list[CodeType]) -> list[tuple[CodeType, CodeType]]:
    candidates: defaultdict[tuple[str, int], list[CodeType]] = defaultdict(list)
    for code in theirs:
        candidates[code.co_name, code.co_firstlineno].append(code)
    alike: defaultdict[tuple[str, int], int] = defaultdict(int)
    for code in ours:
        alike[code.co_name, code.co_firstlineno] += 1
    return [
        (code, found[0])
        for code in ours
        if alike[key := (code.co_name, code.co_firstlineno)] == 1
        and len(found := candidates[key]) == 1
        and same_shape(code, found[0])
    ]


def _codes(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if type(constant) is CodeType]
