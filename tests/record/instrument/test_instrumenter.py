"""Swapping code in and out, the thread that records, suspension, and what cannot be seen."""

from __future__ import annotations

import sys
import textwrap
import threading
from types import FunctionType

import pytest
from recorded_code import Item, Log

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.instrumenter import Instrumenter
from qdqviz.record.instrument.protocol import HOOKS, RecordingBusyError

GUARD = """
    def guard(n):
        '''The number is big.

        More text.
        '''
        if n > 5:
            return True
    def f(n):
        return 'big' if guard(n) else 'small'
    """


def test_code_is_swapped_while_the_instrumenter_is_open_and_put_back_after(module):
    code = module(GUARD)
    plain = (code.f.__code__, code.guard.__code__)
    with Instrumenter() as instrumenter:
        assert instrumenter.ensure(code.f) == []
        assert code.f.__code__ is not plain[0]
        assert code.guard.__code__ is not plain[1]
        assert code.f(6) == "big"
    assert (code.f.__code__, code.guard.__code__) == plain
    assert code.f.__code__ is plain[0]


def test_nothing_is_recorded_before_activation_and_after_deactivation(module, record):
    code = module(GUARD)
    record(code.f, 6)
    seen = len(record.log.events)
    code.f(6)
    assert len(record.log.events) == seen > 0


def test_two_instrumenters_share_functions_and_the_last_one_puts_the_code_back(module):
    code = module(GUARD)
    plain = code.f.__code__
    first, second = Instrumenter(), Instrumenter()
    first.ensure(code.f)
    second.ensure(code.f)
    first.restore()
    assert code.f.__code__ is not plain
    second.restore()
    assert code.f.__code__ is plain


def test_sites_keep_their_ids_from_one_recording_to_the_next(module):
    code = module(GUARD)
    counts = []
    for _ in range(2):
        with Instrumenter() as instrumenter:
            instrumenter.ensure(code.f)
            counts.append(len(instrumenter.sites))
            assert [site.id for site in instrumenter.sites] == list(range(counts[-1]))
    assert counts[0] == counts[1]


def test_functions_made_while_recording_outlive_it_and_stay_silent(module):
    code = module("def make():\n    def made(n):\n        return 1 if n else 2\n    return made\n")
    log = Log()
    with Instrumenter() as instrumenter:
        instrumenter.ensure(code.make)
        runtime.activate(log)
        made = code.make()
        runtime.deactivate()
    seen = len(log.events)
    assert (made(1), made(0)) == (1, 2)
    assert len(log.events) == seen
    assert HOOKS in made.__code__.co_names  # it is recompiled code that ran


def test_a_function_without_source_is_named_with_the_reason(instrumenter):
    namespace: dict = {"__name__": "made_up"}
    exec("def f(n):\n    return 1 if n else 2\n", namespace)
    (missing,) = instrumenter.ensure(namespace["f"])
    assert (missing.function, missing.line, missing.reason) == ("f", 1, "no source")
    assert namespace["f"](1) == 1


def test_a_function_whose_source_has_changed_is_named_with_the_reason(module, instrumenter):
    code = module(GUARD)
    with open(code.__file__, "w", encoding="utf-8") as file:
        file.write("\n\n" + textwrap.dedent(GUARD).replace("n > 5", "n > 6"))
    plain = code.f.__code__
    found = {missing.function: missing.reason for missing in instrumenter.ensure(code.f)}
    assert set(found) == {"f", "guard"}
    assert "has changed" in found["f"]
    assert code.f.__code__ is plain


def test_a_file_that_is_no_python_any_more_is_named_with_the_reason(module, instrumenter):
    code = module(GUARD)
    with open(code.__file__, "w", encoding="utf-8") as file:
        file.write("def f(:\n")
    assert {missing.reason for missing in instrumenter.ensure(code.f)} == {"its file cannot be rewritten"}


def test_a_function_with_builtins_of_its_own_is_left_alone(module, instrumenter):
    code = module(GUARD)
    walled = FunctionType(code.guard.__code__, {"__builtins__": {}, "__name__": code.__name__}, "guard")
    (missing,) = instrumenter.ensure(walled)
    assert missing.reason == "its builtins were replaced"
    assert walled(6) is True


def test_only_the_recording_thread_is_recorded(module, record):
    code = module(GUARD)
    results: list[str] = []

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: results.append(code.f(6)))
        thread.start()
        thread.join()

    record.instrumenter.ensure(code.f)
    runtime.activate(record.log)
    elsewhere()
    assert runtime.deactivate() is record.log
    assert results == ["big"]
    assert record.log.events == []


def test_a_second_thread_cannot_record_at_the_same_time():
    failures: list[Exception] = []

    def try_it() -> None:
        try:
            runtime.activate(Log())
        except RecordingBusyError as error:
            failures.append(error)

    runtime.activate(Log())
    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    runtime.deactivate()
    (failure,) = failures
    assert "another thread" in str(failure)
    assert "\n" not in str(failure)


