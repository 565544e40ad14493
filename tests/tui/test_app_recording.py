import os
import subprocess
import sys
import threading

import fakes
import pytest
from driving import make_app, press, screen_text, settle, until

from qdqviz.errors import TargetError, TraceFileError
from qdqviz.trace.reader import Trace
from qdqviz.tui.app import run_app
from qdqviz.tui.terminal import answering, colour_depth, shielded


async def test_passes_appear_as_they_are_recorded(tmp_path):
    gates = [threading.Event(), threading.Event()]
    plan = fakes.FakePlan(wait=lambda done: gates[done].wait(10))
    app = make_app(plan, folder=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(
            pilot, lambda: "loading fake …" in screen_text(app) or "recording 1/2" in screen_text(app)
        )
        gates[0].set()
        await until(pilot, lambda: app.main.lists is not None and app.main.lists.steps == 1)
        await settle(pilot)
        text = screen_text(app)
        assert "recording 2/2 Advance1" in text and "step 1/1" in text and "quantize_up" in text
        gates[1].set()
        await until(pilot, lambda: app.main.lists.steps == 2 and not app.main.is_recording)
        await settle(pilot)
        text = screen_text(app)
        assert "recording" not in text and "step 1/2" in text and "Advance1" in text
        assert app.recording.session is not None and app.recording.error is None


async def test_a_pass_that_raises_leaves_what_was_recorded_to_look_at(tmp_path):
    app = make_app(fakes.FakePlan(raises=ValueError("bad scale")), folder=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.main.lists is not None and app.main.lists.steps == 2)
        await until(pilot, lambda: not app.main.is_recording)
        await settle(pilot)
        assert "✗ ValueError: bad scale" in screen_text(app)
        await press(pilot, "right")
        assert "step 2/2" in screen_text(app)


async def test_a_trace_that_is_being_closed_while_it_is_opened_is_opened_at_its_end(tmp_path, monkeypatch):
    opened = []

    class ClosingTrace(Trace):
        def __init__(self, path):
            opened.append(path)
            if len(opened) == 1:
                raise TraceFileError("truncated")
            super().__init__(path)

    monkeypatch.setattr("qdqviz.tui.app.Trace", ClosingTrace)
    app = make_app(fakes.FakePlan(), folder=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.main.lists is not None and app.main.lists.steps == 2)
        await settle(pilot)
        assert "step 1/2" in screen_text(app) and len(opened) == 2


async def test_a_target_that_cannot_be_loaded_ends_the_app_and_the_error_is_kept(tmp_path):
    app = make_app(fakes.FakePlan(fails=TargetError("no such target")), folder=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app._exit)
    assert isinstance(app.recording.error, TargetError)


def test_quitting_interrupts_a_recording(tmp_path):
    from qdqviz.tui.recording import Recording

    begun = threading.Event()

    def busy(_):
        begun.set()
        while True:
            sum(range(1000))

    recording = Recording(fakes.FakePlan(wait=busy), tmp_path / "t.qdqtrace", lambda _: None)
    recording.start()
    assert begun.wait(10)
    assert recording.stop(10) and not recording.is_on
    assert isinstance(recording.error, KeyboardInterrupt)


def test_what_cannot_be_opened_is_refused_before_the_screen_changes(tmp_path):
    (tmp_path / "x.qdqtrace").write_bytes(b"not a trace")
    with pytest.raises(TraceFileError):
        run_app(tmp_path / "x.qdqtrace")
    with pytest.raises(TraceFileError):
        run_app(str(tmp_path / "none.qdqtrace"))


def test_native_output_goes_to_the_log_while_the_app_has_the_terminal(tmp_path):
    code = f"""
import os, sys
from pathlib import Path
from qdqviz.tui.terminal import shielded
with shielded(Path({str(tmp_path / "log")!r})):
    os.write(1, b"native out")
    os.write(2, b"native err")
    sys.__stderr__.write("screen")
    sys.__stderr__.flush()
os.write(1, b"after")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"after", b"screen")
    assert (tmp_path / "log").read_bytes() == b"native outnative err"


def test_settings_of_the_interpreter_are_put_back():
    import gc

    before = sys.getswitchinterval(), gc.get_threshold()
    with answering():
        assert (sys.getswitchinterval(), gc.get_threshold()) != before
    assert (sys.getswitchinterval(), gc.get_threshold()) == before
    assert callable(shielded)


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "true"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "dumb"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "256"),
    ],
)
def test_the_number_of_colours_is_told_from_the_environment(environ, depth):
    assert colour_depth(environ) == depth


def test_opening_a_trace_imports_no_torch(small_path):
    code = f"""
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {os.path.dirname(__file__)!r})
from driving import running, press
async def main():
    async with running(Path({str(small_path)!r})) as pilot:
        await press(pilot, "right", "2", "down", "5", "6", "slash", "a", "escape", "question_mark")
asyncio.run(main())
assert not {{"torch", "executorch", "torchao"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
