"""A private pass in a user's file whose predicates are written in odd styles is answered all the same."""

from __future__ import annotations

from why_private_pass import graph, private_module
from why_recording import seen, texts

from qdqviz.explain.why import why
from qdqviz.record.api import record, record_pass


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


def test_a_pass_as_a_plain_function_is_answered_too(answer, tmp_path):
    module = private_module(
        tmp_path,
        "private_pass",
        """
        def fuse(gm):
            for node in gm.graph.nodes:
                if node.target == RELU and predicates.has_one_user(node):
                    replace(node)
        """,
    )
    with record(tmp_path / "t.qdqtrace") as recording:
        record_pass(module.fuse)(graph())
    found = why(recording.trace(), "fuse", "relu_default")
    assert texts(found) == ["predicates.has_one_user(node)", "len(node.users) == 1"]
