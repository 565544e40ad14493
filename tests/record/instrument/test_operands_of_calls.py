"""What a call asks about whose answer is tested is noted on the way, each operand evaluated once."""

from __future__ import annotations

import pytest

from qdqviz.record.instrument.values import Snapshot


class Thing:
    """An object that counts how often its attribute is read."""

    def __init__(self, name):
        self._name, self.reads = name, 0

    @property
    def name(self):
        self.reads += 1
        return self._name


def operands(record) -> list[tuple]:
    return [(text, value) for _, text, _, value in record.seen("OPERAND")]


def plainly(value: object) -> object:
    """A value that was seen, in a form that can be compared."""
    if isinstance(value, Snapshot):
        return dict(value.items)
    return "Thing" if isinstance(value, Thing) else value


@pytest.mark.parametrize(
    "place",
    [
        "if {}: pass",
        "assert not {} or True",
        "return {}",
        "return not {}",
        "x = 1 if {} else 0",
        "x = {} and 1",
        "x = [1 for one in [1] if {}]",
        "x = any([{}])",
        "x = (lambda: {})()",
    ],
)
@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ("isinstance(x, str)", [("x", 7)]),
        ("isinstance(thing.name, int)", [("thing.name", "aten.x")]),
        ("thing.name.startswith('at')", [("thing.name", "aten.x")]),
        ("allowed.get(x)", [("allowed", {7: 1}), ("x", 7)]),
        ("hasattr(thing, 'name')", [("thing", "Thing")]),
        ("str(x).isdigit()", [("str(x)", "7")]),
    ],
)
def test_the_operands_are_noted_where_the_answer_is_tested(module, record, place, call, seen):
    code = module(f"def f(thing, x, allowed):\n    {place.format(call)}\n")
    thing = Thing("aten.x")
    plain = code.f(thing, 7, {7: 1})
    before = thing.reads
    assert record(code.f, thing, 7, {7: 1}) == plain
    assert thing.reads == 2 * before
    assert [(text, plainly(value)) for text, value in operands(record)] == seen


@pytest.mark.parametrize(
    "call",
    [
        "self.fits(x)",
        "helpers.fits(x)",
        "super().fits(x)",
        "fits(x)",
        "int.__eq__(x, x)",
        "'aten'.startswith('a')",
        "len(x)",
    ],
)
def test_of_what_a_helper_is_given_its_own_tests_tell(module, record, call):
    code = module(
        "class Base:\n    def fits(self, x):\n        return True\n"
        "class helpers:\n    fits = staticmethod(lambda x: True)\n"
        "def fits(x):\n    return True\n"
        f"class Own(Base):\n    def call(self, x):\n        if {call}:\n            return 1\n"
    )
    record(code.Own().call, "x" if "len" in call else 3)
    assert operands(record) == []


def test_an_operand_is_noted_as_it_was_before_the_call(module, record):
    code = module("def f(work):\n    if work.pop():\n        return 1\n")
    record(code.f, [3, 4])
    assert [(text, value.items) for text, value in operands(record)] == [("work", (3, 4))]


def test_an_exception_in_the_call_leaves_its_operands_behind(module, record):
    test = "if x.startswith(1): pass"
    code = module(f"def f(x):\n    try:\n        {test}\n    except TypeError:\n        pass\n")
    record(code.f, "x")
    assert operands(record) == [("x", "x")]
    assert record.seen("TEST") == []
