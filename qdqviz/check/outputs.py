"""What outputs are called: by position, and by the buffer or input that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.live.session import Session

_STANDS_FOR = {
    "BUFFER_MUTATION": "the new value of the buffer",
    "PARAMETER_MUTATION": "the new value of the parameter",
    "USER_INPUT_MUTATION": "the new value of the input",
    "LOSS_OUTPUT": "the loss",
}


class OutputNames:
    """Names the outputs of one subject."""

    def __init__(self, session: Session, subject: int) -> None:
        is_main = subject in session.subjects and session.store is not None
        self._signatures = session.store.signatures if is_main and session.store is not None else ()

    def of(self, path: str, state: GraphState, step: int) -> Callable[[int], str]:
        """What the outputs of a graph are called.

        Args:
            path: The graph.
            state: The state that it is in.
            step: The step of that state.
        """
        if path != ROOT:
            return lambda at: f"output {at} of {path}"
        specs = self._specs(step)
        users = [at for at, spec in enumerate(specs) if spec.kind.name not in _STANDS_FOR]

        def name(at: int) -> str:
            if at < len(specs) and specs[at].kind.name in _STANDS_FOR:
                return f"{_STANDS_FOR[specs[at].kind.name]} {specs[at].target}"
            return f"output {users.index(at) if at in users else at}"

        return name

    def _specs(self, step: int) -> Sequence[Any]:
        known = [each for each in self._signatures if each.step <= step] or list(self._signatures[:1])
        return known[-1].outputs if known else ()
