"""Which item is being looked at, from when until when."""

from __future__ import annotations

import gc

import pytest
from recorded_code import Item

from qdqviz.record.instrument import runtime


def spans(record) -> list[str]:
    """What was opened, closed and asked, as short words."""
    told = []
    for kind, *_, last in record.log.events:
        if kind in ("open", "close"):
            told.append(f"{kind} {last}")
        elif getattr(kind, "name", "") == "TEST":
            told.append("test")
    assert record.log.tokens == {}  # whatever was opened has been closed
    return told


@pytest.fixture
def nodes():
    return [Item("n1", ok=1), Item("n2", ok=0), Item("n3", ok=1)]


ONE_BY_ONE = ["open n1", "test", "close n1", "open n2", "test", "close n2", "open n3", "test", "close n3"]


@pytest.mark.parametrize(
    "loop",
    [
        "for n in nodes:",
        "for i, n in enumerate(nodes):",
        "for n, _ in zip(nodes, range(9)):",
        "for n in reversed(nodes[::-1]):",
        "for n, _ in {n: 0 for n in nodes}.items():",
    ],
)
def test_a_loop_looks_at_one_node_after_the_other(module, record, nodes, loop):
    code = module(f"def f(nodes):\n    {loop}\n        if n.ok:\n            pass\n")
    record(code.f, nodes)
    told = spans(record)
    assert told[-len(ONE_BY_ONE) :] == ONE_BY_ONE


def test_a_comprehension_looks_at_one_node_after_the_other(module, record, nodes):
    code = module("def f(nodes):\n    return [n for n in nodes if n.ok]\n")
    assert record(code.f, nodes) == [nodes[0], nodes[2]]
    assert spans(record) == ONE_BY_ONE


def test_a_loop_left_early_closes_its_node_at_once(module, record, nodes):
    code = module("""
        def f(nodes, how):
            try:
                for n in nodes:
                    if how == "break":
                        break
                    if how == "return":
                        return
                    raise KeyError
            except KeyError:
                pass
            if how:
                pass
        """)
    for how, after in (("break", ["test"]), ("return", []), ("raise", ["test"])):
        record(code.f, nodes, how)
        assert spans(record) == ["open n1", "close n1", *after], how


def test_a_node_in_a_generator_is_closed_before_the_next_one_is_searched(module, record, nodes):
    code = module("""
        def good(nodes):
            for n in nodes:
                if n.ok:
                    yield n
        def f(nodes):
            for m in good(nodes):
                if m.ok == 1:
                    pass
        """)
    record(code.f, nodes)
    # The consumer's n1 is done before the generator asks anything about n2.
    assert spans(record) == [
        "open n1",
        "test",
        "open n1",
        "close n1",
        "close n1",
        "open n2",
        "test",
        "close n2",
        "open n3",
        "test",
        "open n3",
        "close n3",
        "close n3",
    ]


def test_a_generator_expression_given_up_closes_its_node(module, record, nodes):
    code = module("""
        def f(nodes):
            first = next(n for n in nodes if n.ok)
            if first:
                return any(n.ok for n in nodes)
        """)
    assert record(code.f, nodes) is True
    assert spans(record) == ["open n1", "test", "close n1", "test", "open n1", "close n1"]


@pytest.mark.parametrize(
    "loop",
    [
        "while work:\n        n = work.pop(0)",
        "while len(work) > 0:\n        n = work.pop(0)",
        "while True:\n        if not work: break\n        n = work.pop(0)",
        "from collections import deque\n    work = deque(work)\n    while work:\n        n = work.popleft()",
        "from heapq import heappop\n    work = [(i, n) for i, n in enumerate(work)]\n"
        "    while work:\n        i, n = heappop(work)",
        "at = 0\n    while at < len(work):\n        n = work[at]\n        at += 1",
        "it = iter(work)\n    while (n := next(it, None)) is not None:\n        pass",
        "from queue import SimpleQueue\n    q = SimpleQueue()\n    for n in work: q.put(n)\n"
        "    while not q.empty():\n        n = q.get()",
    ],
)
def test_a_worklist_looks_at_a_node_until_it_takes_the_next_one(module, record, nodes, loop):
    code = module(f"def f(work):\n    {loop}\n        assert n.ok or True\n    return 1\n")
    record(code.f, list(nodes))
    told = [word for word in spans(record) if word != "test"]
    assert told[-6:] == ["open n1", "close n1", "open n2", "close n2", "open n3", "close n3"]


