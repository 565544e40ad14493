"""Checks the rewrites of one subject, one after the other, on any number of input sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qdqviz.check.at_work import AtWork
from qdqviz.check.hints import hints
from qdqviz.check.inputs import InputSet
from qdqviz.check.judge import Judge
from qdqviz.check.outputs import OutputNames
from qdqviz.check.region import region_of
from qdqviz.check.report import Judgement, worst
from qdqviz.check.rules.rule import Touched
from qdqviz.check.sides import Sides
from qdqviz.check.values import CAP
from qdqviz.check.writes import begins_to_write, writes_to_inputs
from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.live.session import Session
from qdqviz.trace.model import Rewrite


class SubjectCheck:
    """A check of one subject: it goes through its rewrites in order."""

    def __init__(self, session: Session, subject: int, sets: Sequence[InputSet], cap: int = CAP) -> None:
        """Run the first state on every input set.

        Raises:
            NotCheckableError: The session kept no constants, or the inputs are not those of the program.
        """
        if session.store is None:
            raise NotCheckableError("this session kept no constants: run it again with them to check it")
        self._trace = session.trace
        self._cursor = session.trace.cursor(subject)
        self._names = OutputNames(session, subject)
        state = self._cursor.first()
        nodes = [node for path in state.paths() for node in state.body(path)]
        self._writes = any(writes_to_inputs(node, self._trace.ops) for node in nodes)
        self._sets = [AtWork(session, subject, each, state, self._names, self._writes, cap) for each in sets]

    def rewrite(self, rewrite: Rewrite) -> Judgement:
        """Judge the next rewrite; its worst judgement over graphs and input sets.

        Args:
            rewrite: The rewrite, with its changes; rewrites have to come in order.
        """
        before = self._cursor.before(rewrite.step)
        paths = list(dict.fromkeys(change.path for change in rewrite.changes))
        for path in paths:
            if path in before.bodies:
                before.body(path).user_sets()  # so that the state after inherits them
        after = self._cursor.after(rewrite.step)
        self._writes = self._writes or begins_to_write(rewrite, self._trace.ops)
        if self._writes:
            return worst(each.whole(before, after, rewrite.step) for each in self._sets)
        return worst(
            self._one_graph(each, path, before, after, rewrite) for each in self._sets for path in paths
        )

    def _one_graph(
        self, at_work: AtWork, path: str, before: GraphState, after: GraphState, rewrite: Rewrite
    ) -> Judgement:
        if path not in before.bodies or path not in after.bodies:
            # A sub-graph that appears or goes is judged where it is run.
            at_work.worlds.pop(path, None)
            return Judgement("equal")
        region = region_of(rewrite.changes, path, before.body(path), after.body(path))
        if not (region.dirty or region.erased or region.moved):
            return Judgement("equal")
        world = at_work.world(path, before)
        if world is None:
            return Judgement("not_checkable", where=path, detail=f"what {path} is run on is not known")
        if path and any(after.body(path)[node].op == "placeholder" for node in region.inserted):
            world.inputs.update(at_work.sub_graph_inputs(path, after) or {})
        name_output = self._names.of(path, after, rewrite.step)
        judge = Judge(Sides(world, before, after, region), rewrite.step, self._trace.ops, name_output)
        judgement = judge.judge()
        if (judgement.verdict, judgement.kind, path) == ("differs", "shape_dtype", ROOT):
            judgement = at_work.failing(before, after) or judgement
        if judgement.verdict in ("differs", "fails"):
            told = hints(Touched(rewrite, path, before.body(path), after.body(path), region, self._trace.ops))
            judgement = replace(judgement, detail="; ".join(filter(None, (*told, judgement.detail))))
        if judge.users:
            at_work.let_down.setdefault(rewrite.step, {})[path] = judge.users
        return judgement

    def confirm(self, step: int, steps: Sequence[int]) -> tuple[Judgement, Judgement, set[int]]:
        """Run the whole graph after a pass.

        Args:
            step: The last step of the pass.
            steps: Those of its steps that were found to differ or fail.

        Returns:
            What became of the outputs since the last whole run, and since the first state; and those of
            `steps` that later steps of the pass have made good.
        """
        state = self._cursor.at(step)
        found = [each.confirm(state, step, steps, self._writes) for each in self._sets]
        made_good = set(steps).intersection(*(each.made_good for each in found))
        for each in self._sets:
            each.rebase(made_good)
        return worst(each.since_last for each in found), worst(each.since_first for each in found), made_good
