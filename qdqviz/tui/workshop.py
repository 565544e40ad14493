"""Where everything that takes time is made: scenes, titles, live ranges, searches, pictures for files."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from qdqviz.errors import QdqvizError
from qdqviz.tui import messages
from qdqviz.tui.desk import Desk, Stale
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.ranges import RangesMaker
from qdqviz.tui.model.scene import Lens, Scene, make_scene

if TYPE_CHECKING:
    from textual.message import Message

    from qdqviz.draw.engine import Cancel, LayoutEngine
    from qdqviz.draw.picture import View
    from qdqviz.draw.theme import Theme
    from qdqviz.tui.model.asking import Answer, Question

REMEMBERED = 64
"""Scenes, and answers, that are kept."""

_STRIDE = 64
"""Steps whose states are read in one go while nothing else is to do."""

_FEW = 4
"""Titles that are made in one go while nothing else is to do."""

_REST_SECONDS = 0.02
"""Pause after them, so that they never take more than a part of a processor."""

_QUIET_SECONDS = 0.3
"""How long nobody must have gone anywhere before there is nothing else to do."""

Post: TypeAlias = "Callable[[Message], object]"
"""Hands a message to the screen; safe to call from any thread."""

_Key: TypeAlias = "tuple[Place, Lens, int]"


class Workshop:
    """Two threads: one for what the person waits for, one for what may come a moment later."""

    def __init__(self, archive: Archive, post: Post) -> None:
        """Open it.

        Args:
            archive: The trace.
            post: Told of everything that was made.
        """
        self.archive = archive
        self._post = post
        self._front = Desk(
            "qdqviz front", ("lists", "scene", "touch", "find", "near", "titles"), self._failed
        )
        self._back = Desk("qdqviz back", ("write", "ranges", "why", "ahead"), self._failed)
        self._scenes: OrderedDict[_Key, Scene] = OrderedDict()
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._lock = threading.Lock()
        self._engine: LayoutEngine | None = None
        self._ranges = RangesMaker()
        self._slow: Desk | None = None
        self._cancel: Cancel | None = None
        self._making: _Key | None = None
        self._last_wanted = 0.0

    # -- scenes ------------------------------------------------------------------------------------

    def scene(self, place: Place, lens: Lens) -> Scene | None:
        """A scene that has been made already; costs nothing."""
        self._last_wanted = time.monotonic()
        with self._lock:
            return self._scenes.get(self._key(place, lens))

    def want_scene(self, place: Place, lens: Lens) -> None:
        """Make a scene: `SceneMade` or `SceneFailed` will tell. What was wanted before is dropped."""
        if self._making != self._key(place, lens):
            self.cancel()

        def job(stale: Stale) -> None:
            try:
                self._post(messages.SceneMade(self._scene(place, lens)))
            except QdqvizError as error:
                if not stale():
                    self._post(messages.SceneFailed(place, lens, str(error)))

        self._front.ask("scene", job)

    def want_near(self, places: Sequence[Place], lens: Lens) -> None:
        """Make the scenes that may be wanted next, while nothing else is to do."""

        def job(stale: Stale) -> None:
            for place in places:
                if stale() or not self._front.is_quiet("near"):
                    return
                try:
                    self._scene(place, lens)
                except QdqvizError:
                    return  # it will be told when the scene is wanted

        self._front.ask("near", job)

    def cancel(self) -> None:
        """End the layout that is being made."""
        self._front.drop("scene")
        self._front.drop("near")
        cancel = self._cancel
        if cancel is not None:
            cancel.cancel()

    def _scene(self, place: Place, lens: Lens) -> Scene:
        from qdqviz.draw.engine import Cancel, LayoutEngine

        key = self._key(place, lens)
        with self._lock:
            known = self._scenes.get(key)
        if known is not None:
            return known
        self._engine = self._engine or LayoutEngine()
        self._cancel, self._making = Cancel(), key
        try:
            made = self._make(place, lens, self._engine, self._cancel)
        finally:
            self._cancel = self._making = None
        with self._lock:
            self._scenes[key] = made
            while len(self._scenes) > REMEMBERED:
                self._scenes.popitem(last=False)
        return made

    def _make(self, place: Place, lens: Lens, engine: LayoutEngine, cancel: Cancel) -> Scene:
        """Make a scene; a comparison of two traces makes other ones."""
        return make_scene(self.archive, place, lens, engine, cancel)

    def _key(self, place: Place, lens: Lens) -> _Key:
        """A pass that goes on looks different with every rewrite."""
        runs = self.archive.lists.runs
        return place, lens, -1 if place.run is None or place.step is not None else runs[place.run].last_step

    # -- the rest ----------------------------------------------------------------------------------

    def want_lists(self) -> None:
        """Read what a recording has added: `ListsRead` will tell."""

        def job(_: Stale) -> None:
            lists = self.archive.refresh()
            with self._lock:
                self._answers.clear()
            self._post(messages.ListsRead(lists))

        self._front.ask("lists", job)

    def want_titles(self, steps: Sequence[int]) -> None:
        """Make titles: `TitlesMade` will tell, several times where there are many."""

        def job(stale: Stale) -> None:
            missing = [step for step in steps if self.archive.known_title(step) is None]
            for count, step in enumerate(missing, 1):
                if stale():
                    return
                self.archive.title(step)
                if count % 8 == 0:
                    self._post(messages.TitlesMade())
            # Said even where none was missing: they may have been made since the rows were painted.
            self._post(messages.TitlesMade())

        self._front.ask("titles", job)

    def want_ranges(
        self, scene: Scene, which: Literal["carried", "qdq", "all"], columns: int, most: int
    ) -> None:
        """Make live ranges: `RangesMade` will tell."""

        def job(stale: Stale) -> None:
            made = self._ranges.make(scene, which, columns, most, stale)
            if made is not None:
                self._post(messages.RangesMade(made))

        self._back.ask("ranges", job)

    def want_touching(self, scene: Scene, node: int, after: int, forward: bool) -> None:
        """Look for the next rewrite of a node: `StepFound` will tell."""
        from qdqviz.tui.model.touching import touching_step

        subject, path = scene.place.subject, scene.sight.path

        def job(stale: Stale) -> None:
            found = touching_step(self.archive, subject, path, node, after, forward, stale)
            if not stale():
                self._post(messages.StepFound(found))

        self._front.ask("touch", job)

    def want_hits(self, text: str, scene: Scene | None) -> None:
        """Search: `HitsFound` will tell."""
        from qdqviz.ir.graph import Body
        from qdqviz.tui.model.finding import find

        body, path = (Body(), "") if scene is None else (scene.sight.after, scene.sight.path)

        def job(_: Stale) -> None:
            hits = find(text, self.archive.lists, body, path, self.archive.known_title)
            self._post(messages.HitsFound(text, hits))

        self._front.ask("find", job)

    def answer(self, question: Question) -> Answer | None:
        """An answer that has been made already; costs nothing."""
        with self._lock:
            return self._answers.get(question)

    def want_answer(self, question: Question) -> None:
        """Answer a question: `AnswerMade` will tell, twice where other passes are asked as well."""

        def job(stale: Stale) -> None:
            for answer in self.archive.answer(question, stale):
                with self._lock:
                    self._answers[question] = answer
                    while len(self._answers) > REMEMBERED:
                        self._answers.popitem(last=False)
                if stale():
                    return
                self._post(messages.AnswerMade(answer))

        self._back.ask("why", job)

    def want_file(self, scene: Scene, view: View, path: Path, theme: Theme) -> None:
        """Write a picture: `PictureWritten` will tell."""

        def job(_: Stale) -> None:
            from qdqviz.draw.files import write_picture

            try:
                write_picture(scene.picture.with_view(view), path, theme, title=scene.sight.sentence)
            except QdqvizError as error:
                self._post(messages.PictureWritten(str(error), False))
            else:
                self._post(messages.PictureWritten(f"wrote {path}", True))

        self._back.ask("write", job)

    def want_lint(self) -> None:
        """Look for faults in metadata: `Linted` will tell. Asked again it does nothing."""
        if self._slow is not None:
            return
        self._slow = Desk("qdqviz lint", ("lint",), self._failed)

        def job(_: Stale) -> None:
            from qdqviz.check.lint import lint

            with closing(self.archive.reopened()) as trace:
                self._post(messages.Linted(lint(trace).findings))

        self._slow.ask("lint", job)

    def read_ahead(self, step: int = 1) -> None:
        """Read all steps from `step` on, bit by bit: their states, so that jumps are quick.

        Titles come after that, for the search, with pauses: they are not waited for.
        """
        steps = self.archive.lists.steps
        last = min(step + _STRIDE, steps)

        def job(stale: Stale) -> None:
            self._wait_for_quiet(stale)
            self.archive.around(last)
            self.archive.spare()
            if not stale():
                self.read_ahead(last + 1)

        if step <= steps:
            self._back.ask("ahead", job)
        elif steps:
            self._title_ahead(1)

    def _title_ahead(self, step: int) -> None:
        last = min(step + _FEW, self.archive.lists.steps)

        def job(stale: Stale) -> None:
            self._wait_for_quiet(stale)
            for each in range(step, last + 1):
                self.archive.title(each)
            time.sleep(_REST_SECONDS)
            if stale():
                return
            if last < self.archive.lists.steps:
                self._title_ahead(last + 1)
            else:
                self._post(messages.TitlesMade())

        self._back.ask("ahead", job)

    def _wait_for_quiet(self, stale: Stale) -> None:
        """Leave the interpreter to the thread that draws while somebody walks through the rewrites."""
        while not stale() and time.monotonic() - self._last_wanted < _QUIET_SECONDS:
            time.sleep(_REST_SECONDS)

    def is_idle(self, *, ahead: bool = True) -> bool:
        """Whether nothing is being made; without `ahead`, reading ahead is not counted.

        Reading ahead through thousands of steps takes minutes of small pieces, and nobody waits for it.
        """
        is_slow = self._slow is not None and not self._slow.is_idle()
        return not is_slow and self._front.is_idle() and self._back.is_idle("" if ahead else "ahead")

    @property
    def asked(self) -> int:
        """How many jobs have been asked for so far."""
        slow = 0 if self._slow is None else self._slow.asked
        return self._front.asked + self._back.asked + slow

    def close(self) -> None:
        """End all work."""
        self._front.close()
        self._back.close()
        if self._slow is not None:
            self._slow.close()
        if self._cancel is not None:
            self._cancel.cancel()

    def _failed(self, kind: str, error: Exception) -> None:
        self._post(messages.JobFailed(kind, error))
