"""The terminal app."""

from __future__ import annotations

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from textual.app import App

from qdqviz.draw.ansi import Depth
from qdqviz.draw.theme import DEFAULT_THEME, Theme, load_theme, load_themes
from qdqviz.errors import TraceFileError
from qdqviz.ir.text import safe_text
from qdqviz.trace.reader import Trace
from qdqviz.tui.laboratory import Laboratory
from qdqviz.tui.look import Look, textual_theme
from qdqviz.tui.messages import RecordingBegun, RecordingEnded, RecordingProgress
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.sparing import Sparing
from qdqviz.tui.recording import Recording
from qdqviz.tui.screens.main import MainScreen
from qdqviz.tui.terminal import answering, colour_depth, shielded

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.timer import Timer

    from qdqviz.live.session import Plan

Source: TypeAlias = "Trace | Plan"
"""A trace, or a plan of what to load and which passes to record on it."""

REFRESH_SECONDS = 0.3
"""How often the trace of a recording is read."""

STOP_SECONDS = 3.0
"""How long the end of an interrupted recording is waited for."""


def _commands() -> type[Provider]:
    from qdqviz.tui.palette import Commands

    return Commands


class QdqvizApp(App[None]):
    """Walks through one trace."""

    TITLE = "qdqviz"
    COMMANDS = {_commands}

    def __init__(self, source: Source, theme: Theme, depth: Depth, folder: Path) -> None:
        """Make the app; nothing is read yet.

        Args:
            source: What to show.
            theme: The colours to begin with.
            depth: How many colours the terminal has.
            folder: Where a recording's trace goes unless its plan says it.
        """
        super().__init__(ansi_color=depth in ("16", "none") or None)
        self._source = source
        self._depth: Depth = depth
        self._folder = folder
        self._pulse: Timer | None = None
        self.sparing = Sparing()
        """What the app asks of the garbage collector."""
        self.recording: Recording | None = None
        """The recording that is watched; None where a trace is shown."""
        themes, _ = load_themes()
        self.themes = {**themes, theme.name: theme}
        """All themes by name."""
        for each in self.themes.values():
            self.register_theme(textual_theme(each, depth))
        self.look = Look(theme, depth)
        """The styles of the theme in use."""
        self.theme = theme.name

    def get_default_screen(self) -> MainScreen:
        """The one screen that is always there."""
        return MainScreen()

    def on_mount(self) -> None:
        """Open what is to be shown."""
        self.begin()

    def begin(self) -> None:
        """Show a trace, or begin to record one."""
        if isinstance(self._source, Trace):
            self.main.open_archive(Archive(self._source, self.sparing))
            return
        plan = self._source
        self.recording = Recording(plan, self._folder / "recorded.qdqtrace", self.post_message)
        self.main.is_recording = True
        self.main.show_progress(f"loading {safe_text(plan.target)} …")
        self.recording.start()

    def on_unmount(self) -> None:
        """Leave the process as it was."""
        self.sparing.end()

    @property
    def main(self) -> MainScreen:
        """The screen that is always there."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    # -- a recording -------------------------------------------------------------------------------

    def on_recording_begun(self, message: RecordingBegun) -> None:
        """Read along."""
        try:
            trace = Trace(message.trace)
        except TraceFileError:
            return  # it is being closed right now: its end, which is told next, opens it
        self.main.open_archive(Archive(trace))
        self._pulse = self.set_interval(REFRESH_SECONDS, self.main.read_on)

    def on_recording_progress(self, message: RecordingProgress) -> None:
        """Say how far it is."""
        self.main.show_progress(message.text)

    def on_recording_ended(self, message: RecordingEnded) -> None:
        """Show all of it; where there is nothing to show, leave: the command line says why."""
        if self._pulse is not None:
            self._pulse.stop()
        session = None if self.recording is None else self.recording.session
        if self.main.workshop is None and session is not None:
            self.main.open_archive(Archive(Trace(session.trace.path)))
        if self.main.workshop is None:
            self.exit()
            return
        self.main.is_recording = False
        self.main.show_progress("")
        self.main.read_on()
        assert self.recording is not None
        if session is not None:
            plan, folder, post = self.recording.plan, self._folder, self.main.post_message
            self.main.trials.open(Laboratory(plan, session, folder, post))

    # -- themes ------------------------------------------------------------------------------------

    def next_theme(self) -> None:
        """Use the next theme."""
        names = list(self.themes)
        self.use_theme(names[(names.index(self.theme) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """Use a theme."""
        self.look = Look(self.themes[name], self._depth)
        self.theme = name
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()


def run_app(source: Source | Path | str, *, theme: str = DEFAULT_THEME) -> int:
    """Show a trace, or record one while it is shown. Returns the exit code.

    Args:
        source: A trace, the path of a trace file, or a plan of what to load and which passes to record.
        theme: Name of a theme, or the path of a theme file.

    Raises:
        QdqvizError: If the trace cannot be read, the target not loaded, or the theme not used.
    """
    colours = load_theme(theme)
    shown = Trace(source) if isinstance(source, str | Path) else source
    depth = colour_depth(os.environ)
    with tempfile.TemporaryDirectory(prefix="qdqviz-", ignore_cleanup_errors=True) as name, answering():
        folder = Path(name)
        with nullcontext() if isinstance(shown, Trace) else shielded(folder / "output.log"):
            app = QdqvizApp(shown, colours, depth, folder)
            try:
                app.run()
            finally:
                app.sparing.end()
            recording = app.recording
            if recording is not None:
                recording.stop(STOP_SECONDS)
        if recording is not None and recording.error is not None:
            if isinstance(recording.error, KeyboardInterrupt):
                return 0
            raise recording.error
    return app.return_code or 0
