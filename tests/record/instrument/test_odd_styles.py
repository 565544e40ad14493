"""The odd styles that passes are written in: each is seen, and each behaves as before."""

from __future__ import annotations

import ast
import asyncio
import functools

import pytest

from qdqviz.record.instrument.rewrite.module import rewrite


def seen_tests(record) -> list[str]:
    """Texts of the tests and comparisons, in order."""
    return [event[1] for event in record.seen("TEST", "COMPARE")]


def test_annotations_under_the_future_import_stay_as_they_are(module, record):
    code = module("""
        from __future__ import annotations
        def f(n: Unknown if True else Other) -> Missing:
            x: NotThere = n
            if x:
                return x
        """)
    assert record(code.f, 1) == 1
    assert code.f.__annotations__ == {"n": "Unknown if True else Other", "return": "Missing"}
    assert seen_tests(record) == ["x"]


def test_a_decorated_function_is_seen_through_its_wrappers(module, record):
    code = module("""
        import functools
        def twice(fn):
            @functools.wraps(fn)
            def wrapper(*args):
                if args:
                    return fn(*args) * 2
            return wrapper
        def plain(fn):
            def inner(*args):
                return fn(*args)
            return inner
        @twice
        @plain
        @functools.lru_cache
        def f(n):
            if n > 1:
                return n
        """)
    assert record(code.f, 3) == 6
    assert seen_tests(record) == ["args", "n > 1"]
    # The cache answers now: there is no decision to see.
    assert record(code.f, 3) == 6
    assert seen_tests(record) == ["args"]


def test_closures_made_before_the_recording_are_seen(module, record):
    code = module("""
        def maker(limit):
            def guard(n):
                nonlocal limit
                limit += 1
                return n if n > limit else None
            return guard
        GUARDS = {"low": [maker(1)], "high": [maker(10)]}
        def f(n):
            return [guards[0](n) for guards in GUARDS.values()]
        """)
    assert record(code.f, 5) == [5, None]
    assert seen_tests(record) == ["n > limit", "n > limit"]


def test_a_closure_that_only_a_local_variable_holds_is_seen(module, record):
    code = module("""
        def maker(limit):
            return lambda n: n > limit
        def f(guard, n):
            return guard(n) or maker(n)(0)
        """)
    guard = code.maker(3)
    assert record(code.f, guard, 5) is True
    assert seen_tests(record) == ["n > limit"]


def test_methods_of_all_kinds_are_seen(module, record):
    code = module("""
        import functools
        class Base:
            def call(self, n):
                if n is None:
                    return "base"
        class Pass(Base):
            __slots__ = ("_Pass__limit",)
            def __init__(self):
                self.__limit = 3
            @staticmethod
            def static(n):
                return True if n.real else False
            @classmethod
            def of(cls, n):
                return cls.static(n) and n > 0
            @property
            def limit(self):
                return self.__limit if self.__limit else 0
            def call(self, n):
                if not self.of(n) or self.__hidden(n):
                    return super().call(None)
                return super(Pass, self).call(n)
            def __hidden(self, n):
                return n >= self.limit
        """)
    instance = code.Pass()
    assert record(instance.call, 5) == "base"
    assert seen_tests(record) == [
        "n.real",
        "n > 0",
        "self.of(n)",
        "self.__limit",
        "n >= self.limit",
        "self.__hidden(n)",
        "n is None",
    ]


def test_a_class_inside_a_function_is_seen(module, record):
    code = module("""
        def f(n):
            class Local:
                flag = n or "default"
                def check(self):
                    return "yes" if self.flag == n else "no"
            return Local().check()
        """)
    assert record(code.f, 4) == "yes"
    assert seen_tests(record) == ["self.flag == n"]


def test_a_dataclass_and_its_generated_methods_keep_working(module, record):
    code = module("""
        from dataclasses import dataclass, field
        from typing import NamedTuple
        @dataclass(order=True)
        class Match:
            size: int
            names: list = field(default_factory=list)
            def __post_init__(self):
                assert self.size > 0
        class Pair(NamedTuple):
            a: int
            def big(self):
                return self.a > 5
        def f(n):
            return Match(n) < Match(n + 1) and Pair(n).big()
        """)
    assert record(code.f, 6) is True
    assert "self.size > 0" in seen_tests(record)
    assert "self.a > 5" in seen_tests(record)


def test_the_target_of_a_partial_is_seen(module, record):
    code = module("""
        import functools
        def check(limit, n):
            return n < limit
        below = functools.partial(check, 3)
        def f(n):
            return below(n)
        """)
    assert record(code.f, 1) is True
    assert seen_tests(record) == ["n < limit"]
    assert record(functools.partial(code.check, 9), 10) is False
    assert seen_tests(record) == ["n < limit"]


def test_recursion_over_users_is_seen_call_by_call(module, record):
    code = module("""
        def depth(n):
            if n == 0:
                return 0
            return 1 + depth(n - 1)
        """)
    assert record(code.depth, 3) == 3
    assert seen_tests(record) == ["n == 0"] * 4
    kinds = [event[0] for event in record.seen("ENTER", "LEAVE")]
    assert kinds == ["ENTER"] * 4 + ["LEAVE"] * 4


