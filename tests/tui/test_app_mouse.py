from driving import running, screen_text, settle
from textual.events import MouseScrollDown


def find(pilot, text):
    """Column and row of a text on the screen."""
    for y, line in enumerate(screen_text(pilot.app).splitlines()):
        if text in line:
            return line.index(text), y
    raise AssertionError(f"{text!r} is not on the screen")


async def click(pilot, text):
    await pilot.click(offset=find(pilot, text))
    await settle(pilot)


async def test_a_click_on_a_row_goes_there(small_path):
    async with running(small_path) as pilot:
        await click(pilot, "metadata of quan")
        assert pilot.app.main.view.place.step == 4


async def test_a_click_on_a_box_selects_its_node(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        await click(pilot, "~ dequantize")
        assert main.current().sight.after[main.view.selected].name == "dequantize"
        assert "was quantize" in screen_text(pilot.app)


async def test_a_click_on_a_tab_and_on_a_footer_key_does_what_they_say(small_path):
    async with running(small_path) as pilot:
        await click(pilot, "6 Meta")
        assert "metadata of quantize_up" in screen_text(pilot.app)
        await click(pilot, "theme" if "theme" in screen_text(pilot.app) else "flicker")
        await click(pilot, "? help")
        assert "In the graph" in screen_text(pilot.app) or "Next rewrite" in screen_text(pilot.app)


async def test_a_click_on_a_link_in_the_details_goes_to_that_node(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        column, row = find(pilot, "input         permute")
        await pilot.click(offset=(column + 15, row))
        await settle(pilot)
        assert main.current().sight.after[main.view.selected].name == "aten_permute_copy_default"


async def test_dragging_pans_both_panes_and_selects_nothing(small_path):
    async with running(small_path, (200, 60)) as pilot:
        stage = pilot.app.main.stage
        before = stage.left.window
        x, y = stage.right.region.x + 20, stage.right.region.y + 10
        await pilot.mouse_down(offset=(x, y))
        await pilot.hover(offset=(x, y - 3))
        await pilot.mouse_up(offset=(x, y - 3))
        await settle(pilot)
        assert stage.left.window.y == stage.right.window.y == before.y + 3
        assert pilot.app.main.view.selected is None


async def test_the_wheel_scrolls_what_is_under_it(small_path):
    async with running(small_path) as pilot:
        main = pilot.app.main
        before = main.stage.left.window
        region = main.stage.left.region
        where = (region.x + 5, region.y + 5)
        pilot.app.screen._forward_event(MouseScrollDown(None, *where, 0, 1, 0, False, False, False, *where))
        await settle(pilot)
        assert main.stage.left.window.y == before.y + 3
