"""How an attempt leaves its script, and what a checkpoint can't do.

`Leave` and its kinds derive from `SystemExit`, hence from `BaseException`: a script's `except Exception` does not swallow
them, nothing after the training loop runs, and Python itself turns an uncaught one into the exit code, without a
traceback.
"""

from __future__ import annotations

from campc_harness import exits


class Leave(SystemExit):
    """The attempt ends on purpose.

    Attributes:
        exit_code: what the process exits with.
        reason: one sentence for people.
        stop: name of the stop rule that fired, or None.
    """

    exit_code = exits.DONE

    def __init__(self, reason: str, *, stop: str | None = None) -> None:
        super().__init__(self.exit_code)
        self.reason = reason
        self.stop = stop

    def __str__(self) -> str:
        return self.reason


class Interrupted(Leave):
    """A signal asked for the end; the checkpoint is durable and the run may be resubmitted."""

    exit_code = exits.INTERRUPTED


class Stopped(Leave):
    """A stop rule fired, or there is no room left for checkpoints; the run is not resubmitted."""

    exit_code = exits.STOPPED


class DeadlineReached(Leave):
    """The lot's time is over; the run is resumable elsewhere."""

    exit_code = exits.DEADLINE


class Misconfigured(Leave):
    """Environment, campaign.json, parameters or the checkpoint's configuration don't fit; trying again won't help."""

    exit_code = exits.MISCONFIGURED


class Away(Leave):
    """The place of the checkpoints, behind a network, couldn't be used for longer than an attempt waits."""

    exit_code = exits.AWAY


class Damaged(Exception):
    """A checkpoint whose manifest, size or hash isn't what was committed."""


class NoRoom(Exception):
    """The disk or quota is full, also after old checkpoints were removed."""


class Superseded(Exception):
    """A newer attempt has claimed the run: this one may commit, prune and move nothing."""


class Unsaveable(TypeError):
    """A tracked object's state holds something that a checkpoint doesn't keep."""
