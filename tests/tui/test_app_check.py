import fakes
import pytest
from driving import press, running, screen_text, settle, trying, type_text

from qdqviz.live.intervention_file import read_interventions
from qdqviz.live.interventions import Force, Veto


def badges(pilot):
    main = pilot.app.main
    rows = main.stage.outline.outline.rows
    return {row.step: main.trials.badge(row)[0] for row in rows if row.kind == "step"}


def step(pilot):
    return pilot.app.main.view.place.step


def notices(pilot):
    return " | ".join(notice.message for notice in pilot.app._notifications)


async def go_to_node(pilot, name):
    await press(pilot, "slash")
    await type_text(pilot, name)
    await press(pilot, "enter")


async def test_every_rewrite_gets_a_badge_and_passes_get_their_worst(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        assert badges(pilot) == {1: "✓", 2: "≠", 3: "✓"}
        text = screen_text(pilot.app)
        assert "≠ ▾ DropRelu" in text and "✓ ▾ SwapAdds" in text and "≠ 2 remove relu_1" in text


async def test_a_recording_ends_at_its_first_rewrite(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        assert step(pilot) == 1


async def test_the_check_tab_says_how_a_rewrite_differs_and_lists_the_worst_first(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        await press(pilot, "8")
        text = screen_text(pilot.app)
        assert "✓ this rewrite: equal" in text and "3 checked, 2 equal" in text
        assert "≠ 2 remove relu_1  wrong, up to 2" in text
        await press(pilot, "right")
        text = screen_text(pilot.app)
        assert "≠ this rewrite: differs (wrong)" in text and "up to 2" in text and "x into add at [0]" in text


async def test_a_listed_rewrite_can_be_gone_to(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        await press(pilot, "8")
        lines = ["".join(part.text for part in line) for line in pilot.app.main.stage.details.lines]
        row = next(index for index, line in enumerate(lines) if "remove relu_1" in line)
        await press(pilot, *["down"] * row, "enter")
        assert step(pilot) == 2


async def test_a_pass_as_a_whole_says_what_became_of_the_outputs(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        await press(pilot, "8", "left_square_bracket")
        text = screen_text(pilot.app)
        assert "outputs after this pass: differs (wrong)" in text and "outputs since the start" in text


async def test_a_vetoed_node_is_skipped_and_what_that_changes_is_said(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        main = pilot.app.main
        await press(pilot, "right", "x")
        assert main.trials.trial.interventions == (Veto("DropRelu", "relu_1"),)
        assert main.trials.trial.differences == [("DropRelu", 2, 1)]
        assert badges(pilot) == {1: "✓", 2: "✓"}
        assert "veto DropRelu at relu_1; rewrites: DropRelu 2 → 1" in notices(pilot)
        await press(pilot, "8")
        text = screen_text(pilot.app)
        assert "tried out" in text and "DropRelu  2 → 1 rewrites" in text


async def test_undo_takes_the_last_intervention_back(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        await press(pilot, "x")
        assert badges(pilot) == {1: "≠", 2: "✓"}
        await press(pilot, "u")
        assert badges(pilot) == {1: "✓", 2: "≠", 3: "✓"}
        assert pilot.app.main.trials.trial.interventions == ()
        await press(pilot, "u")
        assert "nothing is tried out" in notices(pilot)


async def test_one_stays_at_the_same_rewrite_where_the_other_run_has_it(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        main = pilot.app.main
        await go_to_node(pilot, "relu_2")
        await press(pilot, "right", "F")
        assert main.lists.steps == 4 and step(pilot) == 2
        await press(pilot, "right", "u")
        place = main.view.place
        assert (place.kind, main.lists.runs[place.run].name) == ("run", "DropRelu")


async def test_the_guard_that_turned_a_node_down_can_be_forced(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        main = pilot.app.main
        await go_to_node(pilot, "relu_2")
        await press(pilot, "w", "F")
        forced = Force("DropRelu", "relu_2", 30, 15, "", "tiny_program.py", False)
        assert main.trials.trial.interventions == (forced,)
        assert main.trials.trial.differences == [("DropRelu", 2, 3)]
        assert badges(pilot) == {1: "✓", 2: "≠", 3: "✓", 4: "✓"}


async def test_the_guard_under_the_cursor_is_the_one_that_is_forced(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        main = pilot.app.main
        await press(pilot, "right")
        await go_to_node(pilot, "relu_2")
        await press(pilot, "w")
        lines = ["".join(part.text for part in line) for line in main.stage.details.lines]
        row = next(index for index, line in enumerate(lines) if "is_relu(node)" in line)
        await press(pilot, *["down"] * row, "F")
        (forced,) = main.trials.trial.interventions
        assert (forced.line, forced.outcome) == (28, False)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("up", "up", "x"), "go to a rewrite first, or to a pass and select a node"),
        (("left_square_bracket", "x"), "select a node of the graph first"),
        (("F",), "DropRelu was not kept from relu by any test: there is nothing to force"),
    ],
)
async def test_what_cannot_be_tried_is_said_in_one_line(tiny_session, tmp_path, keys, said):
    async with trying(tiny_session, tmp_path) as pilot:
        await press(pilot, *keys)
        assert said in notices(pilot) and pilot.app.main.trials.trial.interventions == ()


async def test_interventions_are_listed_taken_back_and_kept_in_a_file(tiny_session, tmp_path):
    file = tmp_path / "kept.toml"
    async with trying(tiny_session, tmp_path) as pilot:
        main = pilot.app.main
        await press(pilot, "i")
        assert "nothing is tried out" in screen_text(pilot.app)
        await press(pilot, "escape", "x", "right", "right")
        await go_to_node(pilot, "relu_2")
        await press(pilot, "x", "i")
        text = screen_text(pilot.app)
        assert "veto DropRelu at relu" in text and "veto SwapAdds at relu_2" in text
        await press(pilot, "s")
        pilot.app.screen.line.value = str(file)
        await press(pilot, "enter")
        assert read_interventions(file) == main.trials.trial.interventions
        await press(pilot, "i", "enter")
        assert main.trials.trial.interventions == (Veto("SwapAdds", "relu_2"),)


async def test_an_intervention_that_meets_nothing_changes_nothing_and_says_so(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        main = pilot.app.main
        main.trials.run_with([Veto("DropRelu", "nothing")])
        await settle(pilot)
        assert "DropRelu did not look at nothing: it looked at" in notices(pilot)
        assert main.trials.trial.interventions == () and badges(pilot) == {1: "✓", 2: "≠", 3: "✓"}


async def test_bisection_goes_to_the_first_rewrite_that_breaks_the_outputs(tiny_session, tmp_path):
    async with trying(tiny_session, tmp_path) as pilot:
        await press(pilot, "b")
        assert step(pilot) == 2
        assert "step 2 is the first that breaks the outputs: differs (wrong); 4 runs" in notices(pilot)


async def test_the_program_is_written_as_it_is_at_the_rewrite(tiny_session, tmp_path):
    file = tmp_path / "here.py"
    async with trying(tiny_session, tmp_path) as pilot:
        await press(pilot, "e")
        pilot.app.screen.line.value = str(file)
        await press(pilot, "enter")
        assert file.read_text().count("ops.aten.relu.default") == 2
        assert f"wrote {file}" in notices(pilot)


async def test_a_trace_alone_is_linted_but_neither_run_nor_vetoed(tiny_path, tmp_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "8")
        text = screen_text(pilot.app)
        assert "a trace alone cannot be run: open the target with its passes" in text
        assert "no faults in metadata" in text
        for key in ("x", "F", "u", "b"):
            await press(pilot, key)
        assert notices(pilot).count("a trace alone cannot be run") >= 1
        await press(pilot, "e")
        pilot.app.screen.line.value = str(tmp_path / "p.pte")
        await press(pilot, "enter")
        assert "a trace alone cannot be run" in screen_text(pilot.app)


async def test_faults_in_metadata_are_marked_and_explained(tmp_path):
    async with running(fakes.write_faulty_trace(tmp_path / "f.qdqtrace"), (200, 60)) as pilot:
        assert "!  1" not in screen_text(pilot.app)
        await press(pilot, "8")
        text = screen_text(pilot.app)
        assert badges(pilot) == {1: "!"} and "! 1 " in text
        assert "lost-debug-handle: slice_tensor" in text and "should be" in text
