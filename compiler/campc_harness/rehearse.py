"""The dry run: each run for a few steps, killed, resumed, and compared with a twin that nobody disturbed."""

from __future__ import annotations

import contextlib
import select
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from campc_harness import clock, jobs, longest
from campc_harness.bundle import Bundle, read_json, setting, write_json
from campc_harness.ledger import Ledger, read
from campc_harness.observed import Observed, size_literal
from campc_harness.plan import RunPlan, Window
from campc_harness.supervisor import Attempt
from campc_harness.verdicts import Ending, last_line

_PATIENCE_S = 1800.0
RECORD = "rehearsal.json"
_LOGS = {"first attempt": "first", "undisturbed twin": "twin"}


@dataclass
class RunRehearsal:
    """What came of one run."""

    run: str
    passed: bool = False
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    observed: Observed = field(default_factory=Observed)


def rehearse(bundle: Bundle, say: Callable[[str], None] = print) -> bool:
    """Rehearse every run that this lot's windows execute; whether all passed. The result is recorded."""
    ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, bundle.redactor().text)
    results = []
    for run in _runs(bundle):
        say(f"{run.name}: a few steps, a checkpoint, a kill, a resumption, and an undisturbed twin")
        whole = _whole_corpus(bundle, run)
        if whole:
            say(f"  {whole}")
        result = _rehearse_run(bundle, run)
        results.append(result)
        for line in [*result.differences, *result.notes]:
            say(f"  {line}")
        say(f"  {'passed' if result.passed else 'FAILED'}")
        _say_measured(result, say)
    passed = bool(results) and all(result.passed for result in results)
    tree = {
        "plan_hash": bundle.plan.plan_hash,
        "passed": passed,
        "machine": bundle.machine,
        "cpu": bundle.cpu,
        "time": clock.read().wall,
        "runs": {result.run: _plain(result) for result in results},
    }
    write_json(bundle.root / RECORD, tree)
    ledger.append(
        "rehearsal", reason="passed" if passed else "failed", **{k: v for k, v in tree.items() if k != "time"}
    )
    ledger.close()
    return passed


def passed_before(bundle: Bundle) -> str | None:
    """The machine on which a rehearsal of this very plan passed, or None."""
    for record in reversed(read(bundle.ledger).records):
        if record.event == "rehearsal" and record.more.get("plan_hash") == bundle.plan.plan_hash:
            return record.machine if record.more.get("passed") else None
    tree = read_json(bundle.root / RECORD)
    if tree.get("plan_hash") == bundle.plan.plan_hash and tree.get("passed") is True:
        return str(tree.get("machine"))
    return None


def _runs(bundle: Bundle) -> list[RunPlan]:
    names = dict.fromkeys(window.run for window in bundle.windows if window.run)
    return [bundle.plan.run(name) for name in names if name]


def _whole_corpus(bundle: Bundle, run: RunPlan) -> str | None:
    """That a run's rehearsal reads the whole corpus, where the plan names no sample of it."""
    corpus = next((one for one in bundle.plan.corpora if one.name == run.corpus), None)
    if corpus is None or corpus.sample:
        return None
    path = bundle.corpus(corpus)
    size = f"all {size_literal(path.stat().st_size)}" if path.is_file() else "all"
    return (
        f"reads {size} of {corpus.path} three times, and meets its longest records by chance only: "
        f'say sample = "…", a small part of it in the same format, in corpus {corpus.name}'
    )


def _rehearse_run(bundle: Bundle, run: RunPlan) -> RunRehearsal:
    result = RunRehearsal(run.name)
    window = next(w for w in bundle.windows if w.run == run.name)
    home = bundle.state / "rehearsal" / run.name
    shutil.rmtree(home, ignore_errors=True)
    place = f"{bundle.to(run.checkpoint.to if run.checkpoint else 'checkpoints')}/rehearsal-{run.ids[0].id}"
    _forget(place)
    stage = _Stage(bundle, run, window, home, place, result)
    try:
        stage.gather()
        if stage.first():
            if stage.wrapped is not None:
                stage.again()
            elif stage.resume() and stage.twin():
                stage.compare()
    finally:
        _forget(place)
        stage.clear()
        shutil.rmtree(home / "outputs", ignore_errors=True)
    result.passed = not result.differences
    return result


