"""Decisions as a trace holds them: where a pass asked something, and what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from qdqviz.ir.values import Value


class Kind(IntEnum):
    """What happened at a site."""

    ENTER = 0
    """A function was entered; the site is its `def`; values: none, or `resumed` for a generator."""
    LEAVE = 1
    """A function was left; values: how (`return`, `end`, `raise`, `yield`) and the value handed out.

    The site is the `return` or `yield`, else the `def`; for `raise` the value is the exception's type name.
    ENTER and LEAVE are balanced like brackets: what stands between them happened in that call.
    """
    TEST = 2
    """A value's truth was tested; values: the operand, unless it was a bool itself."""
    COMPARE = 3
    """A comparison; values: left and right."""
    VALUE = 4
    """An operand of and/or, or an item of any/all, in value position."""
    EXIT = 5
    """A jump was reached; values: which (`continue`, `break`, `raise`)."""
    CASE = 6
    """A match case was taken (True), or none was (False)."""
    EXCEPT = 7
    """A handler was entered; values: exception type, message, where (`file:line`)."""
    LOOP = 8
    """A loop is over; values: number of items, how it ended (`end`, `break`, `return`, `left`).

    `left`: by an exception, or because its generator was closed.
    """
    ITEM = 9
    """A loop handed out an item; values: the item."""
    OPERAND = 10
    """An operand of a call whose answer is tested or returned, before it is asked; values: the operand."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a pass's source where a decision is taken."""

    id: int
    """Dense number within the trace."""
    file: str
    """Source file."""
    line: int
    """First line, 1-based."""
    column: int
    """Column of the first character, 0-based."""
    end_line: int
    """Last line."""
    end_column: int
    """Column after the last character."""
    kind: str
    """if, elif, while, assert, and, or, not, compare, ternary, comprehension, any, all, return, match, ..."""
    text: str
    """Source text of the expression, at most 200 characters."""
    function: str
    """Qualified name of the function that holds it."""
    group: int | None = None
    """Number shared by siblings: arms of an elif chain, operands of one and/or, items of one any([...])."""
    reason: str | None = None
    """First line of the docstring of the predicate called here (for a `def`: its own)."""
    names: tuple[str, ...] = ()
    """Names that the expression reads, plain or dotted (`users`, `self.done`)."""
    calls: tuple[str, ...] = ()
    """Names of the functions that the expression calls, plain or dotted."""
    context: str = ""
    """What the whole test belongs to: if, elif, while, assert, ternary, comprehension, return, value, ..."""
    negated: bool = False
    """Whether an odd number of `not` stands around it: True here means False there."""
    operator: str = ""
    """The comparison's operator (`==`, `not in`), else empty."""
    bound_by: tuple[str, ...] = ()
    """Functions whose results were bound to `names`, or that got them as arguments, in the same function."""
    bound_at: tuple[int, ...] = ()
    """Lines of the same function where a name of `names` is bound."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened at a site, in order."""

    kind: Kind
    """What happened."""
    site: int
    """Where: a site's id, or -1 where there is none (a retraced node)."""
    outcome: bool | None = None
    """How a test or comparison came out; None where that is not known or not asked."""
    values: tuple[Value, ...] = ()
    """What was seen at that instant."""
