"""Where an attempt begins: the restored state is given to everything that has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from campc_harness import rng, state
from campc_harness.inplace import targets
from campc_harness.order import derive
from campc_harness.restore import Restored
from campc_harness.sharded import NAME as SHARDED
from campc_harness.sharded import Sharded, gather, is_sharded
from campc_harness.weights import load_weights

if TYPE_CHECKING:
    from campc_harness.loop import Loop
    from campc_harness.session import Session


def resume(session: Session, loop: Loop) -> None:
    """Claim the run, restore the newest good checkpoint into the tracked objects and `loop`, and report from where.

    Raises:
        Misconfigured: the place refuses, or the checkpoint is of other objects or another kind of loop.
    """
    sharded = _gather(session)
    session.claim()
    restored = session.reach(lambda: _restore(session)) if session.rehearsal.restores else None
    if restored is None:
        session.reporter.send("resume", step=0, **{"from": None})
        start = session.context.start_from
        if start:
            name = load_weights(start, session.tracked, session.context, session.ranks)
            session.reporter.send("note", text=f"starts from the weights of {name}")
        return
    _set(session, loop, restored, sharded)
    session.saved_step = loop.step
    seconds = round(restored.seconds, 6)
    session.reporter.send("resume", step=loop.step, restore_s=seconds, **{"from": restored.name})


def _restore(session: Session) -> Restored | None:
    return session.checkpoints.restore(targets(session.tracked, "objects."))


def _gather(session: Session) -> Sharded | None:
    context = session.context
    if context.world == 1 and not any(map(is_sharded, session.tracked.objects.values())):
        return None
    home = context.attempt_dir or context.outputs.parent
    return gather(session.tracked, home / "sharded", session.ranks, context.local_rank)


def _set(session: Session, loop: Loop, restored: Restored, sharded: Sharded | None) -> None:
    saved, world, rank = restored.state, restored.manifest.world, session.context.rank
    if sharded is not None:
        sharded.prepare()
        if rank >= world:
            saved["objects"].get(SHARDED, {}).clear()  # it is the first rank's, who writes it
    state.load(session.tracked, saved["objects"])
    if sharded is not None:
        sharded.assemble(_other_parts(session, restored))
    loop.load_state_dict(saved["loop"])
    session.metrics.load_state_dict(saved["metrics"])
    session.finished = saved["finished"]
    session.evaluations.load_state_dict(saved["evaluations"])
    session.best = saved["best"]
    if rank < world:
        rng.restore(saved["rng"])
    else:  # no rank of that number drew before
        rng.seed(derive("rank", session.context.seed, rank, loop.step))


def _other_parts(session: Session, restored: Restored) -> Iterator[dict[str, Any]]:
    """Files of sharded state that no rank of this machine has as its own, dealt to those that it has.

    With as many ranks as before, too: what is equal on all of them is kept by any one.
    """
    context = session.context
    first = context.rank - context.local_rank
    for part in range(restored.manifest.world):
        own = first <= part < first + context.local_world
        if not own and part % context.local_world == context.local_rank:
            files: dict[str, Any] = session.checkpoints.read_part(restored, part)["objects"][SHARDED]
            yield files
