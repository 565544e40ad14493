"""Puts the panes in their places and shows scenes in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.draw.grid import CellRect
from qdqviz.tui.keys import number_of
from qdqviz.tui.model.apart import apart
from qdqviz.tui.model.arrangement import DETAILS, Area, Arrangement, split
from qdqviz.tui.model.details.tabs import DETAIL_TABS
from qdqviz.tui.model.frame import Frame, PaneFrame, Tab
from qdqviz.tui.model.scene import Scene
from qdqviz.tui.model.view import GraphMode, View
from qdqviz.tui.model.window import Window
from qdqviz.tui.widgets.bars import HeaderBar, KeysBar, StatusBar
from qdqviz.tui.widgets.frame import FrameView
from qdqviz.tui.widgets.graph import GraphView
from qdqviz.tui.widgets.lines import DetailsView, LanesView
from qdqviz.tui.widgets.outline import OutlineView

if TYPE_CHECKING:
    from textual.widget import Widget

    from qdqviz.draw.picture import View as PictureView

_TITLES = {"steps": "Steps", "graph": "Graph", "lanes": "Lanes"} | {
    tab.name: tab.title for tab in DETAIL_TABS
}
_SEEN = 4
"""Boxes of what a scene is about that must be in view for the window to stay."""

_WORDS: dict[PictureView, str] = {"before": "before", "after": "after", "union": "before + after"}


class Stage:
    """The panes of the main screen."""

    def __init__(self, outline: OutlineView) -> None:
        self.frame = FrameView(id="frame")
        self.header = HeaderBar(id="header")
        self.status = StatusBar(id="status")
        self.keys = KeysBar(id="keys")
        self.outline = outline
        self.left = GraphView(id="left")
        """The graph; the state before where two are side by side."""
        self.right = GraphView(id="right")
        """The state after where two are side by side."""
        self.lanes = LanesView(id="lanes")
        self.details = DetailsView(id="details")
        self.arrangement: Arrangement | None = None
        """Where everything is; None while the terminal is too small."""
        self.scene: Scene | None = None
        """What is shown; None while something is told in its place."""
        self._last: Scene | None = None
        self._apart = (0, 0)
        self._arranged_mode: GraphMode | None = None
        self.lanes_note = ""
        """Said beside the title of the live ranges."""
        self.details_note = ""
        """Said beside the tabs of the details."""

    def widgets(self) -> list[Widget]:
        """All of them, the frame first."""
        bars: list[Widget] = [self.frame, self.header, self.status, self.keys]
        return [*bars, *self.panes()]

    def panes(self) -> list[Widget]:
        """Those that can have the focus, in the order of tab."""
        return [self.outline, self.left, self.right, self.lanes, self.details]

    # -- places ------------------------------------------------------------------------------------

    def mode(self, view: View) -> GraphMode:
        """How before and after are shown; where there is one state only it has all the room."""
        if self._last is not None and not self._last.is_pair:
            return "merged"
        arrangement = self.arrangement
        return view.shown_mode(arrangement is not None and arrangement.can_split)

    def tab(self, view: View) -> str:
        """The tab that is shown: the one chosen, where this arrangement has it."""
        assert self.arrangement is not None
        tabs = self.arrangement.tabs
        if view.tab in tabs:
            return view.tab
        if view.place.kind == "declined" and tabs == DETAILS:
            return "why"
        return "node" if tabs == DETAILS else "graph" if "graph" in tabs else tabs[0]

    def arrange(self, arrangement: Arrangement | None, view: View) -> None:
        """Put every pane where it belongs, or out of sight."""
        self.arrangement = arrangement
        if arrangement is None:
            for widget in self.widgets():
                widget.display = False
            return
        self._arranged_mode = self.mode(view)
        width, height = arrangement.width, arrangement.height
        _put(self.frame, Area(0, 0, width, height))
        _put(self.header, Area(0, 0, width, 1))
        _put(self.status, arrangement.status)
        _put(self.keys, Area(0, height - 1, width, 1))
        for name, area in self.areas(view).items():
            _put(self.pane(name), area)

    def areas(self, view: View) -> dict[str, Area | None]:
        """Where each pane is."""
        assert self.arrangement is not None
        tab = self.tab(view)
        found = {name: self.arrangement.area(name, tab) for name in ("steps", "lanes", "details")}
        graph = self.arrangement.area("graph", tab)
        if graph is not None and self.mode(view) == "split":
            found["left"], found["right"] = split(graph)
        else:
            found["left"], found["right"] = graph, None
        return found

    def pane(self, name: str) -> Widget:
        """A pane by its name; tabs of the details are all the same one."""
        by_name: dict[str, Widget] = {
            "steps": self.outline,
            "graph": self.left,
            "left": self.left,
            "right": self.right,
            "lanes": self.lanes,
        }
        return by_name.get(name, self.details)

    def stops(self, view: View) -> list[str]:
        """What the tab key goes to, in order: panes in view, and tabs where panes are tabs."""
        assert self.arrangement is not None
        tabs = list(self.arrangement.tabs)
        order = ["steps", "graph", "right", "lanes"]
        fixed = [name for name in order if name in self.arrangement.panes]
        if "graph" in fixed and self.mode(view) == "split":
            fixed.insert(fixed.index("graph") + 1, "right")
        return [*fixed, "details"] if tabs == list(DETAILS) else [*fixed, *tabs]

    # -- frame -------------------------------------------------------------------------------------

    def draw_frame(self, view: View) -> None:
        """Draw the lines and what is written in them."""
        arrangement = self.arrangement
        if arrangement is None:
            return
        tab = self.tab(view)
        frames = []
        for name, area in self.areas(view).items():
            if area is not None and area != arrangement.tabbed:
                frames.append(self._frame_of(name, area, view))
        tabs = tuple(
            Tab(name, f"{number_of(name)} {_TITLES[name]}", name == tab) for name in arrangement.tabs
        )
        inside = [self.pane(tab)] if tab != "graph" else [self.left, self.right]
        if tab == "graph" and self.mode(view) == "split":
            frames += [PaneFrame(name, area) for name, area in self._halves(view)]
        has_focus = any(pane.has_focus for pane in inside)
        note = self.lanes_note if tab == "lanes" else self.details_note if tab in DETAILS else ""
        frames.append(PaneFrame(tab, arrangement.tabbed, note=note, tabs=tabs, has_focus=has_focus))
        self.left.caption = (
            self._caption("left", view) if tab == "graph" and self.mode(view) != "split" else None
        )
        self.frame.show(Frame(arrangement.width, arrangement.height, tuple(frames), arrangement.framed))

    def _halves(self, view: View) -> list[tuple[str, Area]]:
        areas = self.areas(view)
        return [(name, area) for name in ("left", "right") if (area := areas[name]) is not None]

    def _frame_of(self, name: str, area: Area, view: View) -> PaneFrame:
        pane = self.pane(name)
        if name == "steps":
            hidden = self.outline.outline.hidden
            title = f"1 passes, {hidden} hidden" if hidden else "1 passes & rewrites"
            return PaneFrame(name, area, title, has_focus=pane.has_focus)
        if name == "lanes":
            return PaneFrame(name, area, "3 live ranges", self.lanes_note, has_focus=pane.has_focus)
        title, note = self._caption(name, view)
        if name == "left":
            title = f"2 {title}"
            note = note if self.mode(view) != "split" else ""
        return PaneFrame("graph" if name == "left" else name, area, title, note, (), pane.has_focus)

    def _caption(self, name: str, view: View) -> tuple[str, str]:
        """Title and note of a graph pane."""
        cells = self.left.cells if name == "left" else self.right.cells
        cues = self.left.window.cues(cells) if cells is not None else ""
        one = self._last is not None and not self._last.is_pair
        return (
            f"{'graph' if one else _WORDS[self.picture_view(name, view)]}  {cues}".rstrip(),
            self._graph_note(view),
        )

    def _graph_note(self, view: View) -> str:
        """What the picture is around, or what is left out of it, else what its signs mean."""
        from qdqviz.draw.legend import legend

        scene = self.scene
        if scene is None:
            return ""
        anchor = scene.lens.anchor
        if anchor is not None and scene.has(anchor):
            return f"around {scene.name(anchor)} · esc goes back"
        if scene.sight.left_out:
            count = len(scene.sight.focus)
            return f"around {count} of {count + scene.sight.left_out:,} nodes that differ"
        if scene.picture.cut:
            return f"the nearest {len(scene.picture.boxes)} boxes; - shows fewer"
        marks = [entry for entry in legend(scene.picture.with_view("union")) if entry.kind == "mark"]
        return "  ".join(f"{entry.key} {entry.text.partition(':')[0]}" for entry in marks)

    # -- scenes ------------------------------------------------------------------------------------

    def picture_view(self, name: str, view: View) -> PictureView:
        """Which view of the picture a graph pane shows."""
        if self._last is not None and not self._last.is_pair:
            return "after"
        mode = self.mode(view)
        if mode == "split":
            return "before" if name == "left" else "after"
        return "union" if mode == "merged" else view.flicker

    def show_scene(self, scene: Scene, view: View, window: Window | None = None) -> None:
        """Show a scene in the graph panes.

        Args:
            scene: What to show.
            view: How.
            window: Which part; None keeps in place what it shares with the scene before, else puts what it is
                about in the middle.
        """
        last, self._last, self.scene = self._last, scene, scene
        self._apart = apart(scene)
        if self.arrangement is not None and self.mode(view) != self._arranged_mode:
            self.arrange(self.arrangement, view)
        areas = self.areas(view) if self.arrangement is not None else {}
        for name, pane in (("left", self.left), ("right", self.right)):
            area = areas.get(name)
            if area is None:
                continue
            window = window or self._kept(last, scene, view.selected, area) or _middle(scene, area)
            cells = scene.cells[self.picture_view(name, view)]
            across, down = self._apart if name == "right" else (0, 0)
            shown = Window(window.x + across, window.y + down, area.width, area.height)
            pane.show(cells, shown)

    def _kept(self, last: Scene | None, scene: Scene, node: int | None, area: Area) -> Window | None:
        """The window in which what two scenes share stays where it is on the screen.

        A node that was picked stays; else as many boxes as can, unless many others would be out of view
        although there is room. None where that would hide what the scene is about. It makes no difference
        whether anything was told in between.
        """
        from qdqviz.draw.anchor import best_shift

        if last is None:
            return None
        window = replace(self.left.window, columns=area.width, rows=area.height)
        old = None if node is None else box_rect(last, node)
        new = None if node is None else box_rect(scene, node)
        cells = scene.cells["union"]
        if old is not None and new is not None and self.left.window.shows_part_of(old):
            return replace(window, x=new.column - old.column + window.x, y=new.row - old.row + window.y)
        shift = best_shift(last.cells["union"], cells)
        kept = replace(window, x=window.x - shift.columns, y=window.y - shift.rows).steady(cells)
        is_close = shift.kept > 0 and all(map(kept.shows_all_of, _about(scene)[:_SEEN]))
        return kept if is_close else None

    def reveal(self, node: int, view: View) -> None:
        """Pan so far that a node's box is in view."""
        if self.scene is None:
            return
        rect = box_rect(self.scene, node)
        if rect is not None and self.left.cells is not None:
            if self.mode(view) == "split" and self.scene.sight.before and node not in self.scene.sight.before:
                rect = replace(rect, column=rect.column - self._apart[0], row=rect.row - self._apart[1])
            window = self.left.window.showing(rect)
            if window != self.left.window:
                self.show_scene(self.scene, view, window.within(self.left.cells))

    def pan(self, pane: str, x: int, y: int, view: View) -> None:
        """Have the other graph pane follow one that shows another part."""
        if self.scene is not None:
            across, down = self._apart if pane == "right" else (0, 0)
            window = replace(self.left.window, x=x - across, y=y - down)
            self.show_scene(self.scene, view, window)

    def select(self, node: int | None) -> None:
        """Mark the box of a node."""
        found = None if node is None or self.scene is None else self.scene.picture.box(node)
        for pane in (self.left, self.right):
            pane.select(None if found is None else found.id)

    def tell(self, notice: str) -> None:
        """Say something in place of the graphs."""
        self.scene = None
        for pane in (self.left, self.right):
            pane.tell(notice)

    def forget(self) -> None:
        """Forget what was shown: the next scene has nothing to do with it."""
        self.scene = self._last = None


def box_rect(scene: Scene, node: int) -> CellRect | None:
    """Where the box of a node is in a scene's pictures."""
    box = scene.picture.box(node)
    return None if box is None else scene.cells["union"].rects.get(box.id)


def _about(scene: Scene) -> list[CellRect]:
    """The places of the boxes that a scene is about; of all boxes where it is about none."""
    boxes = [box for box in scene.picture.boxes if box.focus] or list(scene.picture.boxes)
    rects = scene.cells["union"].rects
    return [rects[box.id] for box in boxes if box.id in rects]


def _middle(scene: Scene, area: Area) -> Window:
    """The window with what a scene is about in the middle."""
    return Window(0, 0, area.width, area.height).centred(_about(scene)).within(scene.cells["union"])


def _put(widget: Widget, area: Area | None) -> None:
    """Put a widget in a place, or out of sight."""
    widget.display = area is not None
    if area is not None:
        widget.styles.offset = (area.x, area.y)
        widget.styles.width = area.width
        widget.styles.height = area.height
