import fakes
import pytest

from qdqviz.ir.change import Erase, Insert, Update
from qdqviz.ir.values import Ref, map_refs
from qdqviz.trace.reader import Trace
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.asking import Question
from qdqviz.tui.model.details.about_pass import pass_facts
from qdqviz.tui.model.details.about_why import why_facts
from qdqviz.tui.model.details.fact import lay_out
from qdqviz.tui.model.details.leads import ToGroup, ToLine, ToNode, ToPlace, ToStep
from qdqviz.tui.model.details.source_lines import BLOCKED, CALLS, RAN, source_lines
from qdqviz.tui.model.place import Place


@pytest.fixture(scope="module")
def archive(tiny_path):
    return Archive(Trace(tiny_path))


def node(archive, name, step=0):
    return archive.at(0, step).root.named(name).id


def run_of(archive, pass_):
    return next(run.id for run in archive.lists.runs if run.name == pass_)


def ask(archive, pass_, name=None, step=None):
    run = None if pass_ is None else run_of(archive, pass_)
    asked = None if name is None else node(archive, name)
    stages = list(archive.answer(Question(run, asked, "", step), lambda: False))
    return stages[-1], stages


def text_of(facts, columns=100):
    return ["".join(part.text for part in line).rstrip() for line in lay_out(facts, columns)]


def leads_of(facts):
    return {part.text.strip(): part.lead for fact in facts for part in fact.parts if part.lead is not None}


def test_the_pass_asked_about_is_answered_before_the_others(archive):
    _, stages = ask(archive, "DropRelu", "relu_2")
    assert [stage.is_whole for stage in stages] == [False, True]
    assert stages[0].why.verdict == stages[1].why.verdict == "declined"
    assert stages[0].others == () and [other.run for other in stages[1].others] == [
        run_of(archive, "SwapAdds")
    ]


def test_an_answer_that_is_no_longer_wanted_stops_between_passes(archive):
    question = Question(run_of(archive, "DropRelu"), node(archive, "relu_2"))
    assert len(list(archive.answer(question, lambda: True))) == 1


def test_a_declined_node_shows_the_guard_what_it_saw_and_what_it_had_passed(archive):
    answer, _ = ask(archive, "DropRelu", "relu_2")
    lines = text_of(why_facts(answer))
    assert lines[0] == "✗ DropRelu looked at relu_2 and left it alone."
    assert lines[1] == "✗ `len(node.users) != 1` is true  tiny_program.py:30 in DropRelu.call"
    assert lines[2].strip() == "len(node.users) = 2"
    assert lines[3].strip() == "node.users = [neg, mul_1]"
    assert lines[4:6] == ["it had passed", "✓ `is_relu(node)` is true  tiny_program.py:28"]
    assert lines[6] == "other passes on this node" and lines[7].startswith("✗ SwapAdds")


def test_places_nodes_and_passes_in_an_answer_lead_there(archive):
    answer, _ = ask(archive, "DropRelu", "relu_2")
    leads = leads_of(why_facts(answer))
    guard = leads["tiny_program.py:30"]
    assert isinstance(guard, ToLine) and guard.line == 30 and guard.guard.text == "len(node.users) != 1"
    assert leads["neg"] == ToNode(node(archive, "neg"), "")
    assert leads["SwapAdds"] == ToPlace(Place("run", 0, run_of(archive, "SwapAdds")))


def test_a_node_that_was_rewritten_leads_to_its_rewrite(archive):
    answer, _ = ask(archive, "DropRelu", "relu_1", step=2)
    facts = why_facts(answer)
    assert text_of(facts)[0] == "✓ DropRelu fired on relu_1: step 2."
    assert leads_of(facts)["step 2"] == ToStep(2)


def test_passes_that_ran_when_a_node_was_gone_are_only_counted(archive):
    answer, _ = ask(archive, "DropRelu", "relu_1", step=2)
    assert answer.others == () and answer.absent == 1
    assert "1 pass ran when this node was not in the graph" in text_of(why_facts(answer))[-1]


def test_without_a_pass_all_passes_are_asked(archive):
    answer, _ = ask(archive, None, "relu_2")
    lines = text_of(why_facts(answer))
    assert lines[0] == "what the passes did with relu_2" and lines[1] == "passes"
    assert [line.split()[:2] for line in lines[2:4]] == [["✗", "DropRelu"], ["✗", "SwapAdds"]]


def test_what_a_pass_declined_is_grouped_by_guard(archive):
    answer, _ = ask(archive, "DropRelu")
    facts = pass_facts(answer.why, None)
    lines = text_of(facts, 160)
    assert lines[1].startswith("7 nodes declined, those that got furthest first")
    assert lines[2].strip().split("  ")[0] == "1 × `len(node.users) != 1` is true"
    assert [line.strip()[0] for line in lines[2:5]] == ["1", "4", "2"]
    assert ToGroup(1) in leads_of(facts).values()


def test_the_nodes_of_one_guard_can_be_listed_alone(archive):
    answer, _ = ask(archive, "DropRelu")
    facts = pass_facts(answer.why, 1)
    nodes = [lead.node for lead in leads_of(facts).values() if isinstance(lead, ToNode)]
    assert sorted(nodes) == sorted(node(archive, name) for name in ("mul", "add", "neg", "mul_1"))
    assert leads_of(facts)["all guards"] == ToGroup(1)


