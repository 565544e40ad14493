"""Instrumented functions behave as plain ones: values, side effects and their order, exceptions, lines."""

from __future__ import annotations

import linecache
import re
import traceback
from contextlib import suppress
from types import FunctionType

import pytest
from generated_functions import NAMES, functions
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.compiled import CompiledFiles
from qdqviz.record.instrument.live_code import LiveCode
from qdqviz.record.instrument.raw import RawEvents
from qdqviz.trace.events import Kind

THOROUGH = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


class Mark:
    """An operand that notes every question it is asked, and may answer with another one, or raise."""

    def __init__(self, name: str, answer: object, notes: list[object]) -> None:
        self.name, self.answer, self.notes = name, answer, notes

    def _ask(self, question: str, other: object = None) -> object:
        self.notes.append((self.name, question, told(other)))
        if self.answer == "raise":
            raise KeyError(self.name)
        return self.answer

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __bool__(self) -> bool:
        return bool(self._ask("bool"))

    def __eq__(self, other: object) -> object:
        return Mark(f"{self.name}==", self._ask("eq", other), self.notes)

    def __lt__(self, other: object) -> object:
        return Mark(f"{self.name}<", self._ask("lt", other), self.notes)

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = None

    def __add__(self, other: object) -> object:
        return self

    __radd__ = __iadd__ = __add__

    def __contains__(self, other: object) -> bool:
        return bool(self._ask("contains", other))

    def __iter__(self):
        self._ask("iter")
        return iter([1, self])


class MarkLog:
    """A log to which every mark is a focus."""

    def __init__(self) -> None:
        self.raw = RawEvents()

    forced = None
    vetoes = False

    def open(self, site: int, item: object, skippable: bool = True) -> object | None:
        return object() if type(item) is Mark else None

    def close(self, token: object) -> None:
        pass


def told(value: object, depth: int = 0) -> object:
    """A value in a form that can be compared between two runs."""
    if depth > 4:
        return "..."
    if type(value) is Mark:
        return f"<{value.name}>"
    if type(value) in (list, tuple):
        return type(value)(told(item, depth + 1) for item in value)
    if type(value) is dict:
        return [(told(key, depth + 1), told(item, depth + 1)) for key, item in value.items()]
    if type(value) is str:
        return re.sub("0x[0-9a-f]+", "address", value)
    if isinstance(value, FunctionType):
        return value.__qualname__
    return value if type(value) in (int, bool, type(None)) else type(value).__name__


def run(function: FunctionType, answers: list[object], notes: list[object]) -> tuple[object, ...]:
    """Call a function and tell all that can be seen from outside."""
    arguments = {
        name: Mark(name, answer, notes) if answer in (True, False, "raise") else answer
        for name, answer in zip(NAMES, answers, strict=True)
    }
    try:
        result = function(**arguments)
        if hasattr(result, "send"):
            result = drain(result, notes)
        return ("value", told(result), notes)
    except (
        KeyError,
        TypeError,
        AssertionError,
        NameError,
        ValueError,
        AttributeError,
        RuntimeError,
    ) as error:
        context = type(error.__context__).__name__
        return (
            type(error).__name__,
            told(error.args),
            notes,
            context,
            error.__suppress_context__,
            lines(error),
        )


def left_open(raw: RawEvents) -> int:
    """How many calls were entered and not left; none is left that was not entered."""
    depth = 0
    for kind, *_ in raw:
        depth += {Kind.ENTER: 1, Kind.LEAVE: -1}.get(kind, 0)
        assert depth >= 0
    return depth


def lines(error: BaseException) -> list[object]:
    """The frames of generated code in a traceback, with their lines."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.name, frame.lineno) for frame in frames if frame.filename.startswith("<generated")]


def drain(generator: object, notes: list[object]) -> object:
    """Run a generator to its end, sending and throwing into it on the way."""
    got: list[object] = []
    with suppress(StopIteration):
        got.append(told(next(generator)))
        got.append(told(generator.send("sent")))
        got.append(told(generator.throw(KeyError("thrown"))))
        while len(got) < 20:
            got.append(told(next(generator)))
    generator.close()
    return got


def made(source: str, name: str, notes: list[object], tell_lines: bool = True) -> FunctionType:
    """The function, with helpers that leave marks in `notes`, of lines in tracebacks only on request."""

    def f(*args: object, **kwargs: object) -> object:
        notes.append(("f", told(args), told(kwargs)))
        return args[0] if args else None

    def g() -> object:
        notes.append("g")
        raise KeyError("g")

    def h(value: object, times: int):
        for turn in range(times):
            notes.append(("h", turn))
            yield value

    namespace = {
        "f": f,
        "g": g,
        "h": h,
        "suppress": suppress,
        "lines": lines if tell_lines else type,
        "__name__": "generated",
    }
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec", dont_inherit=True), namespace)
    function = namespace["function"]
    assert isinstance(function, FunctionType)
    return function


_answers = st.lists(
    st.sampled_from([True, False, True, False, "raise", 0, 1, 2, None, "s"]),
    min_size=len(NAMES),
    max_size=len(NAMES),
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@THOROUGH
@given(functions(), _answers)
@example("def function(a, b, c, d):\n    return 0 if a else not (\n b and c)\n", [False, "raise", True, 1])
@example("def function(a, b, c, d):\n    assert (a < b <= c), f('message')\n", [False, True, True, 1])
@example("def function(a, b, c, d):\n    assert (\n a\n if a else\n (a == b))\n", [False, True, True, 1])
@example("def function(a, b, c, d):\n    return (not (not (a or b)))\n", [True, True, True, 1])
@example(
    "def function(a, b, c, d):\n    return [y for y in\n (a,)\n if (b == a)\n if y or a]\n",
    ["raise", True, True, 1],
)
def test_a_generated_function_behaves_the_same_instrumented(source, answers):
    try:
        compile(source, "<generated>", "exec")
    except SyntaxError:
        return  # `nonlocal x` after a walrus and the like
    runtime.install()
    plain_notes, unlined_notes, inert_notes, recorded_notes = [], [], [], []
    name = f"<generated {hash(source)}>"
    plain = run(made(source, name, plain_notes), answers, plain_notes)
    live = LiveCode(CompiledFiles())

    inert = made(source, name, inert_notes, tell_lines=False)
    assert live.hold(inert) == ""
    # Before Python 3.12 the line of a truth test that raises depends on the comparison compiled before it,
    # which is a call now; only a hook that records asks for the truth itself, on the right line.
    without = run(made(source, name, unlined_notes, tell_lines=False), answers, unlined_notes)
    assert run(inert, answers, inert_notes)[:5] == without[:5]

    recorded = made(source, name, recorded_notes)
    assert live.hold(recorded) == ""
    log = MarkLog()
    runtime.activate(log)
    try:
        outcome = run(recorded, answers, recorded_notes)
    finally:
        runtime.end_calls(0)
        runtime.deactivate()
    assert outcome == plain
    assert left_open(log.raw) == 0
    del linecache.cache[name]
