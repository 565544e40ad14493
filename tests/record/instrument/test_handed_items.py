"""Functions that Python's own functions call on one item after the other: map, filter, reduce, max."""

from __future__ import annotations

import builtins
import functools
import itertools
import traceback

import pytest
from recorded_code import Item

ASKS = "def fits(n):\n    if n.ok:\n        return True\n    return False\n"


@pytest.fixture
def nodes():
    return [Item("n1", ok=1), Item("n2", ok=0), Item("n3", ok=1)]


def spans(record) -> list[str]:
    """What was opened, closed and asked, as short words."""
    told = []
    for kind, *_, last in record.log.events:
        if kind in ("open", "close"):
            told.append(f"{kind} {last}")
        elif getattr(kind, "name", "") == "TEST":
            told.append("test")
    assert record.log.tokens == {}
    return told


ONE_BY_ONE = ["open n1", "test", "close n1", "open n2", "test", "close n2", "open n3", "test", "close n3"]


@pytest.mark.parametrize(
    "call",
    [
        "list(map(fits, nodes))",
        "list(filter(fits, nodes))",
        "list(map(lambda n: 1 if n.ok else 0, nodes))",
        "list(filter(lambda pair: fits(pair[1]), enumerate(nodes)))",
        "list(filter(lambda pair: fits(pair[0]), zip(nodes, range(9))))",
        "list(filter(fits, reversed(nodes[::-1])))",
        "list(filter(fits, list(nodes)))",
        "list(itertools.filterfalse(fits, nodes))",
        "list(itertools.takewhile(lambda n: fits(n) or True, nodes))",
        "list(filterfalse(fits, nodes))",
        "functools.reduce(lambda total, n: total + fits(n), nodes, 0)",
        "min(nodes, key=fits)",
        "max(nodes, key=fits, default=None)",
        "any(map(lambda n: fits(n) and False, nodes))",
    ],
)
def test_items_are_looked_at_one_after_the_other(module, record, nodes, call):
    names = {"functools": functools, "itertools": itertools, "filterfalse": itertools.filterfalse}
    code = module(f"{ASKS}def f(nodes):\n    return {call}\n", **names)
    plain = code.f(nodes)
    assert record(code.f, nodes) == plain
    told = [each for each, last in itertools.groupby(spans(record))]
    assert told == ONE_BY_ONE


def test_what_a_loop_does_with_an_item_that_filter_kept_belongs_to_the_same_look(module, record, nodes):
    code = module(
        f"{ASKS}def f(nodes):\n    for n in filter(fits, nodes):\n        if n.ok == 1:\n            pass\n"
    )
    record(code.f, nodes)
    assert [word for word in spans(record) if word != "test"] == [
        "open n1",
        "open n1",
        "close n1",
        "close n1",
        "open n2",
        "close n2",
        "open n3",
        "open n3",
        "close n3",
        "close n3",
    ]


def test_an_item_that_ends_the_search_is_closed_with_it(module, record, nodes):
    search = "found = next(filter(fits, nodes), None)"
    code = module(f"{ASKS}def f(nodes):\n    {search}\n    if found:\n        return found\n")
    assert record(code.f, nodes) is nodes[0]
    assert spans(record) == ["open n1", "test", "close n1", "test"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(nodes, filter):\n    return filter(fits, nodes)\n",
        "def f(nodes, keep):\n    filter = keep\n    return filter(fits, nodes)\n",
        "def f(nodes, keep):\n    class functools:\n        reduce = staticmethod(keep)\n"
        "    return functools.reduce(fits, nodes)\n",
        "def f(nodes, keep):\n    def inner():\n        return max(nodes, key=fits)\n"
        "    max = lambda nodes, key: keep(key, nodes)\n    return inner()\n",
    ],
)
def test_a_function_that_only_goes_by_such_a_name_is_given_the_very_argument(module, record, nodes, source):
    got = []

    def keep(function, items):
        got.append(items)
        return items

    code = module(ASKS + source)
    assert record(code.f, nodes, keep) is nodes
    assert got[0] is nodes
    assert spans(record) == []


def test_a_name_that_is_something_else_by_the_time_of_the_call_is_called_all_the_same(module, record, nodes):
    code = module(
        "def first(nodes):\n    return map(swap(), nodes)\n"
        "def swap():\n    global map\n    map = lambda f, items: items\n    return id\n"
    )
    code.map = builtins.map
    found = record(code.first, nodes)
    assert type(found) is builtins.map


class Noting:
    """An iterable that notes when it is asked for an iterator, and for each item."""

    def __init__(self, notes, items):
        self.notes, self.items = notes, items

    def __iter__(self):
        self.notes.append("iter")
        for item in self.items:
            self.notes.append(item)
            yield item


@pytest.mark.parametrize(
    "call",
    [
        "map(note('f', str), note('items', items))",
        "map(note('f', pair), note('items', items), note('more', [1, 2, 3]))",
        "functools.reduce(note('f', pair), note('items', items), note('first', 7))",
        "min(note('items', items), key=note('key', abs), default=note('default', 0))",
        "filter(note('f', None), note('items', items))",
        "list(filter(note('f', bool), note('items', items)))",
        "map(*note('both', [str, items]))",
        "next(map(note('f', str), note('items', items)))",
        "next(map(pair, items, [1]))",
    ],
)
def test_arguments_are_evaluated_in_order_and_items_asked_for_when_they_are_wanted(module, record, call):
    code = module(
        "import functools\n"
        "def pair(one, two):\n    return one * 10 + two\n"
        f"def f(note, items):\n    return {call}\n"
    )

    def run(call):
        notes = []

        def note(name, value):
            notes.append(name)
            return value

        result = call(code.f, note, Noting(notes, [3, 0, 2]))
        notes.append(type(result).__name__)
        notes.append(list(result) if hasattr(result, "__next__") else result)
        return notes

    assert run(record) == run(lambda function, *arguments: function(*arguments))


@pytest.mark.parametrize(
    "call",
    [
        "map(fits, 5)",
        "list(filter(fits, [5]))",
        "reduce(fits, 5)",
        "max(5, key=fits)",
        "max([], key=fits)",
        "reduce(fits, [])",
        "list(map(fits, [1], [2]))",
        "filter(fits)",
        "list(map(nothing, items))",
        "list(map(fits, nothing))",
    ],
)
def test_exceptions_are_the_same_at_the_same_lines(module, record, call):
    code = module(
        f"{ASKS}def f():\n    x = 1\n    return (\n        {call}\n    )\n", reduce=functools.reduce
    )

    def told(call):
        with pytest.raises(Exception) as caught:
            call(code.f)
        lines = [
            (frame.name, frame.lineno)
            for frame in traceback.extract_tb(caught.value.__traceback__)
            if frame.filename == code.__file__
        ]
        return type(caught.value), str(caught.value), lines

    assert told(record) == told(lambda function: function())


def test_map_made_while_recording_goes_on_after_it(module, record, nodes):
    code = module(f"{ASKS}def f(nodes):\n    return map(fits, nodes)\n")
    made = record(code.f, nodes)
    assert list(made) == [True, False, True]
    assert record.log.events[-1][0] not in ("open", "close")
