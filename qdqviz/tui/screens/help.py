"""The help: all keys, and what the signs mean."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Static

from qdqviz.draw.text import pad, width
from qdqviz.tui.keys import GROUPS
from qdqviz.tui.model.details.fact import Line, Part
from qdqviz.tui.model.verdicts import BADGE_TEXTS
from qdqviz.tui.widgets.lines import LinesView

_SIGNS = (
    ("+  ┏━┓", "mark.added", "added by the rewrite"),
    ("-  ┌╌┐", "mark.removed", "removed by the rewrite; a ghost in the picture after"),
    ("~  ╔═╗", "mark.rewired", "reads other nodes after the rewrite"),
    ("*", "mark.changed", "other arguments, or makes something else"),
    ("↕", "mark.moved", "only runs earlier or later: where it stood, → where it stands"),
    ("↑2 ↓3", "more", "inputs and users that the picture does not show"),
    ("⣿", "edge.real", "an edge that carries real values"),
    ("⢸", "edge.integer", "an edge that carries integers"),
    ("⣿", "mark.added", "an edge that the rewrite adds"),
    ("⠢⡀", "mark.removed", "an edge that it removes, dotted"),
    ("├███┤", "lane.real", "real values, from the node that makes them to their last use"),
    ("├▒▒▒┤", "lane.integer", "integers"),
    ("▶  ×", "muted", "returned by the graph; never used"),
    *((sign, "bold", text) for sign, text in BADGE_TEXTS.items()),
    ("▌  ✗", "source.ran", "in the source: ran; turned the node down"),
)


class HelpScreen(ModalScreen[None]):
    """Shows the table of keys and the signs; any of esc, ?, q and enter closes it."""

    BINDINGS = [
        Binding("escape,question_mark,q,enter", "dismiss", "Close", show=False),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("down,j", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-15)", "Page up", show=False),
        Binding("pagedown,space", "scroll(15)", "Page down", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > #panel {
        width: 78; max-width: 100%; height: 90%; background: $surface; border: heavy $accent; padding: 0 1;
    }
    HelpScreen > Static { height: 1; width: 78; max-width: 100%; color: $text-muted; text-align: center; }
    """

    def compose(self) -> ComposeResult:
        """The panel, and how to close it."""
        panel = LinesView(id="panel")
        panel.can_focus = False
        yield panel
        yield Static("↑ ↓ scroll · esc closes", markup=False)

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one("#panel", LinesView).set_lines(help_lines())

    def action_scroll(self, by: int) -> None:
        """Scroll."""
        panel = self.query_one("#panel", LinesView)
        panel.scroll_lines_to(panel.top + by)


def help_lines() -> list[Line]:
    """The help as lines."""
    lines: list[Line] = []
    for group in GROUPS:
        lines += [()] if lines else []
        lines.append((Part(group.title, "ui.title_focus"),))
        lines += [(Part(pad(key.shown, 14), "bold"), Part(key.text)) for key in group.keys]
    lines += [(), (Part("Mouse", "ui.title_focus"),)]
    mouse = (("click", "Pick a row, a node, a tab, a key"), ("drag, wheel", "Pan the graph, scroll the rest"))
    lines += [(Part(pad(key, 14), "bold"), Part(text)) for key, text in mouse]
    lines += [(), (Part("Signs", "ui.title_focus"),)]
    for sign, style, text in _SIGNS:
        lines.append((Part(sign, style), Part(" " * (14 - width(sign))), Part(text)))
    return lines
