"""Declined attempts drawn at random, about 130 in all: each keeps the answer that was judged right."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import Any

import pytest
import why_recording  # noqa: F401  what upstream's modules expect
from why_reviewed_fresh import FRESH
from why_reviewed_more import MORE
from why_reviewed_sample import REVIEWED, SEED, Reviewed

from qdqviz.explain.evidence import Evidence, Look
from qdqviz.load.apply import apply_passes
from qdqviz.load.loaded import exported_of
from qdqviz.load.quiet import import_toolchain, quiet
from qdqviz.passes.catalogue import Catalogue
from qdqviz.record.api import record


@pytest.fixture(scope="module")
def evidence(tmp_path_factory, sample_program):
    """evidence(pass, sample) -> what the pass recorded on the sample."""
    known: dict[tuple[str, str], Evidence] = {}
    folder = tmp_path_factory.mktemp("sample")
    import_toolchain()
    catalogue = Catalogue()

    def get(pass_: str, sample: str) -> Evidence:
        if (pass_, sample) not in known:
            program = sample_program(sample)
            with quiet():
                made = catalogue.resolve(pass_)[0].make(exported_of(program, "forward"))
                # What upstream's verifier thinks of the result is not our question.
                with record(folder / f"{len(known)}.qdqtrace") as recording, suppress(Exception):
                    apply_passes(program, [made])
            known[pass_, sample] = Evidence(recording.trace())
        return known[pass_, sample]

    return get


def look_at(evidence: Evidence, row: Reviewed) -> tuple[Any, Look]:
    run = next(run for run in evidence.trace.runs if run.kind == "pass" and run.label == row.run)
    held = {
        node.id
        for state in (evidence.state_before(run), evidence.state_after(run))
        for path in state.paths()
        for node in state.body(path)
    }
    by_focus = defaultdict(list)
    for attempt in evidence.trace.attempts(run.id):
        by_focus[attempt.focus].append(attempt)
    focus = next(each for each, got in by_focus.items() if each in held and got[0].name == row.node)
    return run, evidence.look(by_focus[focus][row.nth])


@pytest.mark.parametrize(
    "row", (*REVIEWED, *MORE, *FRESH), ids=lambda row: f"{row.run}-{row.sample}-{row.node}-{row.nth}"
)
def test_the_answer_is_the_one_that_was_judged_right(evidence, row: Reviewed):
    found = evidence(row.pass_, row.sample)
    run, look = look_at(found, row)
    answer = found.told(look, found.blank(run, None))
    chain = tuple((guard.function.rpartition(".")[2], guard.text) for guard in answer.chain)
    assert chain == row.chain
    assert look.chain.kept is row.kept
    siblings = answer.chain[-1].siblings if answer.chain else ()
    assert tuple(dict.fromkeys(guard.text for guard in siblings)) == row.siblings


def test_the_sample_is_as_large_as_it_says():
    print(f"seed {SEED}")
    assert (len(REVIEWED), len(MORE), len(FRESH)) == (60, 36, 40)
