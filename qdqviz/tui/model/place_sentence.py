"""One sentence for places that are no rewrite: a pass as a whole, the start of a subject."""

from __future__ import annotations

from collections.abc import Mapping

from qdqviz.explain.claims import claim_text
from qdqviz.ir.graph import GraphState
from qdqviz.ir.text import safe_text
from qdqviz.trace.model import PassRun, Subject


def run_sentence(run: PassRun, endings: Mapping[str, int] | None = None) -> str:
    """What a pass run did as a whole; safe to show.

    Args:
        run: The pass run.
        endings: How attempts ended that neither declined nor made a rewrite: word -> how many.
    """
    name = safe_text(run.label)
    if run.error is not None:
        error = run.error
        where = f" ({error.file}:{error.line})" if error.file else ""
        return safe_text(f"{name} raised {error.type}: {error.message}{where}")
    if not run.done:
        return f"{name} has made {_rewrites(run.rewrites)} and has not ended."
    changed = _rewrites(run.rewrites) if run.rewrites else "nothing changed"
    parts = [changed]
    if run.attempts:
        ended = {"declined": run.declined, **(endings or {})}
        told = ", ".join(f"{count:,} {word}" for word, count in ended.items())
        parts.append(f"{_count(run.attempts, 'attempt')}, {told}")
    elif run.decisions != "recorded":
        parts.append(f"its decisions are missing ({safe_text(run.decisions)})")
    parts += [said] if (said := claim_text(run)) else []
    parts.append(seconds_text(run.seconds))
    return f"{name}: {'; '.join(parts)}."


def start_sentence(subject: Subject, state: GraphState) -> str:
    """What a subject is before any pass; safe to show."""
    nodes = sum(len(state.body(path)) for path in state.paths())
    graphs = len(state.paths()) - 1
    inner = f" and {_count(graphs, 'sub-graph')}" if graphs else ""
    size = f"{_count(nodes, 'node')}{inner}"
    return f"{safe_text(subject.name)} before any pass: {size}, {subject.dialect} dialect."


def seconds_text(seconds: float) -> str:
    """`0.4 ms`, `35 ms`, `1.2 s`."""
    if seconds < 0.01:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _rewrites(count: int) -> str:
    return _count(count, "rewrite")


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
