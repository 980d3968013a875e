"""The state of a boundary, held while an evaluation runs, for a signal to flush."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campc_harness.state import Snapshot

if TYPE_CHECKING:
    from campc_harness.loop import Loop
    from campc_harness.session import Session


class Staging:
    """At most one snapshot, in a staging buffer.

    Attributes:
        held: the snapshot.
        possible: whether one can be held: of several ranks, all have a staging buffer or none has, which they agree on after
            the first step, when sizes are known.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.held: Snapshot | None = None
        self.possible = session.context.world == 1

    def agree(self, loop: Loop) -> None:
        """Have every rank make its buffer, or none."""
        session = self._session
        buffers = session.checkpoints.buffers
        short = loop.lockstep and session.ranks.any(not buffers.reserve(session.tracked.staged_bytes()))
        if short:
            buffers.renounce()
        self.possible = not short

    def for_evaluation(self) -> None:
        """See to it that a signal inside an evaluation has a state to flush, where none is held or saved yet."""
        session = self._session
        assert session.loop is not None
        session.evaluations.begun()
        if self.possible and self.held is None and session.saved_step != session.loop.step:
            self.keep(session.snapshot(after_body=True))

    def keep(self, snapshot: Snapshot) -> None:
        """Hold a snapshot for a signal to flush. Without a buffer it can't wait: an interruption goes back further then."""
        self.held = None if snapshot.buffer is None else snapshot

    def flush(self) -> None:
        """Hand what is held to the writer."""
        snapshot, self.held = self.held, None
        if snapshot is not None:
            self._session.saved_step = snapshot.step
            self._session.checkpoints.submit(snapshot)

    def take(self) -> Snapshot | None:
        """Take what is held out of the next boundary's way."""
        held, self.held = self.held, None
        return held

    def drop(self) -> None:
        """Let go of what was not flushed."""
        if self.held is not None and self.held.buffer is not None:
            self._session.checkpoints.buffers.give(self.held.buffer)
        self.held = None
