"""A window while it runs: its attempts, the pauses between them, and how it ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from campc_harness import agenda, jobs
from campc_harness.abroad import Abroad, Others
from campc_harness.bundle import Bundle, setting
from campc_harness.crew import Crew
from campc_harness.exits import DEADLINE, MISCONFIGURED
from campc_harness.job import Job
from campc_harness.ledger import Ledger
from campc_harness.outputs import free_name, settle
from campc_harness.plan import Identity, Window
from campc_harness.progress import Progress, RunState
from campc_harness.redact import Redactor
from campc_harness.reports import Recorder
from campc_harness.supervisor import Attempt
from campc_harness.torchrun import attempt_of
from campc_harness.verdicts import Ending

TRIES = 3
# An attempt that is lost with its supervisor is rarely to blame; one that takes the machine with it each time is.
_LOST = 9
_OVERDUE = "the lot's time is over but for bringing results home"
_LONGEST_PAUSE_S = 300.0
_AWAY_S = 6 * 3600.0


@dataclass(frozen=True)
class Host:
    """What a running window shares with its launcher.

    Attributes:
        progress: the records so far, up to the last line.
        deadline: Unix time at which a window's run must have left, or None.
        number: number of the next attempt of a run in a window.
        energy: what an attempt's last record says of the energy that the GPUs took since the last time it was asked.
        crew: the other nodes of the lot, where it has several.
    """

    bundle: Bundle
    ledger: Ledger
    redactor: Redactor
    progress: Callable[[], Progress]
    deadline: Callable[[Window], float | None]
    number: Callable[[Window, Identity | None], int]
    energy: Callable[[], dict[str, float]]
    crew: Crew | None = None


class Task:
    """One window on this machine, from its start to its end.

    Attributes:
        window: which.
        outcome: None while it runs; then `done`, `stop`, `failed`, `deadline`, `misconfigured` or `interrupted`.
    """

    def __init__(self, host: Host, window: Window) -> None:
        self.window = window
        self.outcome: str | None = None
        self.reason: str | None = None
        self.recorder: Recorder | None = None
        self.identity: Identity | None = None
        self._host = host
        self._script = agenda.runs_script(host.bundle.plan, window)
        shares = jobs.shares(host.bundle, window)
        self._ranks = sum(shares.values())
        self._others = Others(host.crew, window.name, shares) if host.crew is not None and set(shares) != {0} else None
        self._attempt: Attempt | Abroad | None = None
        self._resume_at = 0.0
        self._leaving: str | None = None
        self._rule: tuple[str, str] | None = None
        self._late = False
        self._began = host.progress().clock.now()
        host.ledger.append("window", window=window.name, state="started", planned=window.takes.likely_s)

    @property
    def trains(self) -> bool:
        """Whether it runs a run's script, and not a command."""
        return self._script

    @property
    def attempt(self) -> Attempt | Abroad | None:
        """The attempt that runs now."""
        return self._attempt

    def descriptors(self) -> list[int]:
        """What becomes readable when there is something to do."""
        return self._attempt.descriptors() if self._attempt else []

    def leave(self, number: int, why: str) -> None:
        """Ask the window to end: its attempt gets the signal `number`, and no other one follows."""
        self._leaving = why
        if self._attempt:
            self._attempt.signal(number)

    def overdue(self) -> None:
        """The lot's time is over: save and leave, so that results still get home. A run that minds its deadline has left."""
        if not self._late:
            self._late = True
            if self._attempt:
                self._attempt.signal(signal.SIGTERM)

    def stop_by(self, rule: str, text: str) -> None:
        """End the run by a stop rule that the launcher itself watches."""
        if self._rule is None:
            self._rule = (rule, text)
            if self._attempt:
                self._attempt.signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the window at once; what wasn't committed is lost."""
        self._leaving = self._leaving or "killed"
        if self._attempt:
            self._attempt.kill()

    def poll(self) -> bool:
        """Go on as far as possible without waiting; whether the window has ended."""
        if self.outcome is not None:
            return True
        if self._attempt is None:
            if self._leaving:
                return self._end("interrupted", self._leaving)
            if self._late:
                return self._end("deadline", _OVERDUE)
            if time.monotonic() < self._resume_at:
                return False
            return self._next()
        if self._others is not None and isinstance(self._attempt, Attempt):
            ending = self._others.poll(self._attempt)
        else:
            ending = self._attempt.poll()
        if ending is not None:
            self._attempt = None
            self._ended(ending)
        return self.outcome is not None

    def progress_text(self) -> str:
        """Where the window is, in a few words; empty before anything is known."""
        recorder = self.recorder
        if recorder is None or recorder.step is None or not self._script:
            return ""
        total = self.window.limit_steps or self._host.bundle.plan.run(self.window.run or "").steps
        of = f" of {total}" if total else ""
        values = "  ".join(f"{name} {value:.4g}" for name, value in list(recorder.values.items())[:4])
        return f"{recorder.run_id} {recorder.phase} {recorder.step}{of}  {values}".rstrip()

    def _next(self) -> bool:
        """Start the next attempt, of the first identifier that isn't over."""
        host, window = self._host, self.window
        if self._others is not None:
            if self._others.missing():
                return False
            refusal = self._others.refusal()
            if refusal:
                return self._end("misconfigured", refusal)
        if not self._script:
            return self._next_command()
        run = host.bundle.plan.run(window.run or "")
        for identity in run.ids:
            state = host.progress().run(identity.id, window.name)
            if state.outcome in ("done", "stop", "misconfigured"):
                continue
            if self._refused(identity):
                continue
            if state.lost() >= _LOST:
                self._exhausted({"run_id": identity.id, "window": window.name}, "its supervisor was lost", _LOST)
                continue
            number = host.number(window, identity)
            self.identity = identity
            outputs = host.bundle.outputs(identity.id, window).with_name("outputs.partial")
            anew = run.recover == "rerun"
            if anew and outputs.exists():
                outputs.rename(free_name(outputs.with_name("outputs.lost")))
            skip = state.passed_over(anew)
            deadline = host.deadline(window)
            config = {"config_sha256": identity.config_sha256, "ranks": self._ranks}
            master = self._others.begin(identity.id, number, deadline=deadline, skip=skip) if self._others else None
            if self._others is not None and not self._others.here:
                self._abroad(self._others, identity.id, number, **config)
                return self.outcome is not None
            job = jobs.run_job(
                host.bundle,
                window,
                run,
                identity,
                number,
                deadline=deadline,
                skip=skip,
                write_s=run.checkpoint.write_s if run.checkpoint else None,
                master=master,
            )
            self._start(job, **config)
            return self.outcome is not None
        return self._finish_run()

    def _abroad(self, others: Others, run_id: str | None, number: int, **more: object) -> None:
        """Record the start of an attempt that other nodes run alone."""
        recorder = self._record_start(run_id, number, node=others.first, **more)
        self._attempt = others.attempt(number, recorder.take)

    def _next_command(self) -> bool:
        host, window = self._host, self.window
        ids: list[str | None] = list(window.run_ids) or [None]
        for run_id in ids:
            if host.progress().run(run_id, window.name).outcome not in ("done", "stop"):
                number = host.number(window, None)
                if self._others is None:
                    self._start(jobs.command_job(host.bundle, window, run_id, number), command=True)
                else:
                    self._others.begin(run_id, number)
                    self._abroad(self._others, run_id, number, command=True)
                return self.outcome is not None
        return self._end("done", None)

    def _start(self, job: Job, **more: object) -> None:
        host = self._host
        recorder = self._record_start(job.run_id, job.attempt, log=str(job.log.relative_to(host.bundle.root)), **more)
        try:
            if self._script:
                Path(job.env["CAMPC_OUTPUTS"]).mkdir(parents=True, exist_ok=True)
            self._attempt = attempt_of(job)(job, recorder.take, host.redactor)
        except OSError as error:
            if self._others is not None:
                self._others.end(job.attempt)
            self._ended(Ending("crash", 127, f"it can't be started: {error.strerror}"))

    def _record_start(self, run_id: str | None, number: int, **more: object) -> Recorder:
        who = {"window": self.window.name, "run_id": run_id, "attempt": number}
        self._host.ledger.append("start", **who, **more)
        self.recorder = Recorder(self._host.ledger, self.window.name, run_id, number)
        return self.recorder

    def _refused(self, identity: Identity) -> bool:
        """Refuse an identifier that this ledger knows with another configuration."""
        before = self._host.progress().configurations.get(identity.id)
        if before is None or identity.config_sha256 is None or before == identity.config_sha256:
            return False
        reason = (
            f"{identity.id} was started before with another configuration "
            f"({before[:8]}…, now {identity.config_sha256[:8]}…): a changed run needs a new identifier"
        )
        self._host.ledger.append(
            "stop", run_id=identity.id, window=self.window.name, reason=reason, code=MISCONFIGURED, stop=None
        )
        return True

    def _ended(self, ending: Ending) -> None:
        host, recorder = self._host, self.recorder
        assert recorder is not None
        recorder.flush()
        run_id = self.identity.id if self.identity and self._script else self._command_id()
        number = host.progress().attempts.get(self.window.name, 1)
        who: dict[str, object] = {"run_id": run_id, "window": self.window.name, "attempt": number}
        who["step"] = ending.step if ending.step is not None else recorder.step
        reason = ending.reason or None
        if self._rule is not None and ending.outcome in ("interrupted", "crash", "deadline"):
            rule, text = self._rule
            host.ledger.append("stop", **who, stop=rule, value=text, reason=text, code=76, **host.energy())
            self._rule = None
        elif self._late and ending.outcome in ("interrupted", "crash"):
            host.ledger.append("deadline", **who, reason=_OVERDUE, code=DEADLINE, **host.energy())
            self._end("deadline", _OVERDUE)
        elif ending.outcome == "done":
            self._done(who, recorder)
        elif ending.outcome in ("stopped", "misconfigured"):
            values = {name: recorder.values[name] for name in sorted(recorder.values)}
            seen = self._seen(ending)
            host.ledger.append(
                "stop",
                **who,
                stop=ending.stop,
                value=seen,
                reason=reason,
                code=ending.code,
                metrics=values,
                **host.energy(),
            )
        elif ending.outcome == "deadline":
            host.ledger.append("deadline", **who, reason=reason, code=ending.code, **host.energy())
            self._end("deadline", reason)
        else:
            self._died(ending, who, reason)

    def _seen(self, ending: Ending) -> str | None:
        """The values on which a stop rule fired: what its reason says after the colon, less why the rule was written."""
        rule = next((rule for rule in self._host.bundle.plan.stops if rule.name == ending.stop), None)
        _, colon, text = ending.reason.partition(": ")
        if rule is None or not colon:
            return None
        return text.removesuffix(f" ({rule.because})")

    def _died(self, ending: Ending, who: dict[str, object], reason: str | None) -> None:
        """An attempt that neither finished nor stopped: try again after a pause, unless that has led nowhere."""
        host = self._host
        asked = self._leaving is not None
        word = ending.outcome if ending.outcome in ("interrupted", "hang") else "crash"
        if asked and word == "crash" and ending.code < 0:
            word, reason = "interrupted", f"{reason}, after it had been asked to leave"
        away: dict[str, object] = {"away": True} if ending.outcome == "away" else {}
        host.ledger.append(word, **who, reason=reason, code=0 if asked else ending.code, **away, **host.energy())
        if asked:
            self._end("interrupted", self._leaving)
            return
        state = host.progress().run(str(who["run_id"]) if who["run_id"] else None, self.window.name)
        if away:
            self._wait_for_the_place(state, reason)
            return
        fruitless = len(state.fruitless())
        if fruitless >= TRIES:
            self._exhausted(who, reason)
        elif word == "interrupted" and fruitless <= 1:
            self._resume_at = time.monotonic()
        else:
            self._pause(fruitless)

    def _pause(self, tries: int) -> None:
        pause = setting("CAMPC_PAUSE_S", 5.0) * 3.0 ** min(max(0, tries - 1), 9)
        self._resume_at = time.monotonic() + min(pause, _LONGEST_PAUSE_S)

    def _wait_for_the_place(self, state: RunState, reason: str | None) -> None:
        """The place of the checkpoints is away: try again for hours, since nothing is wrong with the run itself."""
        tries = state.away()
        patience = setting("CAMPC_AWAY_S", _AWAY_S)
        if tries and self._host.progress().clock.now() - tries[-1].began >= patience:
            # Not a stop: launched again, it goes on.
            self._end("failed", f"{reason}; it was tried again for {agenda.hours(patience)}")
        else:
            self._pause(len(tries))

    def _exhausted(self, who: dict[str, object], reason: str | None, tries: int = TRIES) -> None:
        if self._script:
            text = f"{tries} attempts without a newly committed step; the last one: {reason}"
            self._host.ledger.append("stop", **who, stop=None, reason=text, code=None)
        else:
            self._end("failed", f"{TRIES} attempts; the last one: {reason}")

    def _done(self, who: dict[str, object], recorder: Recorder) -> None:
        if self._script and self.identity:
            final = self._host.bundle.outputs(self.identity.id, self.window)
            settle(final.with_name("outputs.partial"), final)
        metrics = {name: recorder.values[name] for name in sorted(recorder.values)}
        state = self._host.progress().run(str(who["run_id"] or "") or None, self.window.name)
        all_metrics = {**state.metrics, **metrics}
        self._host.ledger.append("done", **who, outcome="done", metrics=all_metrics, **self._host.energy())

    def _finish_run(self) -> bool:
        states: list[RunState] = [self._host.progress().run(run_id, self.window.name) for run_id in self.window.run_ids]
        stopped = [state for state in states if state.outcome == "stop"]
        wrong = [state for state in states if state.outcome == "misconfigured"]
        if wrong:
            return self._end("misconfigured", wrong[0].reason)
        if stopped:
            return self._end("stop", f"{stopped[0].run_id} was stopped: {stopped[0].reason}")
        return self._end("done", None)

    def _end(self, outcome: str, reason: str | None) -> bool:
        self.outcome, self.reason = outcome, reason
        if outcome != "interrupted":
            state = "finished" if outcome in ("done", "stop") else "failed"
            began = self._host.progress().window(self.window.name).began or self._began
            self._host.ledger.append(
                "window",
                window=self.window.name,
                state=state,
                outcome=outcome,
                reason=reason,
                planned=self.window.takes.likely_s,
                actual=round(self._host.progress().clock.now() - began, 3),
            )
        return True

    def _command_id(self) -> str | None:
        job = self.recorder
        return job.run_id if job else None
