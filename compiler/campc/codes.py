"""Every code: its name and whether it stops a build. Codes are stable and never reused."""

from __future__ import annotations

from campc.records import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


@frozen
class CodeInfo:
    """What a code is called, how grave it is, and what it finds in a few words."""

    code: str
    name: str
    severity: Literal["error", "warning"]
    summary: str


def _e(code: str, name: str, summary: str) -> CodeInfo:
    return CodeInfo(code, name, "error", summary)


def _w(code: str, name: str, summary: str) -> CodeInfo:
    return CodeInfo(code, name, "warning", summary)


CODES: dict[str, CodeInfo] = {
    info.code: info
    for info in (
        _e("C101", "unexpected-token", "something stands where it can't"),
        _e("C102", "never-closed", "a string or block is never closed"),
        _e("C103", "not-a-value", "a number, date, unit, escape or currency that is none"),
        _e("C104", "unreadable-file", "a file that can't be read"),
        _e("C201", "unknown-block", "a block of an unknown kind, or in the wrong place"),
        _e("C202", "unknown-attribute", "an attribute that the block doesn't have"),
        _e("C203", "missing-attribute", "a required attribute is missing"),
        _e("C204", "wrong-type", "a value of the wrong type or unit"),
        _e("C205", "undefined-name", "a name that nothing has"),
        _e("C206", "declared-twice", "a name declared twice"),
        _e("C207", "repeated", "an attribute or single block that is repeated"),
        _e("C208", "out-of-range", "a value or word out of range"),
        _e("C209", "cycle", "things that wait for each other"),
        _e("C210", "unusable-file", "a used file that isn't there, or holds what may not be used"),
        _e("C211", "no-such-time", "an unknown time zone, or a local time that doesn't exist or exists twice"),
        _w("C212", "never-used", "something declared and never used"),
        _e("C213", "bad-allowance", "an allowance without a reason, on an error, or malformed"),
        _w("C214", "idle-allowance", "an allowance that allows nothing"),
        _e("C301", "gpu-windows-overlap", "two windows hold the same GPU at the same time"),
        _e("C302", "lot-overrun", "the work on a lot ends after the lot does"),
        _e("C303", "before-lot", "a window starts before its lot does"),
        _e("C304", "before-dependency", "a window starts before one that it comes after has ended"),
        _e("C305", "no-such-gpu", "a GPU index outside the lot"),
        _w("C306", "nothing-retrieved", "nothing brings the results home in time"),
        _e("C307", "reserve-short", "less time is left free than was to be kept"),
        _w("C308", "pessimistic-overrun", "fits as likely, but not if everything takes its high estimate"),
        _e("C309", "after-lower-tier", "a window comes after one of a lower tier"),
        _e("C310", "run-too-large", "a run needs more memory or GPUs than its machine has"),
        _w("C311", "no-recovery-time", "the schedule holds no time for checkpoints, restore or a restart test"),
        _e("C312", "gpu-window-incomplete", "a window of a GPU kind without a lot or a run"),
        _e("C313", "no-usable-end", "a lot that ends before it starts, or is billed without any bound"),
        _w("C314", "needless-nodes", "a run spans several nodes though one would hold it"),
        _w("C315", "idle-while-people-work", "the machine is paid and idle while only people work on it"),
        _e("C316", "after-deadline", "the answer comes after the deadline"),
        _e("C401", "undefined-ratio", "a cost ratio over nothing that could ever be accepted"),
        _e("C402", "ratio-without-fallback", "a ratio that doesn't say what is reported when none is accepted"),
        _e("C403", "mixed-currencies", "amounts of different currencies would have to be added"),
        _e("C404", "over-budget", "what is committed exceeds the budget"),
        _w("C405", "no-budget", "no budget, or no alert"),
        _w("C407", "cheaper-package", "a cheaper package covers the same schedule"),
        _w("C408", "useless-alert", "the alert lies above the limit, or below what is committed from the start"),
        _w("C501", "no-control", "no run to compare with"),
        _w("C502", "confounded-variant", "a variant that changes more than one thing"),
        _e("C503", "same-configuration", "two runs with the same configuration"),
        _w("C504", "essential-incomplete", "the essential tier lacks its control, data check or rerun"),
        _w("C505", "pilot-without-gate", "a pilot that decides nothing"),
        _w("C506", "full-grid", "the runs are the full grid over several parameters"),
        _w("C507", "no-negative-conclusion", "nothing is said about a negative result"),
        _w("C508", "corpus-not-frozen", "a corpus without a hash"),
        _w("C509", "no-outcome", "the decision is prose only"),
        _e("C510", "outcome-without-metric", "an outcome needs a metric that its run doesn't report"),
        _w("C511", "no-stop-on-divergence", "no stop rule on a non-finite loss"),
        _w("C512", "no-stop-on-lost-recovery", "no stop rule on a lost recovery point"),
        _e("C513", "undeclared-metric", "a condition names a metric that none of its runs reports"),
        _e("C514", "loses-too-much", "the checkpoint interval exceeds the tolerable loss"),
        _w("C515", "checkpoints-inside", "checkpoints live on the rented machine only"),
        _e("C516", "interruptible-without-checkpoint", "an interruptible lot and no checkpoint"),
        _e("C517", "notice-too-short", "a flush doesn't fit the notice"),
        _e("C518", "checkpoints-do-not-fit", "the kept checkpoints don't fit their storage"),
        _w(
            "C519",
            "interval-far-from-optimum",
            "the checkpoint interval is far from its optimum, or its overhead is high",
        ),
        _w("C520", "long-run-without-checkpoint", "more than an hour of training and no checkpoint"),
        _w("C521", "no-stop-on-quality", "no stop rule on quality"),
        _w("C522", "no-stop-on-truncation", "no stop rule on truncated input"),
        _w("C601", "deliverable-without-acceptance", "a deliverable without an acceptance check"),
        _w("C602", "model-without-reload", "a model or adapter that nothing reloads"),
        _e("C603", "inexact-base", "an adapter without the exact revision of its base"),
        _e("C604", "unsafe-path", "a path that is absolute, climbs out, or is temporary"),
        _w("C605", "run-without-deliverable", "a full run without a deliverable"),
        _w("C606", "nothing-essential-delivered", "no deliverable comes from the essential tier"),
        _e("C607", "cleanup-deletes-results", "cleanup would delete a deliverable or a checkpoint"),
        _w("C608", "file-not-there", "a script, corpus or file that isn't there"),
        _w("C701", "quota-not-confirmed", "nobody confirmed the quota"),
        _w("C702", "capacity-not-confirmed", "nobody confirmed the capacity"),
        _w("C703", "corpus-far-away", "corpus and machine are in different regions"),
        _w("C704", "no-dry-run", "no dry run is required before launch"),
        _w("C705", "machine-left-running", "the machine isn't shut down at the end"),
        _w("C706", "shutdown-from-inside-only", "a lot billed by time can be shut down from inside only"),
    )
}
