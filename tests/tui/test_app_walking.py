import pytest
from driving import press, running, screen_text, settle, type_text

from qdqviz.tui.model.place import Place
from qdqviz.tui.model.window import Window


def place(pilot):
    return pilot.app.main.view.place


async def test_it_opens_at_the_first_rewrite(small_path):
    async with running(small_path) as pilot:
        assert place(pilot) == Place("step", 0, 2, 1)
        text = screen_text(pilot.app)
        assert "step 1/5 · rewrite 1 of pass 2/5" in text
        assert "Moved quantize above slice_tensor" in text
        assert "quantize above slice_ten" in text and "peak 8 KiB" in text


async def test_arrows_and_vi_keys_step_through_the_rewrites(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "right", "l")
        assert place(pilot).step == 3
        await press(pilot, "left", "h", "left")
        assert place(pilot).step == 1
        await press(pilot, "G")
        assert place(pilot).step == 5
        await press(pilot, "right", "g")
        assert place(pilot).step == 1


async def test_what_a_rewrite_is_about_is_in_view_also_where_one_state_was_shown_before(small_path):
    async with running(small_path, (200, 60)) as pilot:
        stage = pilot.app.main.stage
        await press(pilot, "left_square_bracket", "left_square_bracket", "2", "less_than_sign", "right")
        cells = stage.scene.cells["union"]
        about = [cells.rects[box.id] for box in stage.scene.picture.boxes if box.focus]
        assert about and all(
            pane.window.shows_all_of(rect) for pane in (stage.left, stage.right) for rect in about
        )


async def test_where_one_looks_around_a_node_the_pane_says_so_and_how_to_get_back(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "2", "down", "enter")
        assert "around slice_tensor · esc goes back" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert "esc goes back" not in screen_text(pilot.app)


async def test_a_selection_that_the_next_picture_does_not_show_is_dropped(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "minus", "slash")
        await type_text(pilot, "permute")
        await press(pilot, "enter")
        selected = main.view.selected
        assert main.current().sight.after[selected].name == "aten_permute_copy_default"
        await press(pilot, "right")
        assert main.view.selected == selected
        await press(pilot, "right")
        assert main.view.selected is None
        assert main.node() != selected and "view" in main.current().sight.sentence


async def test_brackets_go_from_pass_to_pass(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "right_square_bracket")
        assert place(pilot) == Place("run", 0, 3)
        assert "FuseCascadedViewOps: 1 rewrite; 3 attempts, 2 declined" in screen_text(pilot.app)
        await press(pilot, "left_square_bracket", "left_square_bracket")
        assert place(pilot) == Place("run", 0, 1)
        await press(pilot, "right")
        assert place(pilot).step == 1


async def test_moving_in_the_list_goes_to_every_row(small_path):
    async with running(small_path) as pilot:
        kinds = []
        await pilot.press(*["up"] * 8)
        await settle(pilot)
        for _ in range(17):
            kinds.append(place(pilot).kind)
            await press(pilot, "down")
        assert kinds.count("step") == 5 and kinds[0] == "start" and kinds[-2:] == ["error", "declined"]


async def test_a_pass_that_raised_says_so_in_the_status_line(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "G", "left_square_bracket")
        assert "RemoveRelu raised KeyError: 'quant_min' (passes.py:31)" in screen_text(pilot.app)
        assert pilot.app.main.stage.status.style_key == "ui.status_error"


async def test_enter_folds_a_pass_away_and_unfolds_it(small_path):
    async with running(small_path) as pilot:
        outline = pilot.app.main.stage.outline
        rows = len(outline.outline.rows)
        await press(pilot, "enter")
        assert place(pilot) == Place("run", 0, 2)
        assert len(outline.outline.rows) == rows - 3
        await press(pilot, "enter")
        assert len(outline.outline.rows) == rows


async def test_passes_that_changed_nothing_can_be_hidden(small_path):
    async with running(small_path) as pilot:
        assert "HoistViews" in screen_text(pilot.app)
        await press(pilot, "z")
        text = screen_text(pilot.app)
        assert "HoistViews" not in text and "1 hidden" in text
        await press(pilot, "z")
        assert "HoistViews" in screen_text(pilot.app)


async def test_go_to_a_step_by_its_number(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "colon", "4", "enter")
        assert place(pilot).step == 4
        await press(pilot, "number_sign", "9", "enter")
        assert "there is no step 9: the last one is 5" in screen_text(pilot.app)
        await press(pilot, "backspace", "x", "enter")
        assert "a step is a number from 1 to 5" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert place(pilot).step == 4


