"""One input set at work on one subject: worlds, whole runs, and who was let down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils import _pytree as pytree

from qdqviz.check.difference import difference
from qdqviz.check.findings import of_failure
from qdqviz.check.inputs import InputSet
from qdqviz.check.operations import Missing, Operations
from qdqviz.check.outputs import OutputNames
from qdqviz.check.report import Judgement
from qdqviz.check.running import Ran, run_graph
from qdqviz.check.whole import RunComparer
from qdqviz.check.world import World, caller_of, inputs_of, sub_inputs
from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.live.session import Session
from qdqviz.live.symbols import Symbols, bind


@dataclass(frozen=True)
class Confirmation:
    """What a whole run after a pass says."""

    since_last: Judgement
    """What became of the outputs since the last whole run."""
    since_first: Judgement
    """What became of them since the first state."""
    made_good: frozenset[int]
    """Steps whose users get again what they expect."""


class AtWork:
    """The values of one input set."""

    def __init__(
        self,
        session: Session,
        subject: int,
        given: InputSet,
        state: GraphState,
        names: OutputNames,
        writes: bool,
        cap: int,
    ) -> None:
        """Run the first state.

        Args:
            session: The session, with its constants.
            subject: The subject.
            given: The input set.
            state: The subject's first state.
            names: Names its outputs.
            writes: Whether its graphs write to their inputs.
            cap: Bytes of values to keep.

        Raises:
            NotCheckableError: There are more inputs than the graph takes.
        """
        store = session.store
        assert store is not None
        placeholders = inputs_of(state.root)
        values = _flat(given, [node.name for node in placeholders])
        if len(values) != len(placeholders):
            count = f"{len(values)} inputs, and the graph takes {len(placeholders)}"
            raise NotCheckableError(f"{given.name}: {count}")
        numbers: dict[Any, int] = {}
        for node, value in zip(placeholders, values, strict=True):
            known = store.nodes.get(node.id)
            bind(None if known is None else known.meta.get("val"), value, numbers)
        symbols = Symbols(store)
        self._operations = Operations(store, subject, lambda text: symbols.number(text, numbers))
        self._compare = RunComparer(session.trace, names, self._operations)
        self._inputs = {node.id: value for node, value in zip(placeholders, values, strict=True)}
        self._cap = cap
        world = World(ROOT, self._operations, self._inputs, cap)
        self.worlds: dict[str, World | None] = {ROOT: world}
        """Worlds by path; None where it is not known what a sub-graph is run on."""
        self.let_down: dict[int, dict[str, dict[int, Any]]] = {}
        """By step and path: unchanged users that got another value, with what they used to make."""
        self._computed: dict[int, Any] = {}
        self._first = (self._run(state, writes, None if writes else world.keep), state)
        self._latest = self._first
        """The latest run after a pass, and the state that it ran."""
        self._whole = self._first
        """The latest run after a rewrite of a graph that writes to its inputs, likewise."""

    def _run(self, state: GraphState, writes: bool, each: Callable[[int, Any], None] | None = None) -> Ran:
        return run_graph(state, ROOT, self._operations, self._inputs, each=each, writes=writes)

    # -- worlds ------------------------------------------------------------------------------------

    def world(self, path: str, state: GraphState) -> World | None:
        """The world of a graph; None where it is not known what it is run on."""
        if path not in self.worlds:
            inputs = self.sub_graph_inputs(path, state)
            self.worlds[path] = None if inputs is None else World(path, self._operations, inputs, self._cap)
        return self.worlds[path]

    def sub_graph_inputs(self, path: str, state: GraphState) -> dict[int, Any] | None:
        """What a sub-graph is run on, by placeholder; None where that is not known."""
        found = caller_of(state, path)
        if found is None:
            return None
        outer, caller = found
        world = self.world(outer, state)
        values = None if world is None else sub_inputs(world, state, caller, path)
        if values is None:
            return None
        placeholders = [node.id for node in state.body(path) if node.op == "placeholder"]
        return dict(zip(placeholders, values, strict=False))

    # -- whole runs --------------------------------------------------------------------------------

    def whole(self, before: GraphState, after: GraphState, step: int) -> Judgement:
        """Judge a rewrite of a graph that writes to its inputs: by running all of it, before and after."""
        if self._whole[1] is not before:
            self._whole = (self._run(before, writes=True), before)
        was, self._whole = self._whole, (self._run(after, writes=True), after)
        return self._compare.compare(*was, *self._whole, step)

    def failing(self, before: GraphState, after: GraphState) -> Judgement | None:
        """What fails in the whole graph after a rewrite that changed a shape or dtype, if it ran before."""
        missing = self._run(after, writes=False).missing
        if missing is None or not missing.fails or self._run(before, writes=False).missing is not None:
            return None
        return of_failure(missing)

    def since_first(self, state: GraphState, step: int, writes: bool) -> Judgement:
        """What has become of the outputs since the first state."""
        return self._compare.compare(*self._first, self._run(state, writes), state, step)

    def confirm(self, state: GraphState, step: int, steps: Sequence[int], writes: bool) -> Confirmation:
        """Run the whole graph after a pass; see `SubjectCheck.confirm`."""
        world = self.worlds[ROOT]
        wanted = {node for each in steps for node in self.let_down.get(each, {}).get(ROOT, {})}
        wanted |= set() if world is None else world.tainted.keys()
        self._computed = {}

        def look(node: int, value: Any) -> None:
            if node in wanted:
                self._computed[node] = value

        was, self._latest = self._latest, (self._run(state, writes, look), state)
        since_last = self._compare.compare(*was, *self._latest, step)
        since_first = self._compare.compare(*self._first, *self._latest, step)
        good = steps if since_last.verdict == "equal" else ()
        made_good = frozenset(each for each in good if self._is_made_good(each, state))
        return Confirmation(since_last, since_first, made_good)

    def _is_made_good(self, step: int, state: GraphState) -> bool:
        """Whether the users that a rewrite let down, as far as they are left, get again what they expect."""
        by_path = self.let_down.get(step)
        if by_path is None:  # not on this input set
            return True
        if set(by_path) != {ROOT}:
            return False
        left = {node: value for node, value in by_path[ROOT].items() if node in state.root}
        return all(
            state.root[node].op == "output" or _agrees(value, self._computed.get(node))
            for node, value in left.items()
        )

    def rebase(self, steps: set[int]) -> None:
        """After `confirm`: where all is well again, take the values that nodes compute for those expected."""
        world = self.worlds[ROOT]
        for node, step in () if world is None else list(world.tainted.items()):
            if step in steps and node in self._computed and world is not None:
                world.keep(node, self._computed[node])


def _agrees(expected: Any, computed: Any) -> bool:
    if computed is None or isinstance(computed, Missing) or isinstance(expected, Missing):
        return False
    return difference(expected, computed).kind is None


def _flat(given: InputSet, names: list[str]) -> list[Any]:
    """Values for the placeholders: leaves by position, then those by name."""
    leaves = pytree.tree_leaves(given.args)
    rest = names[len(leaves) :]
    named = dict(given.kwargs)
    if named and set(rest) >= set(named):
        return leaves + [named[name] for name in rest if name in named]
    return leaves + pytree.tree_leaves(named)