class _Stage:
    """The attempts of one run's rehearsal, one after another."""

    def __init__(
        self, bundle: Bundle, run: RunPlan, window: Window, home: Path, place: str, result: RunRehearsal
    ) -> None:
        self._bundle, self._run, self._window = bundle, run, window
        self._home, self._place, self._result = home, place, result
        self._ranks = jobs.rehearsal_ranks(bundle, window)
        self._checkpoint_at: float | None = None
        # What the wrapper of a script that can't be changed says of it; None of any other script.
        self.wrapped: Mapping[str, Any] | None = None
        self._ended = False
        self._corpus: Path | None = None

    def gather(self) -> None:
        """Put the corpus's longest records to its sample, in a file beside that: what lies there too is found as ever."""
        corpus = next((one for one in self._bundle.plan.corpora if one.name == self._run.corpus), None)
        if corpus is None or not corpus.sample:
            return
        sample, whole = self._bundle.corpus(corpus, corpus.sample), self._bundle.corpus(corpus)
        target = sample.with_name(f".rehearsal-{self._run.ids[0].id}{sample.suffix}")
        try:
            count = longest.with_longest(sample, whole, target)
        except OSError as error:
            target.unlink(missing_ok=True)
            self._result.notes.append(f"its sample alone, without the longest records of {corpus.path}: {error}")
            return
        if count is None:
            why = "there is no such file" if not sample.exists() else "its records can't be told apart, or are too many"
            self._result.notes.append(f"its sample alone, without the longest records of {corpus.path}: {why}")
        else:
            self._corpus = target
            self._result.notes.append(f"its sample, and {count} of the longest records of {corpus.path}")

    def clear(self) -> None:
        """Remove what `gather` wrote."""
        if self._corpus is not None:
            self._corpus.unlink(missing_ok=True)

    def first(self) -> bool:
        """Train until the checkpoint is durable, then kill. Whether it got so far."""
        ending = self._attempt("first", 1, kill=self._time_to_kill)
        if self._checkpoint_at is None and self.wrapped is not None and not self.wrapped.get("saves"):
            if ending.outcome == "done":
                self._result.notes.append("wrapped without --checkpoints: it ended well, and no resumption was tried")
                return False
            text = f"ended as {ending.outcome} (with --checkpoints FOLDER it is killed when it has saved)"
            return self._fail("first attempt", ending, text)
        if self._checkpoint_at is None:
            self._fail("first attempt", ending, "wrote no checkpoint")
            return False
        return True

    def resume(self) -> bool:
        """Go on in a new process."""
        ending = self._attempt("resume", 2)
        return ending.outcome == "done" or self._fail("resumed attempt", ending)

    def again(self) -> bool:
        """Begin a wrapped command once more, which goes on from what it has saved if it can."""
        first = "was killed when it had saved" if not self._ended else "ended before it could be killed"
        self._checkpoint_at = None
        ending = self._attempt("resume", 2)
        if ending.outcome != "done":
            return self._fail("command that was begun again", ending)
        then = "ended well" if self._checkpoint_at is None else "saved again"
        self._result.notes.append(
            f"wrapped: the command {first}, and {then} when it was begun again; "
            "its checkpoints are its own, and what it restored could not be compared"
        )
        return True

    def twin(self) -> bool:
        """The same from the start, undisturbed."""
        ending = self._attempt("twin", 3)
        return ending.outcome == "done" or self._fail("undisturbed twin", ending)

    def compare(self) -> None:
        """Compare what the three left behind."""
        from campc_harness import digests

        for rank in range(self._ranks):
            first, resume, twin = (self._folder(phase) for phase in ("first", "resume", "twin"))
            verdict = digests.compare(first, resume, twin, rank=rank, second_twin=first)
            prefix = f"rank {rank}: " if self._ranks > 1 else ""
            self._result.differences += [prefix + text for text in verdict.differences]
            self._result.notes += [prefix + text for text in verdict.notes]

    def _folder(self, phase: str) -> Path:
        return self._home / phase

    def _attempt(self, phase: str, number: int, kill: Callable[[], bool] | None = None) -> Ending:
        checkpoints = f"{self._place}/{'twin' if phase == 'twin' else 'resumed'}"
        outputs = self._home / "outputs" / phase
        outputs.mkdir(parents=True, exist_ok=True)
        job = jobs.run_job(
            self._bundle,
            self._window,
            self._run,
            self._run.ids[0],
            number,
            deadline=None,
            mode="rehearse",
            phase=phase,
            outputs=outputs,
            checkpoints=checkpoints,
            log=self._home / f"{phase}.log",
            folder=self._folder(phase),
            corpus=self._corpus,
        )
        attempt = Attempt(job, self._observe, self._bundle.redactor())
        patience = setting("CAMPC_REHEARSAL_S", _PATIENCE_S)
        end, late = time.monotonic() + patience, False
        while True:
            ending = attempt.poll()
            if ending is not None:
                return replace(ending, reason=f"it took longer than {patience:g} s") if late else ending
            late = late or time.monotonic() > end
            if late or (kill is not None and kill()):
                attempt.kill()
            select.select(attempt.descriptors(), [], [], 0.1)

    def _observe(self, report: Mapping[str, Any]) -> None:
        seen = self._result.observed
        if report.get("rank", 0) != 0:
            return
        if report["event"] == "hello":
            self.wrapped = report if report.get("wrapped") else None
        elif report["event"] == "checkpoint":
            self._checkpoint_at = self._checkpoint_at or time.monotonic()
            self._ended = self._ended or report.get("ended") is True
            seen.size_bytes = _larger(seen.size_bytes, report.get("bytes"))
            seen.write_s = _larger(seen.write_s, report.get("write_s"))
        elif report["event"] == "resume":
            seen.restore_s = _larger(seen.restore_s, report.get("restore_s"))
        elif report["event"] == "timing":
            seen.start_s = _larger(seen.start_s, report.get("start_s"))
            seen.step_s = _larger(seen.step_s, report.get("step_s"))
        elif report["event"] in ("quarantine", "checkpoint_failed"):
            self._result.differences.append(f"{report['event']}: {report.get('reason')}")

    def _time_to_kill(self) -> bool:
        if self._checkpoint_at is None:
            return False
        if self.wrapped is not None:
            return not self._ended
        folder = self._folder("first")
        ended = all(_reached_end(folder / f"digest-{rank}.jsonl") for rank in range(self._ranks))
        return ended or time.monotonic() - self._checkpoint_at > 120

    def _fail(self, what: str, ending: Ending, text: str | None = None) -> bool:
        log = self._home / f"{_LOGS.get(what, 'resume')}.log"
        tail, said = "", f"{text or f'ended as {ending.outcome}'}: {ending.reason}"
        with contextlib.suppress(OSError):
            last = last_line(log.read_bytes())
            tail = f"; its last line: {last}" if last.removeprefix("campc: ") not in said else ""
        name = log.relative_to(self._bundle.root)
        self._result.differences.append(f"the {what} {said}{tail} (see {name})")
        return False


def _reached_end(path: Path) -> bool:
    try:
        return b'"point": "end"' in path.read_bytes()
    except OSError:
        return False


def _say_measured(result: RunRehearsal, say: Callable[[str], None]) -> None:
    seen = result.observed
    if seen.spec():
        say(f"  checkpoint {{ {seen.spec()} }}")
    times = [f"start-up {seen.start_s:.2f} s"] if seen.start_s is not None else []
    times += [f"a step {seen.step_s:.4g} s"] if seen.step_s is not None else []
    if times:
        say(f"  {', '.join(times)}")


def _plain(result: RunRehearsal) -> dict[str, Any]:
    observed = {name: value for name, value in vars(result.observed).items() if value is not None}
    return {"passed": result.passed, "differences": result.differences, "notes": result.notes, **observed}


def _larger(one: Any, other: Any) -> Any:
    values = [item for item in (one, other) if isinstance(item, (int, float))]
    return max(values) if values else None


def _forget(place: str) -> None:
    if "://" not in place:
        shutil.rmtree(place, ignore_errors=True)
        return
    with contextlib.suppress(Exception):
        import fsspec

        system, path = fsspec.core.url_to_fs(place)
        system.rm(path, recursive=True)
