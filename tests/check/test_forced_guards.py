"""Forcing each guard of each built-in pass says whether it is about correctness or about profit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from forced_guards import force
from pass_case import Case
from pass_guarding import CASES, IDS, guards_in, reason_of

from qdqviz.passes.names import BUILTIN_MODULES

DOCS = Path(__file__).parents[2] / "docs" / "passes" / "guards.md"


@dataclass(frozen=True)
class Row:
    """What the docs say of a guard."""

    reason: str
    about: str
    forced: str


def documented() -> dict[tuple[str, str], Row]:
    """The rows of the tables, by pass and guard."""
    found = {}
    name = ""
    for line in DOCS.read_text().splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ")
        elif line.startswith("| `"):
            guard, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found[name, guard.strip("`")] = Row(*rest)
    return found


ROWS = documented()


@pytest.mark.parametrize("each", CASES, ids=IDS)
def test_forcing_a_guard_comes_to_what_the_docs_say(each: Case, tmp_path: Path):
    row = ROWS[each.name, each.guard]
    forced = force(each, tmp_path)
    assert row.reason == reason_of(each)
    assert row.forced == ", ".join([forced.outcome, *forced.rules])
    harmless = forced.outcome in ("equal", "no rewrite")
    assert row.about == ("profit" if harmless else "correctness")


def test_the_docs_list_every_guard_in_the_order_of_the_source():
    names = dict.fromkeys(each.name for each in CASES)
    assert set(names) == set(BUILTIN_MODULES)
    assert list(ROWS) == [(name, guard) for name in names for guard in guards_in(name)]
