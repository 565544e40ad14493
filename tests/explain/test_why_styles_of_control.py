"""A private pass in a user's file with odd loops, exits and flags is answered all the same."""

from __future__ import annotations

import pytest
from why_recording import seen, texts


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


def test_an_exception_that_a_helper_raises_for_its_caller_is_gone_into(answer):
    found = answer("""
        class Skip(Exception):
            pass

        class Private(PassBase):
            def require(self, condition, why):
                if not condition:
                    raise Skip(why)

            def one(self, node):
                self.require(node.target == RELU, "no relu")
                self.require(len(node.users) == 1, "several users")
                replace(node)

            def call(self, gm):
                for node in gm.graph.nodes:
                    try:
                        self.one(node)
                    except Skip as why:
                        self.last = str(why)
    """)
    assert found.verdict == "declined"
    assert texts(found) == ["except Skip as why", "condition", "len(node.users) == 1"]
    assert found.chain[0].values[1].value == "'several users'"
    assert "left it alone: “several users”; `len(node.users) == 1` is false" in found.sentences[0]


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


@pytest.mark.parametrize(
    ("kind", "take", "visited"),
    [
        ("deque", "popleft()", ["neg_default"]),
        ("deque", "pop()", ["sigmoid_default"]),
        ("list", "pop(0)", ["neg_default"]),
        ("set", "pop()", []),
    ],
)
def test_what_a_worklist_handed_out_is_named(answer, kind, take, visited):
    found = answer(f"""
        from collections import deque

        class Private(PassBase):
            def feeds_tanhs(self, start):
                work = {kind}(start.users)
                while work:
                    current = work.{take}
                    if current.target != torch.ops.aten.tanh.default:
                        return False
                return True

            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and self.feeds_tanhs(node):
                        replace(node)
    """)
    assert texts(found) == [
        "self.feeds_tanhs(node)",
        "current.target != torch.ops.aten.tanh.default",
    ]
    assert [node.name for node in found.guard.nodes] == visited


@pytest.mark.parametrize(
    ("put", "take", "visited"),
    [
        ("extend(current.users)", "pop(0)", ["neg_default", "sigmoid_default", "add_tensor", "add_tensor_1"]),
        ("extend(current.users)", "pop()", ["sigmoid_default", "add_tensor", "add_tensor_1"]),
        ("append(next(iter(current.users)))", "pop(0)", ["neg_default", "sigmoid_default", "add_tensor"]),
        ("extend(pick(current))", "pop()", ["sigmoid_default", "add_tensor", "add_tensor_1"]),
        ("extend(user for user in current.users)", "pop()", ["sigmoid_default"]),
    ],
)
def test_what_was_put_into_a_worklist_on_the_way_is_named_as_far_as_it_is_known(answer, put, take, visited):
    found = answer(f"""
        def pick(node):
            return [user for user in node.users]

        class Private(PassBase):
            def reaches_tanh(self, start):
                work = list(start.users)
                while work:
                    current = work.{take}
                    if current.target == torch.ops.aten.tanh.default:
                        return True
                    if current.op != "output":
                        work.{put}
                return False

            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and self.reaches_tanh(node):
                        replace(node)
    """)
    rounds = (*found.guard.siblings, found.guard)
    named = [[node.name for node in guard.nodes] for guard in rounds]
    # Nothing is better than a wrong name.
    assert [names[0] for names in named if names][: len(visited)] == visited
    if "for" in put:
        assert [names for names in named[1:] if names] == []


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


@pytest.mark.parametrize(
    "note",
    [
        "self.seen.append(node.name)",
        'self.seen.append((node.name, f"{node.target} is left"))',
        "self.seen.append(str(node))",
        "self.count += 1",
        "self.counts[node.name] = self.counts.get(node.name, 0) + 1",
        'self.counts[node.name] = "too many users"',
        'logger.info("left %s", node)',
        'self.tell("left", node)',
        'warnings.warn("left")',
        "self.last = node.name",
    ],
)
def test_a_guard_that_writes_a_note_before_it_goes_on_is_the_guard(answer, note):
    found = answer(f"""
        import logging, warnings
        logger = logging.getLogger("private")

        class Private(PassBase):
            def __init__(self):
                self.seen, self.count, self.counts = [], 0, {{}}
            def tell(self, *args):
                logger.info(args)
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    if len(node.users) != 1:
                        {note}
                        continue
                    replace(node)
    """)
    assert texts(found) == ["len(node.users) != 1"]
    assert found.note == ""


@pytest.mark.parametrize(
    ("keep", "take"),
    [
        ("self.later.append(node)", "for node in self.later:"),
        ("self.later.append(node.name)", "for node in [n for n in gm.graph.nodes if n.name in self.later]:"),
        ("self.put(node)", "for node in self.later:"),
    ],
)
def test_a_guard_that_keeps_the_node_for_later_is_no_guard(answer, keep, take):
    found = answer(f"""
        class Private(PassBase):
            def put(self, node):
                self.later.append(node)
            def call(self, gm):
                self.later = []
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    if len(node.users) != 1:
                        {keep}
                        continue
                    replace(node)
                {take}
                    if node.args[0].op != "placeholder":
                        replace(node)
    """)
    assert texts(found) == ['node.args[0].op != "placeholder"']


@pytest.mark.parametrize(
    "loop",
    [
        "for node in (n for n in gm.graph.nodes if n.target in (RELU,)):",
        "wanted = (n for n in gm.graph.nodes if n.target in (RELU,))\n                for node in wanted:",
    ],
)
def test_a_generator_expression_hands_the_node_to_the_loop_that_turns_it_down(answer, loop):
    source = f"""
        class Private(PassBase):
            def call(self, gm):
                {loop}
                    if len(node.users) != 1:
                        continue
                    replace(node)
    """
    found = answer(source)
    assert (found.verdict, texts(found)) == ("declined", ["len(node.users) != 1"])
    dropped = answer(source, "sigmoid_default")
    assert (dropped.reason, texts(dropped)) == ("filtered", ["n.target in (RELU,)"])
