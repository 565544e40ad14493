"""Bisection: by outputs, by a command; how many runs; what it cannot tell."""

from __future__ import annotations

import math
import sys

import pytest
import torch
from live_programs import in_place, session_of
from mixed_program import AT, Editor, mixed

from qdqviz.check.bisect import bisect, by_command, by_outputs
from qdqviz.check.report import Judgement
from qdqviz.cli.bisect import write_pt2
from qdqviz.errors import NotCheckableError, UsageError
from qdqviz.live.session import run
from qdqviz.passes.resolve import resolve


@pytest.fixture(scope="module")
def reordered(tmp_path_factory, loaded_sample):
    path = tmp_path_factory.mktemp("bisect") / "t.qdqtrace"
    return run(loaded_sample("dynamic_linear"), resolve("cadence-reorder"), path)


def test_bisecting_by_outputs_lands_on_the_first_wrong_rewrite(reordered):
    found = bisect(reordered, by_outputs(reordered))
    wrong = [header.step for header in reordered.trace.headers if "per_channel" in header.name]
    first = min(
        step
        for step in wrong
        if reordered.trace.runs[reordered.trace.headers[step - 1].run].name.startswith("Post")
    )
    assert found.step == first
    assert found.name == "PostponeDequantizeOpBelowUseChainPass"
    assert found.judgement.verdict == "differs"
    assert len(found.trials) <= math.ceil(math.log2(reordered.trace.steps)) + 2


@pytest.mark.parametrize("first", [1, 2, 5, 6])
def test_any_first_bad_step_is_found(reordered, first):
    verdicts = {True: Judgement("differs", "wrong"), False: Judgement("equal")}
    found = bisect(reordered, lambda step: verdicts[step >= first])
    assert found.step == first
    assert [trial.step for trial in found.trials][:2] == [6, 0]


def test_steps_that_cannot_be_told_are_stepped_around_and_named(reordered):
    def judge(step):
        if step in (2, 3):
            return Judgement("not_checkable")
        return Judgement("fails") if step >= 4 else Judgement("equal")

    found = bisect(reordered, judge)
    assert (found.step, found.unsure) == (4, (2, 3))


def test_nothing_is_found_where_the_last_state_is_good(reordered):
    found = bisect(reordered, lambda step: Judgement("equal"))
    assert (found.step, len(found.trials)) == (None, 1)


def test_a_program_that_is_broken_from_the_start_is_refused(reordered):
    with pytest.raises(NotCheckableError, match="broken before any rewrite"):
        bisect(reordered, lambda step: Judgement("fails", detail="of course"))


def test_tolerated_kinds_count_as_good(tmp_path):
    def drop_rounding(module):
        editor = Editor(module)
        quantize = editor.find(torch.ops.quantized_decomposed.quantize_per_tensor.default)
        dequantize = next(iter(quantize.users))
        dequantize.replace_all_uses_with(quantize.args[0])
        editor.erase(dequantize, quantize)

    session = session_of(*mixed(), [in_place(drop_rounding)], tmp_path)
    assert bisect(session, by_outputs(session)).step is not None
    tolerant = by_outputs(session, tolerated=("quantization_step", "wrong"))
    assert bisect(session, tolerant).step is None


def test_a_command_decides_by_its_exit_code(tmp_path):
    def negate_twice(module):
        for index in (0, 1):
            editor = Editor(module)
            old = editor.find(AT.relu.default if index else AT.gelu.default)
            new = editor.call(old, AT.neg.default, old)
            old.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)

    session = session_of(*mixed(), [in_place(negate_twice)], tmp_path)
    assert session.trace.steps == 2
    script = tmp_path / "judge.py"
    # A .pt2 is an archive; its graph is JSON in it.
    script.write_text(
        "import sys, zipfile\n"
        "archive = zipfile.ZipFile(sys.argv[1])\n"
        "graph = next(name for name in archive.namelist() if name.endswith('models/model.json'))\n"
        "sys.exit(archive.read(graph).count(b'aten.neg') > 1)\n"
    )
    judge = by_command(
        session,
        f"{sys.executable} {script} {{module}}",
        lambda program, file: write_pt2(program, file, session),
    )
    found = bisect(session, judge)
    assert found.step == 2
    assert found.judgement.detail == "the command ended with 1"


@pytest.mark.parametrize(("code", "verdict"), [(0, "equal"), (1, "differs"), (125, "not_checkable")])
def test_exit_codes_mean_what_they_mean_to_git_bisect(reordered, code, verdict):
    judge = by_command(reordered, f"true {{module}}; exit {code}", lambda program, file: None)
    assert judge(1).verdict == verdict


def test_a_program_that_cannot_be_written_cannot_be_told(reordered):
    def write(program, file):
        raise RuntimeError("no such serializer")

    assert by_command(reordered, "true {module}", write)(1).detail == "cannot be written: no such serializer"


def test_a_command_has_to_say_where_the_module_goes(reordered):
    with pytest.raises(UsageError, match=r"\{module\}"):
        by_command(reordered, "true", lambda program, file: None)
