"""What each construct reports, event by event, in order."""

from __future__ import annotations

from recorded_code import Item

from qdqviz.record.instrument.values import Snapshot


def test_each_operand_of_a_test_is_reported_with_its_value_and_outcome(module, record):
    code = module("""
        def f(a, b, c):
            if a and not b or c:
                return 1
        """)
    assert record(code.f, 2, [], 0) == 1
    assert record.seen("TEST") == [("TEST", "a", True, 2), ("TEST", "b", False, SnapshotOf("list", ()))]
    assert record.site("a").kind == "and"
    assert record.site("b").negated
    assert record.site("b").kind == "not"
    assert record.site("b").context == "if"


def test_a_bool_needs_no_value_beside_its_outcome(module, record):
    code = module("def f(a):\n    return 1 if a else 2\n")
    record(code.f, True)
    assert record.seen("TEST") == [("TEST", "a", True)]


def test_a_comparison_is_reported_with_both_sides(module, record):
    code = module("""
        def f(a, b):
            if a.x == b:
                pass
            return a.x is not b
        """)
    record(code.f, Item("n", x=3), 4)
    assert record.seen("COMPARE") == [
        ("COMPARE", "a.x == b", False, 3, 4),
        ("COMPARE", "a.x is not b", True, 3, 4),
    ]
    assert record.site("a.x == b").operator == "=="
    assert record.site("a.x == b").names == ("a.x", "b")
    assert record.site("a.x is not b").context == "return"


def test_a_chain_reports_link_by_link_up_to_the_one_that_fails(module, record):
    code = module("def f(a, b, c):\n    if 0 <= a < b < c:\n        pass\n")
    record(code.f, 5, 5, 9)
    assert record.seen("COMPARE") == [("COMPARE", "0 <= a", True, 0, 5), ("COMPARE", "a < b", False, 5, 5)]
    first, second = record.site("0 <= a"), record.site("a < b")
    assert first.group == second.group
    assert (first.operator, second.operator) == ("<=", "<")


def test_and_or_in_value_position_report_values_and_never_ask_for_truth(module, record):
    code = module("def f(a, b):\n    x = a or b\n    return x\n")
    assert record(code.f, 0, "b") == "b"
    assert record.seen("VALUE") == [("VALUE", "a", None, 0), ("VALUE", "b", None, "b")]


def test_items_of_any_and_all_are_siblings(module, record):
    code = module("""
        def f(n, odd):
            return any([odd(n), n == 2, odd(n + 1)]) and all(odd(k) for k in (1, 2))
        """)
    record(code.f, 2, lambda k: k % 2 == 1)
    assert ("VALUE", "odd(n)", False, False) in record.seen()
    assert ("COMPARE", "n == 2", True, 2, 2) in record.seen()
    assert record.site("odd(n)").group == record.site("n == 2").group == record.site("odd(n + 1)").group
    assert record.site("odd(n)").kind == "any"
    assert record.site("odd(k)").kind == "all"


def test_all_arms_of_an_elif_chain_are_siblings_and_an_if_inside_else_is_not(module, record):
    code = module("""
        def f(n):
            if n == 1:
                pass
            elif n == 2:
                pass
            else:
                if n == 3:
                    pass
        """)
    record(code.f, 4)
    assert [event[1] for event in record.seen("COMPARE")] == ["n == 1", "n == 2", "n == 3"]
    assert record.site("n == 1").group == record.site("n == 2").group != record.site("n == 3").group
    assert record.site("n == 2").context == "elif"


def test_while_assert_ternary_and_filter_are_tests(module, record):
    code = module("""
        def f(n):
            while n.left:
                n.left = 0
            assert n.ok, "message"
            x = 1 if n.flag else 2
            return [y for y in (1, 2) if n.keep]
        """)
    record(code.f, Item("n", left=1, ok="yes", flag=None, keep=0))
    kinds = {text: record.site(text).kind for _, text, *_ in record.seen("TEST")}
    assert kinds == {"n.left": "while", "n.ok": "assert", "n.flag": "ternary", "n.keep": "comprehension"}


def test_a_match_reports_its_subject_its_guards_and_the_case_taken(module, record):
    code = module("""
        def f(n):
            match n:
                case 1 | 2:
                    return "low"
                case int() if n > 5:
                    return "high"
        """)
    record(code.f, 1)
    assert record.seen("VALUE", "CASE") == [("VALUE", "n", None, 1), ("CASE", "1 | 2", True)]
    record(code.f, 3)
    assert record.seen("VALUE", "COMPARE", "CASE") == [
        ("VALUE", "n", None, 3),
        ("COMPARE", "n > 5", False, 3, 5),
        ("CASE", "no case", False),
    ]
    assert record.site("no case").group == record.site("n > 5").group


def test_calls_are_brackets_with_how_and_with_what_they_were_left(module, record):
    code = module("""
        def helper(n):
            if n:
                return n + 1
        def f(n):
            helper(0)
            return helper(n)
        """)
    record(code.f, 1)
    assert record.seen("ENTER", "LEAVE") == [
        ("ENTER", "def f(n)", None),
        ("ENTER", "def helper(n)", None),
        ("LEAVE", "def helper(n)", None, "end", None),
        ("ENTER", "def helper(n)", None),
        ("LEAVE", "return n + 1", None, "return", 2),
        ("LEAVE", "return helper(n)", None, "return", 2),
    ]
    assert record.site("return helper(n)").calls == ("helper",)


