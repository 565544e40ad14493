"""A private pass in a user's file, in the odd styles that people write: each is answered all the same."""

from __future__ import annotations

import importlib.util
import sys
import textwrap

import pytest
import torch
from why_recording import aten_graph, recorded, seen, texts

from qdqviz.explain.why import why

HELPER = '''
"""Predicates of a private pass."""
import torch


def has_one_user(node):
    """It has one user."""
    return len(node.users) == 1


def is_relu(node):
    """It is a relu."""
    return node.op == "call_function" and node.target == torch.ops.aten.relu.default
'''

HEADER = """
import functools
import torch
import private_predicates as predicates
from torch.fx.passes.infra.pass_base import PassBase, PassResult

RELU = torch.ops.aten.relu.default
NEG = torch.ops.aten.neg.default


def replace(node):
    with node.graph.inserting_after(node):
        new = node.graph.call_function(NEG, node.args)
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)
"""


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """answer(source, node) -> why the pass `Private` of a user's file left a node of a small graph alone."""
    (tmp_path / "private_predicates.py").write_text(HELPER)
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(source: str, node: str = "relu_default"):
        path = tmp_path / "private_pass.py"
        path.write_text(HEADER + textwrap.dedent(source))
        spec = importlib.util.spec_from_file_location("private_pass", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "private_pass", module)
        spec.loader.exec_module(module)
        return why(recorded(module.Private(), graph()), "Private", node)

    yield call
    sys.modules.pop("private_predicates", None)


def graph() -> torch.fx.GraphModule:
    """relu(x) has two users, neg and sigmoid; their sum is doubled by an add with itself."""
    aten = torch.ops.aten

    def build(g, x):
        relu = g.call_function(aten.relu.default, (x,))
        neg = g.call_function(aten.neg.default, (relu,))
        sigmoid = g.call_function(aten.sigmoid.default, (relu,))
        total = g.call_function(aten.add.Tensor, (neg, sigmoid))
        return g.call_function(aten.add.Tensor, (total, total))

    return aten_graph(build, x=torch.randn(2, 3))


def test_a_predicate_in_another_module_is_gone_into_and_says_its_docstring(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if predicates.is_relu(node) and predicates.has_one_user(node):
                        replace(node)
    """)
    assert found.verdict == "declined"
    assert texts(found) == ["predicates.has_one_user(node)", "len(node.users) == 1"]
    assert found.chain[0].reason == "It has one user."
    assert found.guard.file.endswith("private_predicates.py")
    assert seen(found)["len(node.users)"] == "2"


def test_nested_functions_are_followed(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                def fits(node):
                    def single(users):
                        return len(users) == 1
                    return single(node.users)
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    if fits(node):
                        replace(node)
    """)
    assert texts(found) == ["fits(node)", "single(node.users)", "len(users) == 1"]
    assert found.guard.function == "Private.call.<locals>.fits.<locals>.single"


def test_decorated_helpers_are_followed_through_the_wrapper(answer):
    found = answer("""
        def negated(predicate):
            @functools.wraps(predicate)
            def wrapper(*args):
                return not predicate(*args)
            return wrapper

        @negated
        def is_shared(node):
            return len(node.users) > 1

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and is_shared(node):
                        replace(node)
    """)
    assert found.guard.text == "len(node.users) > 1"
    assert seen(found)["len(node.users)"] == "2"


def test_a_generator_that_feeds_the_loop_is_where_the_node_was_dropped(answer):
    source = """
        class Private(PassBase):
            def candidates(self, graph):
                for node in graph.nodes:
                    if node.target == RELU:
                        if len(node.users) != 1:
                            continue
                        yield node
            def call(self, gm):
                for node in self.candidates(gm.graph):
                    if node.args[0].op == "placeholder":
                        replace(node)
    """
    found = answer(source)
    assert texts(found) == ["len(node.users) != 1"]
    assert found.guard.function == "Private.candidates"


def test_what_a_generator_let_through_is_turned_down_in_the_loop(answer):
    found = answer("""
        class Private(PassBase):
            def candidates(self, graph):
                for node in graph.nodes:
                    if node.target == RELU:
                        yield node
            def call(self, gm):
                for node in self.candidates(gm.graph):
                    if node.args[0].op != "placeholder":
                        replace(node)
    """)
    assert texts(found) == ['node.args[0].op != "placeholder"']
    assert found.guard.function == "Private.call"
    assert [guard.text for guard in found.passed] == ["node.target == RELU"]


def test_a_class_with_slots_keeps_its_state_out_of_the_way(answer):
    found = answer("""
        class Limits:
            __slots__ = ("most",)
            def __init__(self, most):
                self.most = most
            def exceeded(self, node):
                return len(node.users) > self.most

        class Private(PassBase):
            def __init__(self):
                super().__init__()
                self.limits = Limits(1)
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and not self.limits.exceeded(node):
                        replace(node)
    """)
    assert texts(found) == ["self.limits.exceeded(node)", "len(node.users) > self.most"]
    assert seen(found)["self.most"] == "1"


def test_an_early_return_from_a_loop_is_where_a_helper_decided(answer):
    found = answer("""
        class Private(PassBase):
            def all_plain(self, node):
                for user in node.users:
                    if user.target == torch.ops.aten.sigmoid.default:
                        return False
                return True
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and self.all_plain(node):
                        replace(node)
    """)
    assert texts(found) == ["self.all_plain(node)", "user.target == torch.ops.aten.sigmoid.default"]
    assert "sigmoid_default" in {node.name for node in found.guard.nodes}