async def test_a_search_goes_to_a_node_that_the_picture_did_not_show(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "slash")
        await type_text(pilot, "relu")
        assert "1 node · 1 rewrite" in screen_text(pilot.app)
        await press(pilot, "enter")
        node = main.current().sight.after.named("aten_relu_default").id
        assert main.view.selected == node and main.view.lens.anchor == node
        assert main.current().picture.box(node) is not None
        await press(pilot, "escape")
        assert main.view.lens.anchor is None and main.current().picture.box(node) is None


async def test_a_search_goes_to_a_rewrite(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "slash")
        await type_text(pilot, "metadata of")
        await press(pilot, "enter")
        assert place(pilot).step == 4


async def test_a_search_that_finds_nothing_says_so_and_goes_nowhere(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "slash")
        await type_text(pilot, "zzz")
        await press(pilot, "enter")
        assert "nothing found" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert place(pilot).step == 1


async def test_n_goes_from_rewrite_to_rewrite_of_a_node(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        assert main.current().sight.after[main.node()].name == "quantize_up"
        await press(pilot, "n")
        assert place(pilot).step == 4
        await press(pilot, "n")
        assert place(pilot).step == 4 and "no further rewrite is about this node" in screen_text(pilot.app)
        await press(pilot, "N")
        assert place(pilot).step == 1


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_walking_through_the_graph_shows_each_node_in_the_details(small_path, size):
    async with running(small_path, size) as pilot:
        main = pilot.app.main
        await press(pilot, "2", "down")
        names = [main.current().sight.after[main.node()].name]
        await press(pilot, "down")
        names.append(main.current().sight.after[main.node()].name)
        await press(pilot, "up")
        names.append(main.current().sight.after[main.node()].name)
        assert names == ["aten_slice_copy_tensor", "dequantize", "aten_slice_copy_tensor"]
        await press(pilot, "5")
        assert "edge.aten.slice_copy.Tensor" in screen_text(pilot.app)


async def test_enter_looks_at_the_graph_around_a_node(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "2", "down", "down", "enter")
        assert main.view.lens.anchor == main.node()
        assert main.current().sight.after[main.node()].name == "dequantize"


async def test_the_radius_grows_and_shrinks(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        counts = [len(main.current().picture.boxes)]
        for key in ("plus", "minus", "minus", "minus", "minus"):
            await press(pilot, key)
            counts.append(len(main.current().picture.boxes))
        assert counts[1] > counts[0] == counts[2] > counts[3] > counts[4] == counts[5] > 0


async def test_folds_open_and_close(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "slash")
        await type_text(pilot, "relu")
        await press(pilot, "enter")
        folds = [box for box in main.current().picture.boxes if box.kind != "node"]
        assert [len(box.members) for box in folds] == [4]
        await press(pilot, "o")
        assert all(box.kind == "node" for box in main.current().picture.boxes)
        await press(pilot, "o")
        assert any(box.kind == "chain" for box in main.current().picture.boxes)


async def test_the_graph_is_panned_by_keys_both_halves_together(large_path):
    async with running(large_path, (200, 60), ahead=False) as pilot:
        stage = pilot.app.main.stage
        await press(pilot, "2", "plus", "plus", "plus", ahead=False)
        seen = set()
        for key, across, down in (
            ("pagedown", 0, 13),
            ("pageup", 0, -13),
            ("greater_than_sign", 36, 0),
            ("less_than_sign", -36, 0),
        ):
            before, cells = stage.left.window, stage.left.cells
            assert (before.columns // 2, before.rows // 2) == (36, 13)
            await press(pilot, key, ahead=False)
            after = stage.left.window
            wanted = Window(before.x + across, before.y + down, before.columns, before.rows)
            assert after == wanted.within(cells) == stage.right.window
            seen.add((after.x, after.y))
        assert len(seen) > 1


async def test_vi_keys_walk_in_the_graph_and_in_the_list(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "2", "j")
        down = main.view.selected
        await press(pilot, "k", "down")
        assert main.view.selected == down is not None
        await press(pilot, "1", "j")
        assert place(pilot).step == 2
        await press(pilot, "k")
        assert place(pilot).step == 1


async def test_a_whole_pass_is_one_picture_with_its_live_ranges(small_path):
    async with running(small_path, (200, 60)) as pilot:
        scene = pilot.app.main.current
        await press(pilot, "left_square_bracket")
        assert place(pilot) == Place("run", 0, 2)
        boxes = {scene().name(node) for box in scene().picture.boxes if box.focus for node in [box.id]}
        assert {"quantize_up", "quantize_1_up", "quantize", "quantize_1"} <= boxes
        lanes = ["".join(part.text for part in line) for line in pilot.app.main.stage.lanes.lines]
        assert any(line.startswith("+ quantize_up") for line in lanes)
        assert any(line.startswith("+ quantize_1_up") for line in lanes)
