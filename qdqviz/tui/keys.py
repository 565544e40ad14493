"""The one table of keys: bindings, footer, help and command palette are made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One thing to do, and the keys that do it."""

    keys: str
    """Names of the keys as Textual has them, separated by blanks."""
    shown: str
    """How the keys are written for people."""
    action: str
    """Textual action: of the screen, or of the pane that its group belongs to."""
    text: str
    """What it does."""
    word: str = ""
    """What it does in a word, for the footer; empty keeps it out of the footer."""


@dataclass(frozen=True, slots=True)
class Group:
    """Keys that belong together."""

    title: str
    """Heading in the help."""
    pane: str
    """Kind of pane that must have the focus; empty: any."""
    keys: tuple[Key, ...]
    """The keys."""
    needs_program: bool = False
    """Whether they do something only where there is a program behind the trace."""


GROUPS = (
    Group(
        "Walk",
        "",
        (
            Key("right l", "→ l", "step(1)", "Next rewrite"),
            Key("left h", "← h", "step(-1)", "Previous rewrite"),
            Key("right_square_bracket", "]", "run(1)", "Next pass, as a whole"),
            Key("left_square_bracket", "[", "run(-1)", "This or the previous pass, as a whole"),
            Key("g home", "g", "first", "First rewrite"),
            Key("G end", "G", "last", "Last rewrite"),
            Key("colon number_sign", ": #", "goto", "Go to a step by its number", "step"),
            Key("slash", "/", "find", "Find a node or a rewrite", "find"),
            Key("n", "n", "touching(1)", "Next rewrite of the selected node"),
            Key("N", "N", "touching(-1)", "Previous rewrite of the selected node"),
        ),
    ),
    Group(
        "Look",
        "",
        (
            Key("d", "d", "mode", "Before and after: side by side, merged, flickering", "view"),
            Key("f", "f", "flicker", "Flicker between before and after", "flicker"),
            Key("plus equals_sign", "+", "radius(1)", "Show more of the graph"),
            Key("minus", "-", "radius(-1)", "Show less of the graph"),
            Key("o", "o", "open", "Open or close folds: data movement, constants", "open"),
            Key("v", "v", "values", "Live ranges: q/dq and carriers, q/dq alone, all"),
            Key("z", "z", "unchanged", "Hide or show passes that changed nothing"),
            Key("escape", "esc", "back", "Back to the rewrite; drop the selection; stop a layout"),
        ),
    ),
    Group(
        "Panes",
        "",
        (
            Key("tab", "tab", "pane(1)", "Next pane", "pane"),
            Key("shift+tab", "shift+tab", "pane(-1)", "Previous pane"),
            Key("m", "m", "alone", "This pane alone, or all panes"),
            Key("1", "1", "show('steps')", "Passes and rewrites"),
            Key("2", "2", "show('graph')", "Graph"),
            Key("3", "3", "show('lanes')", "Live ranges"),
            Key("4", "4", "show('why')", "Why a pass did or did not fire"),
            Key("w", "w", "why", "Why not here? Asks all passes about the selected node", "why"),
            Key("5", "5", "show('node')", "The selected node"),
            Key("6", "6", "show('meta')", "Its metadata"),
            Key("7", "7", "show('source')", "The pass's source"),
            Key("8 c", "8 c", "show('check')", "Check of the numbers"),
        ),
    ),
    Group(
        "Check and try out, where the program is at hand",
        "",
        (
            Key("x", "x", "veto", "Veto: run again, this pass skipping the node", "veto"),
            Key("F", "F", "force", "Force: run again, the guard coming out the other way", "force"),
            Key("u", "u", "undo", "Take back the last veto or force"),
            Key("i", "i", "interventions", "List what is vetoed and forced; keep it in a file"),
            Key("b", "b", "bisect", "Go to the first rewrite that breaks the outputs", "bisect"),
        ),
        needs_program=True,
    ),
    Group(
        "Else",
        "",
        (
            Key("e", "e", "export", "Write the picture to a file, or the program as it is here", "export"),
            Key("t", "t", "theme", "Next theme", "theme"),
            Key("question_mark", "?", "help", "This help", "help"),
            Key("ctrl+p", "ctrl+p", "palette", "All commands"),
            Key("q ctrl+c ctrl+q", "q", "quit", "Quit", "quit"),
        ),
    ),
    Group(
        "In the list",
        "steps",
        (
            Key("up k", "↑ k", "move(-1)", "Up"),
            Key("down j", "↓ j", "move(1)", "Down"),
            Key("pageup", "page up", "page(-1)", "A page up"),
            Key("pagedown", "page down", "page(1)", "A page down"),
            Key("enter space", "enter", "fold", "Fold a pass away, or unfold it", "fold"),
        ),
    ),
    Group(
        "In the graph",
        "graph",
        (
            Key("up k", "↑ k", "walk('up')", "To what the node reads"),
            Key("down j", "↓ j", "walk('down')", "To what reads the node"),
            Key("shift+left H", "shift+← H", "walk('left')", "To the node on the left"),
            Key("shift+right L", "shift+→ L", "walk('right')", "To the node on the right"),
            Key("enter", "enter", "centre", "Look at the graph around the node", "look"),
            Key("pageup shift+up ctrl+up", "page up", "pan(0,-1)", "Pan up"),
            Key("pagedown shift+down ctrl+down", "page down", "pan(0,1)", "Pan down"),
            Key("less_than_sign ctrl+left", "<", "pan(-1,0)", "Pan left"),
            Key("greater_than_sign ctrl+right", ">", "pan(1,0)", "Pan right"),
        ),
    ),
    Group(
        "In live ranges and details",
        "text",
        (
            Key("up k", "↑ k", "move(-1)", "Up"),
            Key("down j", "↓ j", "move(1)", "Down"),
            Key("pageup", "page up", "page(-1)", "A page up"),
            Key("pagedown", "page down", "page(1)", "A page down"),
            Key("enter", "enter", "follow", "Go to the node that the line names", "follow"),
        ),
    ),
)
"""All keys, in the order of the help."""

_FOOTER_PAIRS = (("← →", "rewrite", "step(1)"), ("[ ]", "pass", "run(1)"))
"""What the footer begins with: keys that belong together."""


def keys_of(pane: str) -> Iterator[Key]:
    """The keys for one kind of pane; for none those that always count."""
    return (key for group in GROUPS if group.pane == pane for key in group.keys)


def bindings(pane: str = "") -> list[BindingType]:
    """Textual's bindings for the screen, or for one kind of pane."""
    return [
        Binding(name, key.action, key.text, show=False) for key in keys_of(pane) for name in key.keys.split()
    ]


def footer_keys(pane: str, has_program: bool = False) -> list[tuple[str, str, str]]:
    """(keys, word, action) for the footer while a kind of pane has the focus, the most useful first."""
    own = list(keys_of(pane)) if pane else []
    groups = [group for group in GROUPS if not group.pane and (has_program or not group.needs_program)]
    shown = [key for key in (*own, *(key for group in groups for key in group.keys)) if key.word]
    return [*_FOOTER_PAIRS, *((key.shown.split()[0], key.word, key.action) for key in shown)]


def number_of(pane: str) -> str:
    """The digit that shows a pane or tab."""
    return next(key.keys.split()[0] for key in keys_of("") if key.action == f"show({pane!r})")
