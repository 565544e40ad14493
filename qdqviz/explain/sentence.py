"""One sentence for each rewrite of any pass: what it did, and what that gained."""

from __future__ import annotations

from collections.abc import Mapping

from qdqviz.explain.effect import Effect, Kind, effect_of, states_around
from qdqviz.explain.gain import Gain, gain_of
from qdqviz.explain.naming import Names
from qdqviz.explain.wording import wording
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import OpInfo
from qdqviz.ir.qparams import NO_OPS
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace


def sentence(trace: Trace, rewrite: Rewrite) -> str:
    """What a rewrite did, as one sentence.

    Text from the graph is in it as it is: make it safe (`qdqviz.ir.text.safe_text`) where it is shown.

    Args:
        trace: The trace.
        rewrite: One of its rewrites, with its changes.
    """
    before, after = states_around(trace, rewrite)
    return sentence_of(effect_of(rewrite, before, after), before, after, trace.ops)


def sentence_of(
    effect: Effect, before: GraphState, after: GraphState, ops: Mapping[str, OpInfo] = NO_OPS
) -> str:
    """What a rewrite did, as one sentence, given the states around it."""
    names = Names(effect, before, after)
    text = wording(effect, names, ops)
    if effect.kind is Kind.GRAPH:
        return f"{text}."
    return f"{text}{_gained(effect, gain_of(effect, names), names)}."


def _gained(effect: Effect, gain: Gain, names: Names) -> str:
    """What was gained in bytes, as a clause; empty where nothing was."""
    if gain.nodes:
        verb = "moves" if len(gain.nodes) == 1 else "move"
        numbers = f"now {verb} {gain.after:,} B instead of {gain.before:,} B"
        told = {node.id for node in names.crossed(effect)}
        renewed = [names.same_as.get(node.id) for node in gain.nodes]
        # A node that was made anew has another name now, so the sentence points at it instead.
        if None not in renewed and told == set(renewed):
            return f", which {numbers}"
        return f"; {names.list(gain.nodes)} {numbers}"
    if gain.saved > 0:
        return f"; {gain.saved:,} B less to move"
    return f"; {-gain.saved:,} B more to move" if gain.saved < 0 else ""
