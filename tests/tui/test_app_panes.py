import fakes
import pytest
from driving import SIZES, press, running, screen_text, settle


def shown(pilot):
    return {pane.id for pane in pilot.app.main.stage.panes() if pane.display}


def views(pilot):
    stage = pilot.app.main.stage
    found = {}
    for name, pane in (("left", stage.left), ("right", stage.right)):
        if pane.display:
            found[name] = next(view for view, cells in stage.scene.cells.items() if cells is pane.cells)
    return found


async def test_at_200_by_60_before_and_after_stand_side_by_side(small_path):
    async with running(small_path, (200, 60)) as pilot:
        assert shown(pilot) == {"steps", "left", "right", "lanes", "details"}
        assert views(pilot) == {"left": "before", "right": "after"}


async def test_at_80_by_24_panes_are_tabs(small_path):
    async with running(small_path, (80, 24)) as pilot:
        for key, pane in (("1", "steps"), ("2", "left"), ("3", "lanes"), ("5", "details"), ("6", "details")):
            await press(pilot, key)
            assert shown(pilot) == {pane}
            assert pilot.app.focused.id == pane


async def test_d_and_f_choose_how_before_and_after_are_shown(small_path):
    async with running(small_path) as pilot:
        assert views(pilot) == {"left": "union"}
        await press(pilot, "d")
        assert views(pilot) == {"left": "after"}
        await press(pilot, "f")
        assert views(pilot) == {"left": "before"}
        await press(pilot, "f")
        assert views(pilot) == {"left": "after"}
        await press(pilot, "d")
        assert views(pilot) == {"left": "before", "right": "after"}
        await press(pilot, "f")
        assert views(pilot) == {"left": "before"}


async def test_flickering_moves_nothing(small_path):
    async with running(small_path) as pilot:
        stage = pilot.app.main.stage
        await press(pilot, "f")
        window, before = stage.left.window, dict(stage.left.cells.rects)
        await press(pilot, "f")
        after = dict(stage.left.cells.rects)
        assert stage.left.window == window
        assert all(before[box] == after[box] for box in before.keys() & after.keys())


def places_on_screen(pilot):
    stage = pilot.app.main.stage
    window, rects = stage.left.window, stage.scene.cells["union"].rects
    return {box: (rect.column - window.x, rect.row - window.y) for box, rect in rects.items()}


async def test_a_picked_node_stays_where_it_is_from_one_rewrite_to_the_next(small_path):
    async with running(small_path, (200, 60)) as pilot:
        main = pilot.app.main
        node = main.current().sight.after.named("aten_permute_copy_default").id
        main.pick(node)
        first = places_on_screen(pilot)[node]
        await press(pilot, "right")
        assert places_on_screen(pilot)[node] == first
        await press(pilot, "left")
        assert places_on_screen(pilot)[node] == first


async def test_a_wider_view_of_the_same_rewrite_keeps_most_boxes_in_place(small_path):
    async with running(small_path, (200, 60)) as pilot:
        first = places_on_screen(pilot)
        await press(pilot, "minus")
        second = places_on_screen(pilot)
        shared = first.keys() & second.keys()
        assert sum(first[box] == second[box] for box in shared) * 2 >= len(shared) > 2


@pytest.mark.parametrize("size", SIZES)
async def test_tab_goes_round_all_panes_and_back(small_path, size):
    async with running(small_path, size) as pilot:
        stops = len(pilot.app.main.stage.stops(pilot.app.main.view))
        start, seen = pilot.app.focused.id, set()
        for _ in range(stops):
            seen.add(pilot.app.focused.id)
            await press(pilot, "tab")
        assert pilot.app.focused.id == start and {"steps", "left", "lanes", "details"} <= seen
        await press(pilot, "shift+tab", "tab")
        assert pilot.app.focused.id == start


async def test_a_terminal_that_gets_too_small_says_so_and_is_usable_once_it_has_grown(small_path):
    async with running(small_path) as pilot:
        await press(pilot, "right")
        await pilot.resize_terminal(40, 10)
        await settle(pilot)
        text = screen_text(pilot.app)
        assert "qdqviz needs 56 columns and 16 rows" in text and "quantize" not in text
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "step 2/5" in screen_text(pilot.app)
        await press(pilot, "right")
        assert "step 3/5" in screen_text(pilot.app)