def test_lambdas_as_predicates_defaults_and_keys_are_seen(module, record):
    code = module("""
        is_even = lambda n: n % 2 == 0
        def f(numbers, key=lambda n: -n if n > 1 else n):
            return sorted(filter(is_even, numbers), key=key)
        """)
    assert record(code.f, [4, 1, 2]) == [4, 2]
    assert seen_tests(record) == ["n % 2 == 0"] * 3 + ["n > 1"] * 2


def test_a_helper_in_another_module_is_seen(module, record):
    helpers = module("def is_big(n):\n    'It is big.'\n    return n > 5\n")
    code = module("def f(n):\n    if helpers.is_big(n):\n        return 1\n", helpers=helpers)
    assert record(code.f, 9) == 1
    assert seen_tests(record) == ["n > 5", "helpers.is_big(n)"]
    assert record.site("helpers.is_big(n)").reason == "It is big."


def test_for_else_and_a_flag_tested_after_the_loop_are_seen(module, record):
    code = module("""
        def f(numbers):
            found = False
            for n in numbers:
                if n > 5:
                    found = True
                    break
            else:
                return "none"
            if found:
                return n
        """)
    assert record(code.f, [1, 7]) == 7
    assert seen_tests(record) == ["n > 5", "n > 5", "found"]
    assert record(code.f, [1]) == "none"


def test_coroutines_and_async_generators_run_as_before(module, record):
    code = module("""
        import asyncio
        async def numbers(n):
            for i in range(n):
                await asyncio.sleep(0)
                if i % 2:
                    yield i
        async def both(n):
            async with asyncio.Lock():
                return [i async for i in numbers(n) if i > 1], [await one(i) for i in (1, 2) if i]
        async def one(i):
            await asyncio.sleep(0)
            return i if i else None
        async def main(n):
            return await asyncio.gather(both(n), both(n + 2))
        """)
    expected = [([3], [1, 2]), ([3, 5], [1, 2])]
    assert asyncio.run(code.main(4)) == expected
    assert record(lambda n: asyncio.run(code.main(n)), 4) == expected
    assert {"i % 2", "i > 1", "i"} <= set(seen_tests(record))


def test_names_of_a_function_stay_the_same(module, record):
    code = module("""
        def f(a):
            for x in (1, 2):
                if x == a and (y := x):
                    pass
            work = [1]
            while work:
                z = work.pop()
            return sorted(locals())
        """)
    plain = code.f.__code__
    assert record(code.f, 1) == ["a", "work", "x", "y", "z"]
    assert code.f.__code__ is not plain
    assert code.f.__code__.co_varnames == plain.co_varnames


def test_restricted_globals_still_find_the_hooks(module, record):
    code = module("def f(n):\n    return 1 if n else 0\n")
    foreign = type(code.f)(code.f.__code__, {"__name__": code.__name__}, "f")
    assert record(foreign, 5) == 1
    assert seen_tests(record) == ["n"]


def test_except_star_and_nested_handlers_are_seen(module, record):
    code = module("""
        def f():
            try:
                raise ExceptionGroup("both", [KeyError("k"), TypeError("t")])
            except* KeyError:
                pass
            except* TypeError as group:
                return_value = group.exceptions[0].args
            try:
                raise ValueError
            except ValueError:
                try:
                    raise
                except ValueError as again:
                    return return_value, again.args
        """)
    assert record(code.f) == (("t",), ())
    assert [event[3] for event in record.seen("EXCEPT")] == [
        "ExceptionGroup",
        "ExceptionGroup",
        "ValueError",
        "ValueError",
    ]


def test_a_function_nested_too_deeply_is_left_alone_and_named(module, instrumenter):
    depth = 16
    lines = [f"{'    ' * (level + 1)}for i{level} in (1,):" for level in range(depth)]
    source = "def f():\n" + "\n".join(lines) + f"\n{'    ' * (depth + 1)}return 1\n"
    code = module(source)
    (missing,) = instrumenter.ensure(code.f)
    assert (missing.function, missing.line, missing.reason) == ("f", 1, "its blocks are nested too deeply")
    assert code.f() == 1


def test_the_implementation_of_an_op_is_no_pass_code(module, instrumenter):
    code = module("""
        def register_fake(name):
            return lambda fn: fn
        @register_fake("lib::op")
        def meta(x):
            return x if x else 1
        def f(x):
            return meta(x)
        """)
    plain = code.meta.__code__
    assert instrumenter.ensure(code.f) == []
    assert code.meta.__code__ is plain


@pytest.mark.parametrize("source", ["x = 3\n", "", "class A:\n    y = [i for i in (1, 2) if i]\n"])
def test_modules_without_functions_are_no_trouble(source):
    rewritten = rewrite(source, ast.parse(source), "file.py", 0)
    assert list(rewritten.sites) == []
    assert ast.unparse(rewritten.tree) == ast.unparse(ast.parse(source))
