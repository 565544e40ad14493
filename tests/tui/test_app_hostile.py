import pytest
from driving import SIZES, make_app, press, running, screen_text, settle, type_text


@pytest.mark.parametrize("size", SIZES)
async def test_text_from_graphs_is_neither_markup_nor_control(hostile_path, size):
    async with running(hostile_path, size) as pilot:
        for _ in range(7):
            for key in ("5", "6", "3", "1", "2") if size == (80, 24) else ("6",):
                await press(pilot, key)
                text = screen_text(pilot.app)
                assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
                assert all(line.isprintable() for line in text.splitlines())
            await press(pilot, "right")
        assert pilot.app.is_running


async def test_markup_in_names_is_shown_literally(hostile_path):
    async with running(hostile_path, (200, 60)) as pilot:
        text = screen_text(pilot.app)
        assert "[red]title␛[2J" in text and "[bold]red[/bold]" in text


async def test_lines_stay_aligned_with_wide_and_combining_characters(hostile_path):
    from qdqviz.draw.text import width

    async with running(hostile_path, (120, 40)) as pilot:
        for _ in range(7):
            assert {width(line) for line in screen_text(pilot.app).splitlines()} == {120}
            await press(pilot, "right")


async def test_a_search_for_markup_finds_it(hostile_path):
    async with running(hostile_path) as pilot:
        await press(pilot, "slash", "left_square_bracket")
        await type_text(pilot, "bold")
        await press(pilot, "enter")
        main = pilot.app.main
        assert main.current().sight.after[main.view.selected].name.startswith("[bold]red")


async def test_a_trace_without_any_pass_says_that_nothing_was_recorded(tmp_path):
    import fakes

    path = fakes.Recorder(tmp_path / "empty.qdqtrace").close()
    async with running(path) as pilot:
        assert "nothing was recorded: no pass ran" in screen_text(pilot.app)
        await press(pilot, "right", "n", "G", "o", "e", "colon", "plus", "escape", "2", "down", "enter")
        assert pilot.app.is_running


async def test_a_trace_that_was_cut_off_says_so(tmp_path):
    import fakes

    recorder = fakes.Recorder(tmp_path / "cut.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    run = recorder.begin("Advance")
    recorder.advance(run, "quantize", "aten_slice_copy_tensor")
    recorder.writer.commit()
    async with running(tmp_path / "cut.qdqtrace") as pilot:
        text = screen_text(pilot.app)
        assert "the recording was cut off" in text and "step 1/1" in text


async def test_a_layout_engine_that_is_missing_is_said_in_the_graph_pane(small_path, monkeypatch):
    from qdqviz.draw import engine
    from qdqviz.errors import LayoutError

    def nowhere(name):
        raise LayoutError(f"the layout engine {name} is not installed: pip install graphviz-pure")

    monkeypatch.setattr(engine, "find_engine", nowhere)
    async with running(small_path) as pilot:
        assert "pip install graphviz-pure" in screen_text(pilot.app)
        await press(pilot, "right")
        assert "step 2/5" in screen_text(pilot.app)


@pytest.mark.parametrize("depth", ["16", "none"])
async def test_without_colours_cursor_tab_and_selection_are_reversed(small_path, depth):
    app = make_app(small_path, depth=depth)
    look = app.look
    for key in ("ui.cursor", "ui.tab_active", "ui.tab_focus", "selected"):
        assert look.style(key).reverse
    for key in ("detail.quantize", "ui.status", "title.movement", "ui.header"):
        assert look.style(key).bgcolor is None
    if depth == "none":
        assert all(
            look.style(key).color is None for key in ("mark.added", "lane.real", "link", "frame.quantize")
        )
    async with running(small_path, depth=depth) as pilot:
        await press(pilot, "right", "2", "down", "t", "slash")
        await type_text(pilot, "add")
        await press(pilot, "escape", "question_mark", "escape")
        assert "step 2/5" in screen_text(pilot.app)


@pytest.mark.parametrize(
    "keys",
    [(), ("2", "down"), ("slash", "text:add"), ("question_mark",), ("e",), ("colon",), ("8",), ("4",)],
    ids=lambda keys: "-".join(keys).replace(":", "-") or "open",
)
async def test_where_colours_are_not_wanted_there_are_none(large_path, keys):
    app = make_app(large_path, depth="none")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, ahead=False)
        for key in keys:
            if key.startswith("text:"):
                await type_text(pilot, key.removeprefix("text:"), ahead=False)
            else:
                await press(pilot, key, ahead=False)
        assert colours(app) <= {"default", BLACK, WHITE}


async def test_in_sixteen_colours_no_other_is_used(large_path):
    app = make_app(large_path, depth="16")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, ahead=False)
        used = colours(app)
        assert {"color(10)", "color(11)", "color(12)"} <= used  # green, yellow, blue, all of them bright
        assert all(name == "default" or name.startswith("color(") for name in used)


BLACK, WHITE = "color(0)", "color(7)"


def colours(app):
    """Names of the colours on the screen."""
    strips = app.screen._compositor.render_strips()
    styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
    return {each.name for style in styles for each in (style.color, style.bgcolor) if each is not None}