async def test_an_app_that_opens_too_small_is_usable_once_it_has_grown(small_path):
    async with running(small_path, (30, 8)) as pilot:
        assert "qdqviz needs" in screen_text(pilot.app)
        await pilot.resize_terminal(120, 40)
        await press(pilot, "right")
        text = screen_text(pilot.app)
        assert "step 2/5" in text and "quantize_1_up" in text


@pytest.mark.parametrize("size", [(80, 60), (200, 24), (110, 30), (56, 16), (250, 80)])
async def test_every_size_shows_the_rewrite_and_its_sentence(small_path, size):
    async with running(small_path, size) as pilot:
        await press(pilot, "2")
        text = screen_text(pilot.app)
        assert "quantize_up" in text and "Moved quantize above" in text


async def test_live_ranges_can_be_those_of_all_values(small_path):
    async with running(small_path, (200, 60)) as pilot:
        assert "live ranges of q/dq values and of what carries them" in screen_text(pilot.app)
        await press(pilot, "v")
        assert "live ranges of q/dq values " in screen_text(pilot.app)
        await press(pilot, "v")
        assert "live ranges of all values" in screen_text(pilot.app)


async def test_a_lane_leads_to_its_node(small_path):
    async with running(small_path, (200, 60)) as pilot:
        main = pilot.app.main
        await press(pilot, "3", "down", "down", "down")
        line = "".join(part.text for part in main.stage.lanes.lines[3])
        await press(pilot, "enter")
        assert "quantize_up" in line
        assert main.current().sight.after[main.view.selected].name == "quantize_up"


async def test_a_node_named_in_the_details_can_be_followed(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await press(pilot, "5", *["down"] * 4)
        line = "".join(part.text for part in main.stage.details.lines[4])
        await press(pilot, "enter")
        assert line.split() == ["input", "permute"]
        assert main.current().sight.after[main.view.selected].name == "aten_permute_copy_default"


async def test_metadata_that_a_rewrite_added_is_told_from_what_was_there(small_path):
    async with running(small_path, (200, 60)) as pilot:
        await press(pilot, "colon", "4", "enter", "6")
        text = screen_text(pilot.app)
        assert "debug_handle" in text and "not so before" in text


async def test_the_footer_shows_the_keys_of_the_pane_that_has_the_focus(small_path):
    async with running(small_path) as pilot:
        assert "enter fold" in screen_text(pilot.app)
        await press(pilot, "tab")
        assert "enter look" in screen_text(pilot.app)
        await press(pilot, "tab")
        assert "enter follow" in screen_text(pilot.app)


def boxes_in_view(pane):
    return {box for box, rect in pane.cells.rects.items() if pane.window.shows_all_of(rect)}


async def test_where_a_graph_was_replaced_each_side_shows_its_own_and_they_pan_together(tmp_path):
    async with running(fakes.write_replaced_trace(tmp_path / "t.qdqtrace"), (200, 60)) as pilot:
        stage = pilot.app.main.stage
        left, right = boxes_in_view(stage.left), boxes_in_view(stage.right)
        assert {box for box in right if box >= 500}, "the new graph is in view"
        assert {box for box in left if box < 500}, "and so is the old one"
        apart = stage.right.window.x - stage.left.window.x
        for pane in ("2", "tab"):
            await press(pilot, pane, "greater_than_sign")
            assert stage.right.window.x - stage.left.window.x == apart != 0
        await press(pilot, "d", "d", "d")
        assert stage.right.window.x - stage.left.window.x == apart


async def test_a_node_of_a_replaced_graph_is_scrolled_into_its_own_pane(tmp_path):
    async with running(fakes.write_replaced_trace(tmp_path / "t.qdqtrace"), (200, 60)) as pilot:
        main = pilot.app.main
        for pane, name in (
            (main.stage.right, "new_aten_relu_default"),
            (main.stage.left, "aten_permute_copy_default"),
        ):
            sight = main.current().sight
            node = (sight.after.named(name) or sight.before.named(name)).id
            main.pick(node)
            await settle(pilot)
            box = main.current().picture.box(node)
            assert box is not None and box.id in boxes_in_view(pane), name
