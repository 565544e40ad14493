"""Calls of functions without blocks or loops: noted at their statements, ended where an exception did."""

from __future__ import annotations

import pytest
from recorded_code import Item

ASKS = """
from contextlib import suppress
def asks(n):
    if n.missing:
        return 1
"""
"""A function that an AttributeError ends while it asks."""


def calls(record) -> list[str]:
    """Calls and tests in order: `+f`, `-f` with how it was left, `?`."""
    told = []
    for kind, text, _, *values in record.seen("ENTER", "LEAVE", "TEST", "COMPARE"):
        if kind == "ENTER":
            told.append("+" + text.removeprefix("def ").partition("(")[0])
        else:
            told.append(f"- {values[0]}" if kind == "LEAVE" else "?")
    return told


@pytest.mark.parametrize(
    "body",
    [
        "try:\n        asks(n)\n    except AttributeError:\n        pass",
        "with suppress(AttributeError):\n        asks(n)",
        "try:\n        with suppress(AttributeError):\n            asks(n)\n    finally:\n        n.x = 1",
        "for each in [n]:\n        with suppress(AttributeError):\n            asks(each)",
    ],
)
def test_an_exception_that_is_swallowed_has_ended_the_call_before_what_is_asked_next(module, record, body):
    code = module(f"{ASKS}def f(n):\n    {body}\n    if n.ok == 1:\n        return 2\n")
    assert record(code.f, Item("n", ok=1)) == 2
    assert calls(record) == ["+f", "+asks", "- raise", "?", "- return"]


def test_what_finally_asks_on_an_exceptions_way_is_asked_by_its_own_function(module, record):
    code = module(f"{ASKS}def f(n):\n    try:\n        asks(n)\n    finally:\n        n.ok == 1\n")
    with pytest.raises(AttributeError):
        record(code.f, Item("n", ok=1))
    assert calls(record) == ["+f", "+asks", "- raise", "?", "- raise"]


def test_an_exception_that_leaves_all_functions_ends_all_calls_innermost_first(module, record):
    code = module(f"{ASKS}def g(n):\n    return asks(n)\ndef f(n):\n    for each in [n]:\n        g(each)\n")
    with pytest.raises(AttributeError):
        record(code.f, Item("n"))
    left = [(text, *values) for _, text, _, *values in record.seen("LEAVE")]
    assert left == [
        ("def asks(n)", "raise", None),
        ("def g(n)", "raise", None),
        ("def f(n)", "raise", "AttributeError"),
    ]


def test_a_call_that_a_handler_sees_ended_was_ended_by_that_type_of_exception(module, record):
    code = module(
        f"{ASKS}def f(n):\n    try:\n        asks(n)\n    except AttributeError:\n        return 0\n"
    )
    record(code.f, Item("n"))
    assert record.seen("LEAVE")[0] == ("LEAVE", "def asks(n)", None, "raise", "AttributeError")


def test_the_calls_of_an_attempt_that_an_exception_leaves_end_within_it(module, record):
    code = module(f"{ASKS}def f(nodes):\n    for each in nodes:\n        asks(each)\n")
    with pytest.raises(AttributeError):
        record(code.f, [Item("n")])
    kinds = [event[0] for event in record.seen("open", "close", "ENTER", "LEAVE")]
    assert kinds == ["ENTER", "open", "ENTER", "LEAVE", "close", "LEAVE"]


def test_an_exception_that_the_interpreter_swallows_ends_the_call_when_its_caller_is_left(module, record):
    code = module(f"{ASKS}class C:\n    @property\n    def p(self):\n        return asks(self)\n"
                  "def f():\n    return getattr(C(), 'p', 3)\n")  # fmt: skip
    assert record(code.f) == 3
    assert calls(record) == ["+f", "+p", "+asks", "- raise", "- raise", "- return"]


def test_a_function_that_consumes_a_generator_expression_still_runs_when_that_ends(module, record):
    code = module("""
        def first(items):
            found = next(items, None)
            rest = sum(items)
            return rest if rest > 1 else found
        def f(numbers):
            return first(n for n in numbers if n)
        """)
    assert record(code.f, [0, 1, 0, 2]) == 2
    assert calls(record) == ["+f", "+first", "?", "?", "?", "?", "?", "- return", "- return"]


def test_calls_of_one_function_within_itself_are_left_one_by_one(module, record):
    code = module("""
        def depth(n):
            if n.inner is None:
                return 1
            return 1 + depth(n.inner)
        """)
    assert record(code.depth, Item("a", inner=Item("b", inner=Item("c", inner=None)))) == 3
    assert [values for *_, values in record.seen("LEAVE")] == [1, 2, 3]
    assert calls(record) == ["+depth", "?", "+depth", "?", "+depth", "?", "- return", "- return", "- return"]


def test_a_plain_function_that_just_ends_has_ended(module, record):
    code = module("def f(n):\n    if n.ok:\n        n.ok = 0\n")
    record(code.f, Item("n", ok=1))
    assert record.seen("LEAVE") == [("LEAVE", "def f(n)", None, "end", None)]


def test_true_false_and_none_are_told_as_what_was_returned(module, record):
    code = module("def g(n):\n    return n\ndef f():\n    return [g(n) for n in (True, False, None, 1, 0)]\n")
    record(code.f)
    told = [event[3:] for event in record.seen("LEAVE")[:-1]]
    assert told == [("return", True), ("return", False), ("return", None), ("return", 1), ("return", 0)]
    assert [type(value) for _, value in told] == [bool, bool, type(None), int, int]