def test_an_exception_leaves_calls_and_its_handler_says_what_and_where(module, record):
    code = module("""
        def helper(n):
            raise KeyError("no such node")
        def f(n):
            try:
                helper(n)
            except (KeyError, ValueError) as error:
                return 0
        """)
    record(code.f, 1)
    assert record.seen("EXIT", "ENTER", "LEAVE", "EXCEPT") == [
        ("ENTER", "def f(n)", None),
        ("ENTER", "def helper(n)", None),
        ("EXIT", 'raise KeyError("no such node")', None, "raise"),
        ("LEAVE", "def helper(n)", None, "raise", "KeyError"),
        (
            "EXCEPT",
            "except (KeyError, ValueError) as error",
            None,
            "KeyError",
            "no such node",
            f"{code.__file__}:3",
        ),
        ("LEAVE", "return 0", None, "return", 0),
    ]


def test_a_lambda_ended_by_an_exception_is_closed_before_its_handler(module, record):
    code = module("""
        def f(n):
            try:
                return (lambda k: k.missing)(n)
            except AttributeError:
                return (lambda k: k)(n)
        """)
    record(code.f, 1)
    assert [(event[0], *event[3:4]) for event in record.seen("ENTER", "LEAVE", "EXCEPT")] == [
        ("ENTER",),
        ("ENTER",),
        ("LEAVE", "raise"),
        ("EXCEPT", "AttributeError"),
        ("ENTER",),
        ("LEAVE", "return"),
        ("LEAVE", "return"),
    ]


def test_a_generators_call_is_open_only_while_it_runs(module, record):
    code = module("""
        def numbers():
            got = yield 1
            yield got
        def f():
            them = numbers()
            first = next(them)
            if first == 1:
                return them.send("sent")
        """)
    assert record(code.f) == "sent"
    told = [(event[0], *event[3:]) for event in record.seen("ENTER", "LEAVE", "COMPARE")]
    assert told == [
        ("ENTER",),
        ("ENTER",),
        ("LEAVE", "yield", 1),
        ("COMPARE", 1, 1),
        ("ENTER", "resumed"),
        ("LEAVE", "yield", "sent"),
        ("LEAVE", "return", "sent"),
    ]


def test_a_return_that_finally_overrules_is_reported_once(module, record):
    code = module("""
        def f():
            try:
                return 1
            finally:
                return 2
        """)
    assert record(code.f) == 2
    assert record.seen("LEAVE") == [("LEAVE", "return 2", None, "return", 2)]


def test_jumps_say_which(module, record):
    code = module("""
        def f():
            for n in (1, 2, 3):
                if n == 1:
                    continue
                break
        """)
    record(code.f)
    assert record.seen("EXIT") == [
        ("EXIT", "continue", None, "continue"),
        ("EXIT", "break", None, "break"),
    ]


def test_a_loop_reports_its_items_and_how_it_ended(module, record):
    code = module("""
        def f(how):
            for n in (1, 2):
                if how == "break" and n == 2:
                    break
                if how == "return":
                    return
                if how == "raise":
                    raise KeyError
        """)
    ends = {}
    for how in ("end", "break", "return"):
        record(code.f, how)
        ends[how] = [event[3:] for event in record.seen("LOOP")]
    try:
        record(code.f, "raise")
    except KeyError:
        ends["raise"] = [event[3:] for event in record.seen("LOOP")]
    assert ends == {
        "end": [(2, "end")],
        "break": [(2, "break")],
        "return": [(1, "return")],
        "raise": [(1, "left")],
    }


def test_containers_are_kept_as_they_were_and_everything_else_by_reference(module, record):
    code = module("""
        def f(items, table, node):
            if items:
                items.clear()
            if table:
                table["new"] = 1
            if node:
                pass
        """)
    node = Item("n")
    record(code.f, list(range(20)), {"a": [1], "b": (1, 2)}, node)
    (_, _, _, items), (_, _, _, table), (_, _, _, kept) = record.seen("TEST")
    assert (items.kind, items.length, items.items) == ("list", 20, ())  # many are told by their number
    assert table == SnapshotOf("dict", (("a", Snapshot("list", 1, ())), ("b", (1, 2))))
    assert kept is node


def test_a_site_says_where_its_names_were_bound_and_by_what(module, record):
    code = module("""
        def users_of(n):
            return []
        def f(n):
            users = users_of(n)
            found = False
            for user in users:
                found = True
            if found:
                return 1
            if not users:
                return 2
        """)
    assert record(code.f, 1) == 2
    users = record.site("users", "not")
    assert users.bound_by == ("users_of",)
    assert users.bound_at == (5,)
    assert record.site("found").bound_at == (6, 8)


def test_a_site_covers_its_expression_in_characters(module, record):
    code = module("def f(a):\n    if 'é' and a == 'ü':\n        pass\n")
    record(code.f, 1)
    site = record.site("a == 'ü'")
    assert (site.line, site.column, site.end_line, site.end_column) == (2, 15, 2, 23)
    assert (site.function, site.file) == ("f", code.__file__)


class SnapshotOf:
    """Equal to a snapshot of this kind with these items, all of them."""

    def __init__(self, kind: str, items: tuple) -> None:
        self.kind, self.items = kind, items

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Snapshot)
            and (other.kind, other.length) == (self.kind, len(self.items))
            and repr(other.items) == repr(self.items)
        )
