import time

from driving import make_app, press, screen_text, settle


async def test_a_trace_of_5000_rewrites_is_walked_while_it_is_read_ahead(large_path):
    app = make_app(large_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, ahead=False)
        assert not app.main.workshop.is_idle()
        for key, step in (("G", 5000), ("left", 4999), ("g", 1), ("right", 2)):
            await press(pilot, key, ahead=False)
            assert f"step {step:,}/5,000" in screen_text(app)
            assert app.main.current().place.step == step


async def test_leaving_ends_what_is_read_ahead(large_path):
    app = make_app(large_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, ahead=False)
        workshop = app.main.workshop
        assert not workshop.is_idle()
    until = time.monotonic() + 10
    while not workshop.is_idle():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert workshop.archive.known_title(5000) is None
