"""A docstring is shown as the reason where the function that it belongs to gave the tested answer."""

from __future__ import annotations

import pytest

SOURCE = '''
        def users_of(node):
            """All users of a node."""
            return list(node.users)

        def single(users):
            """There is one user."""
            return len(users) == 1

        def plain(users):
            return len(users) == 1

        def first_user(node):
            """The first user that is a tanh."""
            for user in node.users:
                if user.target == torch.ops.aten.tanh.default:
                    return user
            return None

        def telling(function):
            @functools.wraps(function)
            def wrapper(*args):
                return function(*args)
            return wrapper

        @telling
        def wrapped(users):
            """Wrapped, there is one user."""
            return len(users) == 1

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    {}
                        replace(node)
'''


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("if single(users_of(node)):", "There is one user."),
        ("if single(users_of(node)) is True:", "There is one user."),
        ("if bool(single(node.users)):", "There is one user."),
        ("if found := first_user(node):", "The first user that is a tanh."),
        ("if first_user(node) is not None:", "The first user that is a tanh."),
        ("if wrapped(node.users):", "Wrapped, there is one user."),
        ("found = first_user(node)\n                    if found:", "The first user that is a tanh."),
    ],
)
def test_what_a_predicate_says_of_itself_is_the_reason(answer, test, reason):
    found = answer(SOURCE.format(test))
    assert found.chain[0].reason == reason
    assert found.guard.reason is None


@pytest.mark.parametrize(
    "test",
    [
        "if plain(users_of(node)):",
        "if len(users_of(node)) == 1:",
        "if len(users_of(node)) < 2:",
        "if 'tanh' in str(users_of(node)):",
        "if any(user.op == 'output' for user in users_of(node)):",
        "if not set(users_of(node)).difference(node.users).union(node.users):",
        "users = users_of(node)\n                    if len(users) == 1:",
        "users = users_of(node)\n                    if plain(users):",
        "users = list(node.users)\n                    users_of(node)\n                    if not users:",
    ],
)
def test_what_a_function_says_whose_result_was_not_tested_is_no_reason(answer, test):
    found = answer(SOURCE.format(test))
    assert found.verdict == "declined"
    assert [guard.reason for guard in found.chain] == [None] * len(found.chain)
    assert "All users" not in found.sentences[0]
