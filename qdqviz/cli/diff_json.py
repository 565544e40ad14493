"""A diff as JSON (schemas/diff.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdqviz.cli.diff_sides import Diff, Side
    from qdqviz.explain.difference import Told
    from qdqviz.explain.difference_text import Lines
    from qdqviz.ir.node import NodeState
    from qdqviz.trace.compare.model import (
        Comparison,
        Difference,
        Figures,
        GraphDifference,
        RunPair,
        SubjectPair,
    )

_STATUSES = ("equal", "different", "only_left", "only_right")


def to_json(diff: Diff, failures: Sequence[str]) -> dict[str, Any]:
    """One comparison.

    Args:
        diff: The comparison.
        failures: What of it was not to be.
    """
    found = diff.comparison
    part = found.divergence
    return {
        "target": diff.target,
        "sides": list(diff.teller.sides),
        "left": _side(diff.left),
        "right": _side(diff.right),
        "same": {
            "model": found.same_model,
            "rewrites": found.same_rewrites,
            "graphs": found.same_graphs,
            "metadata": not found.metadata and all(each.final.identical for each in found.subjects),
        },
        "counts": _counts(found),
        "divergence": None if part is None else {"left": part.left, "right": part.right},
        "passes": [_run(diff, run) for run in found.runs],
        "rewrites": [_rewrite(diff, told) for told in diff.teller.rewrites(metadata=True)],
        "programs": [_subject(diff, each) for each in found.subjects],
        "failures": list(failures),
    }


def _counts(found: Comparison | RunPair) -> dict[str, int]:
    return {**{each: found.count(each) for each in _STATUSES}, "metadata": len(found.metadata)}  # type: ignore[arg-type]


def _side(side: Side) -> dict[str, Any]:
    from qdqviz.cli.check import judgement_json

    outputs = side.outputs
    return {
        "name": side.name,
        "title": side.trace.info.title,
        "versions": dict(side.trace.info.versions),
        "steps": side.trace.steps,
        "complete": side.trace.complete,
        "error": side.error,
        "verdict": None if side.check is None else side.check.verdict,
        "outputs": None if outputs is None else judgement_json(outputs),
    }


def _run(diff: Diff, run: RunPair) -> dict[str, Any]:
    def label(side: Side, number: int | None) -> dict[str, Any] | None:
        if number is None:
            return None
        found = side.trace.runs[number]
        return {"run": found.id, "pass": found.name, "label": found.label, "source": found.source}

    return {
        "left": label(diff.left, run.left),
        "right": label(diff.right, run.right),
        "moved": run.moved,
        "same_source": run.same_source,
        "counts": _counts(run),
    }


def _rewrite(diff: Diff, told: Told) -> dict[str, Any]:
    from qdqviz.cli.check import judgement_json
    from qdqviz.cli.why import guard_json

    pair, absence = told.pair, told.pair.absence
    judgements = diff.left.judgement(pair.left), diff.right.judgement(pair.right)
    lines = diff.teller.lines(pair)
    return {
        "status": pair.status,
        "metadata_only": pair.is_metadata,
        "pass": diff.teller.run_name(told.run),
        "left": _step(diff.left, pair.left, told.left),
        "right": _step(diff.right, pair.right, told.right),
        "other_focus": pair.other_focus,
        "lines": list(told.lines),
        "differences": [_difference(each, lines) for each in pair.differences],
        "absence": None
        if absence is None
        else {
            "reason": absence.reason,
            "text": told.lacking,
            "follows": told.follows,
            "run": absence.run,
            "node": absence.name or None,
            "path": absence.path,
            "guard": None if told.guard is None else guard_json(told.guard),
            "chain": [] if told.why is None else [guard_json(each) for each in told.why.chain],
        },
        "numerics": {
            side: None if judgement is None else judgement_json(judgement)
            for side, judgement in zip(("left", "right"), judgements, strict=True)
        },
    }


def _step(side: Side, step: int | None, title: str) -> dict[str, Any] | None:
    if step is None:
        return None
    header = side.trace.headers[step - 1]
    return {"step": step, "run": header.run, "focus": header.name, "path": header.path, "title": title}


def _difference(each: Difference, lines: Lines) -> dict[str, Any]:
    left, right = lines.values(each)
    return {
        "aspect": each.aspect,
        "path": each.path,
        "left": _name(each.left),
        "right": _name(each.right),
        "what": lines.what(each),
        "place": list(each.place),
        "left_value": left,
        "right_value": right,
        "untouched": each.untouched,
        "metadata": each.is_metadata,
    }


def _name(node: NodeState | None) -> str | None:
    return None if node is None else node.name


def _subject(diff: Diff, each: SubjectPair) -> dict[str, Any]:
    return {
        "left": None if each.left is None else diff.left.trace.subjects[each.left].name,
        "right": None if each.right is None else diff.right.trace.subjects[each.right].name,
        "first": _graph(diff, each, each.first),
        "final": _graph(diff, each, each.final),
        "figures": {
            "left": {"first": _figures(each.left_first), "final": _figures(each.left_final)},
            "right": {"first": _figures(each.right_first), "final": _figures(each.right_final)},
        },
    }


def _graph(diff: Diff, each: SubjectPair, found: GraphDifference) -> dict[str, Any]:
    lines = diff.teller.graph_lines(each, found)
    return {
        "equal": found.equal,
        "lines": list(diff.teller.graph(each, found, metadata=True)),
        "differences": [_difference(one, lines) for one in found.differences],
        "reordered": [{"left": left.name, "right": right.name} for left, right in found.reordered],
    }


def _figures(found: Figures) -> dict[str, Any]:
    return {**asdict(found), "ops": dict(found.ops)}
