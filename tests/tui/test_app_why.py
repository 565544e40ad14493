import fakes
from driving import press, running, screen_text, type_text

from qdqviz.trace.model import PassError
from qdqviz.tui.model.place import Place


async def find(pilot, name):
    await press(pilot, "slash")
    await type_text(pilot, name)
    await press(pilot, "enter")


def name_of(pilot, node):
    return pilot.app.main.current().sight.after[node].name


async def test_w_asks_why_the_pass_left_the_selected_node_alone(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await find(pilot, "relu_2")
        await press(pilot, "w")
        text = screen_text(pilot.app)
        assert "DropRelu looked at relu_2 and left it alone." in text
        assert "`len(node.users) != 1` is true  tiny_program.py:30 in DropRelu.call" in text
        assert "other passes on this node" in text and "SwapAdds" in text
        assert pilot.app.focused.id == "details"


async def test_w_in_the_graph_asks_about_the_node_that_is_marked(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "2", "down", "w")
        main = pilot.app.main
        assert name_of(pilot, main.view.selected) == "add"
        assert "DropRelu looked at add and left it alone." in screen_text(pilot.app)


async def test_the_answer_follows_the_rewrite_and_the_selection(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "4")
        assert "DropRelu fired on relu: step 1." in screen_text(pilot.app)
        await press(pilot, "right")
        assert "DropRelu fired on relu_1: step 2." in screen_text(pilot.app)
        await press(pilot, "right")
        assert "SwapAdds fired on add: step 3." in screen_text(pilot.app)


async def test_a_node_in_an_answer_can_be_gone_to(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await find(pilot, "relu_2")
        await press(pilot, "w", "down", "down", "down", "enter")
        assert name_of(pilot, pilot.app.main.view.selected) == "neg"
        assert "DropRelu looked at neg" in screen_text(pilot.app)


async def test_enter_on_a_guard_leads_to_its_line_in_the_source(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await find(pilot, "relu_2")
        await press(pilot, "w", "down", "enter")
        main = pilot.app.main
        assert main.view.tab == "source"
        line = "".join(part.text for part in main.stage.details.lines[main.stage.details.cursor])
        assert "if len(node.users) != 1:" in line and "2 != 1 → true" in line
        assert "tiny_program.py" in screen_text(pilot.app)


async def test_the_source_leads_into_functions_that_were_called(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await find(pilot, "relu_2")
        await press(pilot, "7", "up", "up", "enter")
        details = pilot.app.main.stage.details
        line = "".join(part.text for part in details.lines[details.cursor])
        assert "def is_relu(node):" in line


async def test_the_row_of_what_was_declined_lists_guards_and_then_the_nodes_of_one(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "down", "down")
        assert pilot.app.main.view.place.kind == "declined"
        text = screen_text(pilot.app)
        assert (
            "7 nodes declined, those that got furthest first" in text and "1 × `len(node.users) != 1`" in text
        )
        await press(pilot, "4", "down", "down", "enter")
        text = screen_text(pilot.app)
        assert "1 node declined by" in text and "relu_2" in text and "4 ×" not in text
        await press(pilot, "down", "enter")
        assert "7 nodes declined, those that got furthest first" in screen_text(pilot.app)


async def test_another_pass_in_an_answer_can_be_gone_to(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await find(pilot, "relu_2")
        await press(pilot, "w")
        details = pilot.app.main.stage.details
        lines = ["".join(part.text for part in line) for line in details.lines]
        row = next(index for index, line in enumerate(lines) if "SwapAdds" in line)
        await press(pilot, *["down"] * row, "enter")
        place = pilot.app.main.view.place
        assert (place.kind, pilot.app.main.lists.runs[place.run].name) == ("run", "SwapAdds")
        text = screen_text(pilot.app)
        assert "SwapAdds looked at relu_2 and left it alone." in text and "around relu_2" in text


async def test_where_there_is_nothing_to_ask_about_the_pane_names_the_key_that_leads_on(tiny_path):
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "up", "up", "4")
        assert pilot.app.main.view.place == Place("start", 0)
        assert "pick a node, or go with ] to DropRelu" in screen_text(pilot.app)
        names = [run.label for run in pilot.app.main.lists.runs]
        await press(pilot, "right_square_bracket")
        assert names[pilot.app.main.view.place.run] == "DropRelu"
        await press(pilot, "left_square_bracket", "enter")
        assert names[pilot.app.main.view.place.run] == "DropRelu", "the name can be followed as well"


async def test_a_trace_in_which_nothing_happened_opens_at_the_pass_that_declined(tmp_path):
    async with running(fakes.write_idle_trace(tmp_path / "idle.qdqtrace"), (200, 60)) as pilot:
        assert pilot.app.main.view.place == Place("run", 0, 0)
        assert "HoistViews: nothing changed; 4 attempts, 4 declined" in screen_text(pilot.app)


async def test_where_all_passes_are_hidden_the_pane_names_the_key_that_shows_them(tmp_path):
    async with running(fakes.write_idle_trace(tmp_path / "idle.qdqtrace"), (200, 60)) as pilot:
        await press(pilot, "up", "z", "4")
        assert "pick a node; z shows the 2 passes that changed nothing" in screen_text(pilot.app)
        await press(pilot, "z")
        assert "go with ] to HoistViews" in screen_text(pilot.app)


async def test_a_trace_of_a_pass_that_raised_before_it_changed_anything_opens_there(tmp_path):
    error = PassError("KeyError", "'scale'", "passes.py", 31, "node.meta['scale']")
    async with running(fakes.write_idle_trace(tmp_path / "idle.qdqtrace", error=error), (200, 60)) as pilot:
        assert pilot.app.main.view.place == Place("run", 0, 1)
        assert "SinkViews raised KeyError: 'scale' (passes.py:31)" in screen_text(pilot.app)


async def test_a_trace_without_decisions_still_answers(small_path):
    async with running(small_path, (200, 60)) as pilot:
        await press(pilot, "4")
        assert "fired on quantize" in screen_text(pilot.app)
        await press(pilot, "7")
        assert "the source of this pass is not in the trace" in screen_text(pilot.app)


async def test_m_gives_a_pane_the_whole_screen_and_takes_it_back(tiny_path):
    async with running(tiny_path) as pilot:
        await press(pilot, "7", "m")
        main = pilot.app.main
        assert {pane.id for pane in main.stage.panes() if pane.display} == {"details"}
        assert main.stage.details.size.width == 120 and pilot.app.focused.id == "details"
        await press(pilot, "m")
        assert {pane.id for pane in main.stage.panes() if pane.display} >= {"steps", "left", "details"}
        assert pilot.app.focused.id == "details" and main.view.tab == "source"


async def test_m_keeps_the_pane_that_has_the_focus(tiny_path):
    async with running(tiny_path) as pilot:
        for key, pane in (("1", "steps"), ("2", "left"), ("3", "lanes")):
            await press(pilot, key, "m")
            assert {each.id for each in pilot.app.main.stage.panes() if each.display} == {pane}
            await press(pilot, "m")
            assert pilot.app.focused.id == pane
