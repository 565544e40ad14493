"""Makes the scenes of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.compare.sight import look
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.ranges import RangesMaker
from qdqviz.tui.model.scene import Lens, Scene, draw_scene
from qdqviz.tui.workshop import Post, Workshop

if TYPE_CHECKING:
    from qdqviz.draw.engine import Cancel, LayoutEngine


class PairWorkshop(Workshop):
    """A workshop whose scenes show the left graph and the right one."""

    def __init__(self, archive: PairArchive, post: Post) -> None:
        """Open it.

        Args:
            archive: Both traces.
            post: Told of everything that was made.
        """
        super().__init__(archive, post)
        self.pairs = archive
        """Both traces."""
        self._ranges = RangesMaker(archive.compared.sides)

    def _make(self, place: Place, lens: Lens, engine: LayoutEngine, cancel: Cancel) -> Scene:
        seen = look(self.pairs, place, lens)
        return draw_scene(seen, self.pairs.lists.ops, place, lens, engine, cancel)

    def want_lint(self) -> None:
        """Faults in metadata are not looked for: the Check tab has the numerics of both sides."""
