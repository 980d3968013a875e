"""How an attempt ends: its record, and what the end of the `with` block means."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import torch

from campc_harness import exits, sinks
from campc_harness.context import Context
from campc_harness.errors import Away, Leave, Misconfigured, Stopped
from campc_harness.loading import end_workers
from campc_harness.phases import LEFT

if TYPE_CHECKING:
    from campc_harness.session import Session


def hello(session: Session) -> None:
    """Tell the supervisor who is here."""
    session.reporter.send(
        "hello",
        pid=os.getpid(),
        python=sys.version.split()[0],
        torch=torch.__version__,
        device=str(device_of(session.context)),
    )


def device_of(context: Context) -> torch.device:
    """The device of this rank: its own CUDA device where there is one, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda", context.local_rank % torch.cuda.device_count())
    return torch.device("cpu")


def record(session: Session, error: Leave | None) -> None:
    """Leave exit-RANK.json, after everything reported has arrived."""
    session.enter(LEFT)
    context = session.context
    code = exits.DONE if error is None else error.exit_code
    reason = (session.finished or "the steps are exhausted") if error is None else error.reason
    if isinstance(error, Stopped):
        session.reporter.send("stop", name=error.stop, step=session.step, reason=reason)
    session.reporter.flush()
    if code and context.rank == 0:
        sys.stderr.write(f"campc: {reason}\n")
        sys.stderr.flush()
    if context.attempt_dir is None:
        return
    exits.write_exit(
        context.attempt_dir,
        exits.ExitRecord(
            attempt=context.attempt,
            nonce=context.nonce,
            rank=context.rank,
            code=code,
            outcome=exits.OUTCOMES[code],
            reason=reason,
            stop=error.stop if error is not None else None,
            step=session.loop.step if session.loop is not None else 0,
        ),
    )


def record_early(error: Misconfigured, environ: dict[str, str]) -> None:
    """Leave exit-RANK.json where not even a session could be made."""
    sys.stderr.write(f"campc: {error.reason}\n")
    folder = environ.get("CAMPC_ATTEMPT_DIR")
    if not environ.get("CAMPC_BUNDLE") or not folder:
        return
    with contextlib.suppress(OSError, ValueError):
        exits.write_exit(
            folder,
            exits.ExitRecord(
                attempt=int(environ.get("CAMPC_ATTEMPT") or 1),
                nonce=environ.get("CAMPC_NONCE", ""),
                rank=int(environ.get("RANK") or 0),
                code=exits.MISCONFIGURED,
                outcome=exits.OUTCOMES[exits.MISCONFIGURED],
                reason=error.reason,
                stop=None,
                step=0,
            ),
        )


def leave_block(session: Session, error: BaseException | None) -> None:
    """The `with` block ended, by `error` or by itself.

    Raises:
        RuntimeError: it ended early without `run.finish(reason)`.
        Leave: what was being written at its end met a place that is full, refuses or is away.
    """
    try:
        if isinstance(error, Leave):
            if not isinstance(error, Away):  # which is why nothing can be flushed
                session.staging.flush()
                session.settle_writer()
            record(session, error)
        elif error is not None:
            _crashed(session)
        else:
            _ended(session)
    except Leave as leave:
        # What was being written met a place that is full or away.
        record(session, leave)
        raise
    finally:
        end_workers()
        if session.metrics.sinks:
            sinks.close_all(session.metrics.sinks)
            session.reporter.flush(2.0)  # what one said at its end


def _crashed(session: Session) -> None:
    session.enter(LEFT)
    # What is being written may still become durable; the error itself is what people must see.
    try:
        session.checkpoints.wait()
    except Exception as failure:
        session.reporter.send("note", text=f"and the last checkpoint failed: {failure}")
    session.reporter.flush()


def _ended(session: Session) -> None:
    loop = session.loop
    if loop is not None and not loop.exhausted:
        if session.finished is None:
            session.enter(LEFT)
            raise RuntimeError(
                f"the loop was left at step {session.step} of {loop.total}; say run.finish(reason) before break"
            )
        # Asking for one more item ends the step that finish was said in; the loop then says that it is over.
        with contextlib.suppress(StopIteration):
            next(loop)
    session.metrics.settle()
    session.settle_writer()
    record(session, None)