def test_suspended_code_runs_unrecorded_and_recording_goes_on_after(module, record):
    code = module("""
        def g(n):
            return 1 if n == 'inside' else 0
        def f(suspended):
            with suspended():
                g('inside')
            return g('after')
        """)
    record(code.f, runtime.suspended)
    assert [event[3:] for event in record.seen("COMPARE")] == [("after", "inside")]
    assert runtime.active_log() is None


def test_a_log_set_aside_for_another_one_goes_on_where_it_was(module, record):
    inner = Log()

    def nested(function):
        outer = runtime.deactivate()
        runtime.activate(inner)
        function("inner")
        runtime.deactivate()
        runtime.activate(outer)

    code = module("""
        def g(n):
            return 1 if n else 0
        def f(nested, nodes):
            while nodes:
                n = nodes.pop()
                nested(g)
            return 'done'
        """)
    record(code.f, nested, [Item("n1")])
    assert record.seen("LEAVE") == [("LEAVE", "return 'done'", None, "return", "done")]
    assert record.seen("open", "close", "LOOP") == [
        ("open", "nodes.pop()", None, record.seen("open")[0][3]),
        ("close", "", None, record.seen("open")[0][3]),
        ("LOOP", "while nodes", None, 1, "end"),
    ]
    assert [event[0].name for event in inner.events] == ["ENTER", "TEST", "LEAVE"]


def test_deactivating_without_a_recording_is_no_error():
    assert runtime.deactivate() is None


def test_the_reason_is_the_docstrings_first_line_of_the_predicate(module, record):
    code = module("""
        class Base:
            def fits(self, n):
                "It fits."
                return n
        class Pass(Base):
            def call(self, n):
                ok = local(n)
                if self.fits(n) and not self.undocumented(n) and ok and n.unknown(n):
                    return 1
            def undocumented(self, n):
                return False
        def local(n):
            '''
            Looks local.
            '''
            return True
        """)
    number = Item("n", unknown=lambda n: True)
    assert record(code.Pass().call, number) == 1
    assert record.site("self.fits(n)").reason == "It fits."
    assert record.site("self.undocumented(n)").reason is None
    assert record.site("ok").reason == "Looks local."
    assert record.site("n.unknown(n)").reason is None
    assert record.site("def local(n)").reason == "Looks local."


def test_an_instance_brings_the_functions_that_its_attributes_hold(module, record):
    code = module("""
        class Pass:
            def __init__(self, check):
                self.checks = [check]
            def call(self, n):
                return self.checks[0](n)
        """)
    other = module("def check(n):\n    return n > 2\ndef check_more(n):\n    return n > 3\n")
    one, two = code.Pass(other.check), code.Pass(other.check_more)
    record.instrumenter.ensure(one)
    record.instrumenter.ensure(two)
    assert record(one.call, 1) is False
    assert [event[1] for event in record.seen("COMPARE")] == ["n > 2"]
    assert record(two.call, 1) is False
    assert [event[1] for event in record.seen("COMPARE")] == ["n > 3"]


def test_hooks_run_nothing_of_what_they_look_at(module, record):
    touched: list[str] = []

    class Loud(type):
        def __getattribute__(cls, name):
            touched.append(name)
            return super().__getattribute__(name)

        def __instancecheck__(cls, instance):
            touched.append("isinstance")
            return False

        def __hash__(cls):
            touched.append("hash")
            return 1

    class Trap(metaclass=Loud):
        def __getattribute__(self, name):
            touched.append(name)
            return object.__getattribute__(self, name)

        def __repr__(self):
            touched.append("repr")
            return ""

        def __hash__(self):
            touched.append("hash")
            return 1

    class Error(Exception, metaclass=Loud):
        def __str__(self):
            touched.append("str")
            return ""

        def __getattribute__(self, name):
            touched.append(name)
            return super().__getattribute__(name)

    code = module("""
        def f(trap, error, others):
            kept = trap or None
            if trap is None or trap in others:
                return 1
            try:
                raise error
            except BaseException:
                pass
            for other in [trap]:
                if kept is other:
                    return trap
        """)
    trap, error = Trap(), Error("message")
    others: list[object] = [trap]
    touched.clear()
    assert record(code.f, trap, error, others) == 1
    assert record(code.f, trap, error, []) is trap
    assert touched == []


def test_recursion_to_the_limit_ends_in_the_same_error(module, record):
    code = module("def f(n):\n    return f(n + 1) if n >= 0 else 0\n")
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        record(code.f, 0)
    assert sys.getrecursionlimit() == limit
    assert record(code.f, -1) == 0
    assert [event[0] for event in record.seen("ENTER", "LEAVE")] == ["ENTER", "LEAVE"]