def rows(answer, columns=100):
    listing = answer.listings[0]
    lines, start = source_lines(listing, columns)
    return ["".join(part.text for part in line).rstrip() for line in lines], start


def test_the_source_marks_what_ran_and_the_guard_that_turned_the_node_down(archive):
    answer, _ = ask(archive, "DropRelu", "relu_2")
    lines, start = rows(answer)
    by_number = {int(line.split()[0]): line for line in lines if line.split()[0].isdigit()}
    marks = {number: line[3] for number, line in by_number.items() if line[3:4].strip()}
    assert marks == {18: RAN, 19: RAN, 20: RAN, 27: RAN, 28: RAN, 30: BLOCKED, 31: RAN}
    assert lines[start] == by_number[30]
    assert by_number[30].endswith("2 != 1 → true") and by_number[27].endswith("relu_2")
    assert f"{CALLS} is_relu" in by_number[28]


def test_what_was_seen_stands_below_a_line_where_there_is_no_room_beside_it(archive):
    answer, _ = ask(archive, "DropRelu", "relu_2")
    lines, start = rows(answer, 40)
    assert "2 != 1" not in lines[start] and "2 != 1 → true" in lines[start + 1]


@pytest.mark.parametrize(("columns", "indents"), [(100, [0, 4, 8, 12, 16]), (40, [0, 1, 2, 3, 4])])
def test_code_is_indented_less_where_there_is_little_room(archive, columns, indents):
    answer, _ = ask(archive, "DropRelu", "relu_2")
    listing = answer.listings[0]
    lines, _ = source_lines(listing, columns)
    shown = [line[2].text for line in lines if line[0].text.strip().isdigit()]
    assert [text.strip() for text in shown] == [each.text.strip() for each in listing.lines]
    assert sorted({len(text) - len(text.lstrip()) for text in shown if text.strip()}) == indents


def test_a_rewrite_shows_the_way_that_it_took(archive):
    answer, _ = ask(archive, "DropRelu", "relu", step=1)
    listing = answer.listings[0]
    ran = {line.number for line in listing.lines if line.ran}
    assert {28, 30, 32, 33} <= ran and not ran & {29, 31, 34, 43}
    assert all(line.guard is None for line in listing.lines)
    assert answer.asked == "relu"


def test_a_pass_as_a_whole_shows_its_source_from_its_worst_guard(archive):
    answer, _ = ask(archive, "SwapAdds")
    assert answer.listings[0].name == "tiny_program.py"
    assert answer.listings[0].start in (38, 41)


def test_beside_the_rewrite_of_another_node_its_own_attempt_is_shown(archive):
    answer, _ = ask(archive, "DropRelu", "relu_2", step=1)
    assert answer.why.verdict == "declined" and answer.asked == "relu_2"


def test_a_node_that_has_another_name_at_the_step_that_one_looks_at_is_told_by_both(tmp_path):
    recorder = fakes.Recorder(tmp_path / "renamed.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    run = recorder.begin("Rename")
    old = recorder.node("aten_relu_default")
    renamed = Update("", old.id, "name", "aten_relu_default", "aten_relu_default_1")
    other = recorder.node("quantize")
    changes = [renamed, Update("", other.id, "args", other.args, (*other.args[:2], 0, *other.args[3:]))]
    recorder.writer.add_rewrite(0, run.id, changes, focus=other.id, name=other.name)
    recorder.end(run, fired=1)
    archive = Archive(Trace(recorder.close()))
    answer = next(archive.answer(Question(run.id, old.id, "", 1), lambda: True))
    assert (answer.name, answer.here) == ("aten_relu_default", "aten_relu_default_1")
    said = "at this step aten_relu_default is called aten_relu_default_1"
    assert said in text_of(why_facts(answer))
    assert not next(archive.answer(Question(run.id, other.id, "", 1), lambda: True)).here


def test_a_node_made_by_the_pass_goes_by_its_name_at_the_step_and_not_by_one_it_takes_over_later(tmp_path):
    recorder = fakes.Recorder(tmp_path / "taken_over.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    run = recorder.begin("Remake")
    old = recorder.node("aten_relu_default")
    made = recorder.new_node(old, old, recorder.node("output"), name="aten_relu_default_1")
    users = [
        Update("", user.id, "args", user.args, map_refs(user.args, lambda nid: Ref(made.id)))
        for user in recorder.writer.state(0).root
        if old.id in user.input_ids()
    ]
    recorder.writer.add_rewrite(0, run.id, [Insert("", made), *users, Erase("", old)], focus=old.id)
    other = recorder.node("quantize")
    later = Update("", other.id, "args", other.args, (*other.args[:2], 0, *other.args[3:]))
    recorder.writer.add_rewrite(0, run.id, [later], focus=other.id)
    taken = Update("", made.id, "name", "aten_relu_default_1", "aten_relu_default")
    recorder.writer.add_settling(0, run.id, [taken])
    recorder.end(run, fired=1)
    archive = Archive(Trace(recorder.close()))
    answer = next(archive.answer(Question(run.id, made.id, "", 1), lambda: True))
    assert (answer.name, answer.here) == ("aten_relu_default_1", "")
