"""Checks, and tries out: what the screen does with the program behind a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui import messages
from qdqviz.tui.model.details.about_check import NO_PROGRAM
from qdqviz.tui.model.details.leads import ToLine
from qdqviz.tui.model.outline import Row
from qdqviz.tui.model.trial import Trial, intervention_text, rewrites_by_label, same_place
from qdqviz.tui.model.verdicts import Badge, Verdicts

if TYPE_CHECKING:
    from qdqviz.explain.answer import Guard
    from qdqviz.live.interventions import Intervention
    from qdqviz.tui.laboratory import Laboratory
    from qdqviz.tui.model.asking import Answer, Question
    from qdqviz.tui.screens.workbench import Workbench


class Trials:
    """Knows what checks have found, and what is being tried out."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._laboratory: Laboratory | None = None
        self._pending: tuple[Question, Callable[[Answer], None]] | None = None
        self._asked_for: tuple[Intervention, ...] = ()
        self.verdicts = Verdicts()
        """What checks have found."""
        self.trial = Trial()
        """What is being tried out."""

    def open(self, laboratory: Laboratory) -> None:
        """Take the program of the trace that is shown, and check its rewrites."""
        self._laboratory = laboratory
        counts = rewrites_by_label(laboratory.session.trace.runs)
        self.trial = Trial((), counts, counts)
        self._check()

    def close(self) -> None:
        """End all work."""
        if self._laboratory is not None:
            self._laboratory.close()

    def is_idle(self) -> bool:
        """Whether nothing is being done."""
        return self._laboratory is None or self._laboratory.is_idle()

    @property
    def asked(self) -> int:
        """How many jobs have been asked for so far."""
        return 0 if self._laboratory is None else self._laboratory.asked

    def badge(self, row: Row) -> Badge | None:
        """The badge of a row of the list."""
        if row.kind == "step" and row.step is not None:
            return self.verdicts.badge(row.step)
        return self.verdicts.run_badge(row.run) if row.kind == "run" and row.run is not None else None

    def want_lint(self) -> None:
        """Look for faults in the metadata of a trace without a program, once somebody wants to know."""
        bench = self._bench
        is_alone = self._laboratory is None and not bench.is_recording
        if is_alone and not self.verdicts.is_linted and bench.workshop is not None:
            bench.workshop.want_lint()

    # -- checks ------------------------------------------------------------------------------------

    def _check(self) -> None:
        assert self._laboratory is not None
        self._set(Verdicts(has_program=True, state="waiting"))
        self._laboratory.check()

    def take_checks(self, message: messages.Checked) -> None:
        """A check has gone on."""
        if self._laboratory is None or message.session is not self._laboratory.session:
            return
        state = "failed" if message.reason else "done" if message.is_done else "running"
        found = self.verdicts.with_checks(message.found)
        self._set(replace(found, state=state, reason=message.reason))  # type: ignore[arg-type]

    def take_findings(self, message: messages.Linted) -> None:
        """The metadata was looked at."""
        self._set(self.verdicts.with_findings(message.findings))

    def _set(self, verdicts: Verdicts) -> None:
        self.verdicts = verdicts
        self._bench.show_verdicts()

    # -- veto and force ----------------------------------------------------------------------------

    def veto(self) -> None:
        """Run the passes again, the pass that one is in skipping the selected node."""
        self._with_answer(self._veto)

    def force(self) -> None:
        """Run the passes again, the guard that turned the selected node down coming out the other way."""
        guard = self._guard_here()
        self._with_answer(lambda answer: self._force(answer, guard))

    def undo(self) -> None:
        """Take back the last intervention."""
        if self._ready() is not None:
            if self.trial.interventions:
                self.run_with(self.trial.interventions[:-1])
            else:
                self._say("nothing is tried out")

    def run_with(self, interventions: Sequence[Intervention]) -> None:
        """Run the passes again with these interventions."""
        laboratory = self._ready()
        if laboratory is not None:
            self._asked_for = tuple(dict.fromkeys(interventions))
            laboratory.rerun(self._asked_for)

    def answered(self, answer: Answer) -> None:
        """An answer was made; one may have waited for it."""
        if self._pending is not None and answer.question == self._pending[0]:
            _, act = self._pending
            self._pending = None
            act(answer)

    def _with_answer(self, act: Callable[[Answer], None]) -> None:
        """Do something once it is known what the pass did with the node."""
        bench = self._bench
        if self._ready() is None or bench.workshop is None:
            return
        question = bench.questions.current()
        if question is None or question.run is None:
            self._say("go to a rewrite first, or to a pass and select a node")
            return
        if question.node is None:
            what = "this rewrite is not about a node" if question.step else "select a node of the graph first"
            self._say(what)
            return
        known = bench.workshop.answer(question)
        if known is not None:
            act(known)
            return
        self._pending = question, act
        bench.workshop.want_answer(question)

    def _veto(self, answer: Answer) -> None:
        from qdqviz.live.interventions import Veto

        label = self._label(answer)
        if not answer.asked:
            self._say(f"{label} never looked at {answer.name}: there is nothing to veto")
            return
        self._add(Veto(label, answer.asked, answer.question.path))

    def _force(self, answer: Answer, chosen: Guard | None) -> None:
        from qdqviz.live.interventions import Force

        label = self._label(answer)
        guard = chosen or (None if answer.why is None else answer.why.guard)
        if guard is None or not answer.asked:
            self._say(f"{label} was not kept from {answer.name} by any test: there is nothing to force")
        elif guard.outcome is None:
            self._say(f"{guard.place} is no test, so it cannot come out the other way")
        else:
            file = PurePath(guard.file.replace("\\", "/")).name
            place = (guard.line, guard.column, answer.question.path, file)
            self._add(Force(label, answer.asked, *place, outcome=not guard.outcome))

    def _label(self, answer: Answer) -> str:
        """The pass run that really looked at the node: the innermost."""
        assert answer.why is not None
        return answer.why.inside or answer.why.pass_

    def _guard_here(self) -> Guard | None:
        """The guard on the line of the details that the cursor is on."""
        details = self._bench.stage.details
        lead = details.lead_here() if details.has_focus else None
        return lead.guard if isinstance(lead, ToLine) else None

    def _add(self, intervention: Intervention) -> None:
        if intervention in self.trial.interventions:
            self._say(f"in force already: {intervention_text(intervention)}")
        else:
            self.run_with((*self.trial.interventions, intervention))

    # -- other runs --------------------------------------------------------------------------------

    def take_run(self, message: messages.Reran) -> None:
        """The passes have run again: show that run at the same place, and check it."""
        from qdqviz.tui.model.archive import Archive

        bench, session = self._bench, message.session
        old = bench.lists
        assert old is not None
        bench.show_progress("")
        archive = Archive(type(session.trace)(session.trace.path))
        self.trial = Trial(self._asked_for, self.trial.before, rewrites_by_label(archive.lists.runs))
        bench.replace_archive(archive, same_place(old, archive.lists, bench.view.place))
        self._check()
        self._say(self._summary(), 6)
        if session.error is not None:
            self._say(f"a pass raised {type(session.error).__name__}: {session.error}", 8)

    def _summary(self) -> str:
        trial = self.trial
        if not trial.interventions:
            return "nothing is tried out any more"
        changed = [f"{label} {without} → {now}" for label, without, now in trial.differences[:4]]
        more = ", …" if len(trial.differences) > 4 else ""
        effect = f"rewrites: {', '.join(changed)}{more}" if changed else "as many rewrites as without"
        return f"{trial.texts[-1]}; {effect}"

    def take_failure(self, message: messages.TrialFailed) -> None:
        """Something could not be tried."""
        self._bench.show_progress("")
        self._bench.app.notify(message.reason, severity="error", timeout=8, markup=False)
        if self.verdicts.state in ("waiting", "running"):
            self._check()

    def take_breakdown(self, kind: str, reason: str) -> None:
        """Some work ended in a way that nobody foresaw, and was told of."""
        self._bench.show_progress("")
        if kind == "check":
            self._set(replace(self.verdicts, state="failed", reason=reason))
        elif self.verdicts.state in ("waiting", "running"):
            self._check()

    # -- the rest ----------------------------------------------------------------------------------

    def bisect(self) -> None:
        """Look for the first rewrite that breaks the outputs."""
        laboratory = self._ready()
        if laboratory is not None:
            self._bench.show_progress("bisecting …")
            laboratory.bisect()

    def take_bisection(self, message: messages.Bisected) -> int | None:
        """Say what was found; returns the step to go to."""
        found = message.found
        self._bench.show_progress("")
        runs = f"{len(found.trials)} run{'' if len(found.trials) == 1 else 's'}"
        if found.step is None:
            self._say(f"no rewrite breaks the outputs ({runs})")
            return None
        kind = f" ({found.judgement.kind.replace('_', ' ')})" if found.judgement.kind else ""
        verdict = f"{found.judgement.verdict}{kind}"
        self._say(f"step {found.step} is the first that breaks the outputs: {verdict}; {runs}", 8)
        return found.step

    def export(self, step: int, path: Path) -> None:
        """Write the program as it is after a step."""
        laboratory = self._ready()
        if laboratory is not None:
            laboratory.export(step, path)

    @property
    def has_program(self) -> bool:
        """Whether there is a program behind the trace."""
        return self._laboratory is not None

    def _ready(self) -> Laboratory | None:
        """The laboratory, or None and a word about why there is none."""
        if self._laboratory is None:
            self._say("wait for the end of the recording" if self._bench.is_recording else NO_PROGRAM)
        return self._laboratory

    def _say(self, text: str, seconds: float = 4) -> None:
        self._bench.app.notify(safe_text(text), timeout=seconds, markup=False)
