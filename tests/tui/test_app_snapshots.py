"""Pictures of the app's states; `pytest tests/tui/test_app_snapshots.py --snapshot-update` makes them anew.

They were looked at one by one before they were kept.
"""

from pathlib import Path

import fakes
import pytest
from driving import SIZES, make_app, press, screen_text, settle, type_text, until

from qdqviz.trace.reader import Trace

STATES = {
    "open": (),
    "step": ("right",),
    "search": ("slash", "text:slice"),
    "inspect": ("slash", "text:permute", "enter", "5"),
    "switch-theme": ("t",),
    "help": ("question_mark",),
}
"""What is pressed, or typed, to get there."""

ASKING = {"why": ("w",), "source": ("7",)}
"""The same for what is asked about one node that a pass turned down."""

CHECKING = {
    "check": ("right", "8"),
    "veto": ("right", "x", "right", "8"),
    "interventions": ("8", "right", "x", "right", "i"),
}
"""The same where there is a program that can be checked."""

MACHINE = (str(Path(__file__).parents[2])[:9], "/tmp", "qdqviz_target_")
"""Beginnings of paths, and names made from paths."""

OTHER_THEMES = ("light", "high-contrast", "colour-blind")


async def drive(pilot, keys, *, has_program=False):
    if has_program:
        await until(pilot, lambda: pilot.app.main.trials.has_program)
    await settle(pilot)
    for key in keys:
        if key.startswith("text:"):
            await type_text(pilot, key.removeprefix("text:"))
        else:
            await press(pilot, key)
        pilot.app.clear_notifications()
        await settle(pilot)
    text = screen_text(pilot.app)
    assert not [name for name in MACHINE if name in text], "the picture would differ on another machine"


def named(size):
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.parametrize("state", STATES)
def test_every_state_looks_as_it_was_approved(snap_compare, small_path, state, size):
    app = make_app(small_path)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: drive(pilot, STATES[state]))


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.parametrize("state", ASKING)
def test_answers_look_as_they_were_approved(snap_compare, tiny_path, state, size):
    trace = Trace(tiny_path)
    trace.info = fakes.INFO  # as recorded it names the versions that are installed
    keys = ("slash", "text:relu_2", "enter", *ASKING[state])
    assert snap_compare(make_app(trace), terminal_size=size, run_before=lambda pilot: drive(pilot, keys))


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.parametrize("state", CHECKING)
def test_checks_look_as_they_were_approved(snap_compare, tiny_session, tmp_path, monkeypatch, state, size):
    monkeypatch.setattr(Trace, "info", fakes.INFO)  # as recorded it names the versions that are installed
    app = make_app(fakes.ReadyPlan(tiny_session, tiny_session.trace.path), folder=tmp_path)

    def run_before(pilot):
        return drive(pilot, CHECKING[state], has_program=True)

    assert snap_compare(app, terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.parametrize("theme", OTHER_THEMES)
def test_every_theme_looks_as_it_was_approved(snap_compare, small_path, theme, size):
    app = make_app(small_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: drive(pilot, STATES["inspect"]))
