"""What a pass said of itself when it returned, against what it did."""

from __future__ import annotations

from qdqviz.trace.model import PassRun


def claim_text(run: PassRun) -> str:
    """What is to be noted about what a pass returned, in a few words; empty where nothing is.

    Pass managers take a pass that returns None for one that edited its graph in place. One that edits and
    says `modified=False` is believed: signatures are not brought up to date, and loops until nothing changes
    end early.
    """
    if run.kind != "pass" or run.error is not None or not run.done:
        return ""
    if run.modified is None and _is_class(run):
        return "it returned no PassResult"
    if run.modified is False and run.rewrites:
        return "it says that it modified nothing"
    return ""


def _is_class(run: PassRun) -> bool:
    """Whether the pass is an instance of a class: a function may well return nothing."""
    return run.name.lstrip("_")[:1].isupper()