def test_a_loop_with_an_else_that_found_nothing_shows_every_round(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    for user in node.users:
                        if user.target == torch.ops.aten.tanh.default:
                            break
                    else:
                        continue
                    replace(node)
    """)
    assert found.guard.text == "user.target == torch.ops.aten.tanh.default"
    rounds = [{s.text: s.value for s in guard.values} for guard in (*found.guard.siblings, found.guard)]
    assert [each["user.target"] for each in rounds] == ["aten.neg.default", "aten.sigmoid.default"]


def test_a_guard_that_raises_into_a_handler_is_told_with_the_exception(answer):
    found = answer("""
        class Private(PassBase):
            def scale_of(self, node):
                return node.meta["scale"]
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    try:
                        scale = self.scale_of(node)
                    except KeyError:
                        continue
                    replace(node)
    """)
    assert found.verdict == "declined"
    assert found.guard.text == "except KeyError"
    assert seen(found)["exception"] == "'KeyError'"
    assert seen(found)["message"] == "'scale'"


def test_a_helper_that_raises_on_purpose_is_gone_into(answer):
    found = answer("""
        class Private(PassBase):
            def check(self, node):
                if len(node.users) != 1:
                    raise ValueError("shared")
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    try:
                        self.check(node)
                    except ValueError:
                        continue
                    replace(node)
    """)
    assert texts(found) == ["except ValueError", "len(node.users) != 1"]


def test_a_worklist_with_two_phases_is_answered_from_the_phase_that_got_further(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                work = [n for n in gm.graph.nodes if n.target == RELU]
                later = []
                while work:
                    node = work.pop()
                    if node.args[0].op == "get_attr":
                        continue
                    later.append(node)
                while later:
                    node = later.pop()
                    if len(node.users) == 1:
                        replace(node)
    """)
    assert texts(found) == ["len(node.users) == 1"]
    assert len(found.attempts) > 1


def test_a_lambda_predicate_is_gone_into(answer):
    found = answer("""
        single = lambda node: len(node.users) == 1

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and single(node):
                        replace(node)
    """)
    assert texts(found) == ["single(node)", "len(node.users) == 1"]


def test_a_partial_is_gone_into(answer):
    found = answer("""
        def at_most(most, node):
            return len(node.users) <= most

        single = functools.partial(at_most, 1)

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and single(node):
                        replace(node)
    """)
    assert texts(found) == ["single(node)", "len(node.users) <= most"]
    assert seen(found)["most"] == "1"


def test_recursion_over_users_ends_at_the_user_that_decided(answer):
    found = answer(
        """
        class Private(PassBase):
            def reaches_output_alone(self, node):
                if node.op == "output":
                    return True
                if len(node.users) != 1:
                    return False
                return all(self.reaches_output_alone(user) for user in node.users)
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == torch.ops.aten.sigmoid.default:
                        if self.reaches_output_alone(node.args[0]):
                            replace(node)
    """,
        "sigmoid_default",
    )
    assert found.guard.text == "len(node.users) != 1"
    assert {node.name for node in found.guard.nodes} >= {"neg_default", "sigmoid_default"}


def test_recursion_goes_down_to_the_level_that_failed(answer):
    found = answer("""
        class Private(PassBase):
            def is_simple(self, node, depth=0):
                if node.op == "output":
                    return False
                return all(self.is_simple(user, depth + 1) for user in node.users)
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and self.is_simple(node):
                        replace(node)
    """)
    assert found.guard.text == 'node.op == "output"'
    assert {node.name for node in found.guard.nodes} == {"output"}
    assert len(found.chain) > 4


def test_a_result_cached_by_lru_cache_shows_no_decision_the_second_time(answer):
    found = answer(
        """
        @functools.lru_cache(maxsize=None)
        def allowed(target):
            return target == torch.ops.aten.tanh.default

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.op == "call_function" and allowed(node.target):
                        replace(node)
    """,
        "add_tensor_1",
    )
    assert texts(found) == ["allowed(node.target)"]
    assert seen(found)["node.target"] == "aten.add.Tensor"


def test_a_flag_set_in_a_loop_and_tested_after_it_leads_to_the_test_that_set_it(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    ok = True
                    for user in node.users:
                        if user.target == torch.ops.aten.neg.default:
                            ok = False
                    if not ok:
                        continue
                    replace(node)
    """)
    assert texts(found) == ["ok", "user.target == torch.ops.aten.neg.default"]
    assert {node.name for node in found.guard.nodes} == {"neg_default"}


def test_a_flag_that_nothing_set_leads_to_the_tests_that_kept_it_from_being_set(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    found = False
                    for user in node.users:
                        if user.target == torch.ops.aten.tanh.default:
                            found = True
                    if found:
                        replace(node)
    """)
    assert texts(found) == ["found", "user.target == torch.ops.aten.tanh.default"]
    assert len(found.guard.siblings) == 1


def test_a_match_statement_tells_what_it_looked_at(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    match node.op, len(node.users):
                        case "call_function", 1:
                            if node.target == RELU:
                                replace(node)
    """)
    assert found.guard.kind == "match"
    assert seen(found)["node.op, len(node.users)"] == "('call_function', 2)"


def test_a_pass_as_a_plain_function_is_answered_too(answer, tmp_path):
    from qdqviz.record.api import record, record_pass

    path = tmp_path / "plain.py"
    path.write_text(
        HEADER
        + textwrap.dedent("""
        def fuse(gm):
            for node in gm.graph.nodes:
                if node.target == RELU and predicates.has_one_user(node):
                    replace(node)
    """)
    )
    spec = importlib.util.spec_from_file_location("plain", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain"] = module
    spec.loader.exec_module(module)
    with record(tmp_path / "t.qdqtrace") as recording:
        record_pass(module.fuse)(graph())
    found = why(recording.trace(), "fuse", "relu_default")
    assert texts(found) == ["predicates.has_one_user(node)", "len(node.users) == 1"]