def test_a_worklist_in_two_phases_takes_from_either_container(module, record, nodes):
    code = module("""
        def f(first, later):
            while first or later:
                n = first.pop() if first else later.pop()
                n.meta.pop("val", None)
        """)
    for node in nodes:
        node.meta = {"val": 1}
    record(code.f, nodes[:2], nodes[2:])
    told = [word for word in spans(record) if word != "test"]
    assert told == ["open n2", "close n2", "open n1", "close n1", "open n3", "close n3"]


def test_a_worklist_left_by_an_exception_closes_its_node(module, record, nodes):
    code = module("""
        def f(work):
            try:
                while work:
                    n = work.pop()
                    raise KeyError
            except KeyError:
                assert n.ok
        """)
    record(code.f, nodes)
    assert spans(record)[-3:] == ["open n3", "close n3", "test"]
    assert [event[3:] for event in record.seen("LOOP")] == [(1, "left")]


def test_recursive_worklists_do_not_mix_up_their_nodes(module, record):
    leaf, inner = Item("leaf", below=[]), Item("inner")
    inner.below = [leaf]
    root = Item("root", below=[inner])
    code = module("""
        def f(work):
            while work:
                n = work.pop()
                f(list(n.below))
        """)
    record(code.f, [root])
    told = [word for word in spans(record) if word != "test"]
    assert told == ["open root", "open inner", "open leaf", "close leaf", "close inner", "close root"]


def test_two_running_generators_keep_their_worklists_apart(module, record, nodes):
    code = module("""
        def each(work):
            while work:
                n = work.pop(0)
                yield n
        def f(left, right):
            pairs = []
            one, two = each(left), each(right)
            pairs.append((next(one), next(two)))
            pairs.append((next(one), next(two, None)))
            return pairs
        """)
    other = Item("other")
    assert record(code.f, nodes[:2], [other]) == [(nodes[0], other), (nodes[1], None)]
    told = [word for word in spans(record) if word != "test"]
    assert told == ["open n1", "open other", "close n1", "open n2", "close other", "close n2"]


def test_a_suspended_recording_still_closes_what_it_opened(module, record, nodes):
    code = module("""
        def f(nodes, suspended):
            for n in nodes:
                with suspended():
                    for m in nodes:
                        if m.ok:
                            break
        """)
    record(code.f, nodes[:2], runtime.suspended)
    assert spans(record) == ["open n1", "close n1", "open n2", "close n2"]


def test_a_generator_collected_later_closes_its_node_once(module, record, nodes):
    code = module("""
        def good(nodes):
            for n in nodes:
                yield n
        def f(nodes):
            cycle = []
            cycle.append((good(nodes), cycle))
            return next(cycle[0][0])
        """)
    record(code.f, nodes)
    gc.collect()  # Log.close raises if a token comes twice
    assert spans(record) == ["open n1", "close n1"]


def test_an_iterable_that_cannot_be_iterated_raises_as_it_would(module, record):
    code = module("def f(x):\n    for n in x:\n        pass\n")
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        record(code.f, 3)


def test_iteration_adds_no_frame_between_a_loop_and_its_generator(module, record):
    code = module("""
        import sys
        def caller():
            yield sys._getframe(1).f_code.co_name
        def f():
            for name in caller():
                return name
        """)
    assert record(code.f) == "f"


def test_recursive_generators_reach_as_deep_as_plain_ones(module, record):
    code = module("""
        def walk(depth):
            yield depth
            if depth:
                for n in walk(depth - 1):
                    yield n
        def f(depth):
            return sum(1 for _ in walk(depth))
        """)
    assert record(code.f, 400) == code.f(400) == 401
