"""Training with Lightning: `lightning.fit(trainer, model, run, dataset, batch_size)` in place of `trainer.fit`.

Lightning writes its own checkpoint into a folder of the attempt; the file is then kept inside a checkpoint of the run,
committed, verified and restored like any other. Lightning neither keeps random number generators nor where in an epoch the
data stood: the run keeps both. Its own handling of signals, which turns a SIGTERM into exit code 0, is switched off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campc_harness import rng
from campc_harness.errors import Misconfigured
from campc_harness.frames import Files, Frame
from campc_harness.loading import Collate, Dealt, deal, size_of
from campc_harness.order import Plan
from campc_harness.phases import EVALUATE, TRAIN

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback  # type: ignore[assignment,no-redef,unused-ignore]

if TYPE_CHECKING:
    from campc_harness.run import Run

FILE = "last.ckpt"


def fit(
    trainer: Any,
    model: Any,
    run: Run,
    dataset: Any,
    batch_size: int,
    *,
    workers: int = 0,
    collate: Collate | None = None,
    **rest: Any,
) -> None:
    """Fit `model` on `dataset`, whose order and random numbers are those of `run.batches`.

    Stop rules see each batch's own loss, before the optimizer's step; what the model logs is recorded.

    Args:
        trainer: a Lightning Trainer, made with `enable_checkpointing=False`.
        model: a LightningModule.
        run: the run, inside its `with` block.
        dataset: for training; has `__len__` and `__getitem__`.
        batch_size: samples in one batch of one rank.
        workers: loader processes.
        collate: makes a batch of a list of samples; default torch's.
        rest: passed on to `trainer.fit`, such as `val_dataloaders`.

    Raises:
        Misconfigured: the Trainer is set up so that it can't be resumed exactly.
    """
    if trainer.checkpoint_callbacks:
        raise Misconfigured("make the Trainer with enable_checkpointing=False: the run keeps the checkpoints")
    context = run.context
    if trainer.world_size != context.world:
        raise Misconfigured(
            f"the Trainer was made for {trainer.world_size} processes, and there are {context.world}: make it with "
            'devices=int(os.environ["LOCAL_WORLD_SIZE"]), num_nodes=… and strategy="ddp"'
        )
    bridge = _Bridge(trainer, model, run)
    plan = Plan(context.seed, size_of(dataset), batch_size, context.world)
    bridge.fit(_Loader(dataset, plan, context.rank, workers, collate), rest)


class _Loader:
    """The training data as an iterable with a state. With a length, Lightning takes no batch ahead of time."""

    def __init__(self, dataset: Any, plan: Plan, rank: int, workers: int, collate: Collate | None) -> None:
        self._dataset = dataset
        self._plan = plan
        self._rank = rank
        self._workers = workers
        self._collate = collate
        self._epoch = self._position = 0
        self.dealt: Dealt | None = None

    def __len__(self) -> int:
        return self._plan.per_epoch()

    def __iter__(self) -> Iterator[Any]:
        left = self._plan.per_epoch() - self._position // self._plan.stride
        batches = deal(
            self._dataset,
            self._plan,
            epoch=self._epoch,
            position=self._position,
            rank=self._rank,
            count=left,
            workers=self._workers,
            collate=self._collate,
            options={},
        )
        for dealt in batches:
            self._epoch, self._position = self._plan.after(dealt.epoch, dealt.position)
            self.dealt = dealt
            yield dealt.batch

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self._epoch, "position": self._position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._epoch, self._position = state["epoch"], state["position"]


class _Bridge(Callback):  # type: ignore[misc,unused-ignore]
    def __init__(self, trainer: Any, model: Any, run: Run) -> None:
        self._trainer = trainer
        self._model = model
        self._session = run._session
        self._run = run
        context = self._session.context
        home = Path(context.attempt_dir or context.outputs.parent)
        # Lightning writes on the first rank, and all read what it wrote.
        self._files = Files(home / "lightning", lambda path: context.rank == 0)
        self._frame = Frame(self._session, self._kept)
        self._rng: dict[str, Any] | None = None
        self._loader: _Loader | None = None

    def fit(self, loader: _Loader, rest: dict[str, Any]) -> None:
        trainer, self._loader = self._trainer, loader
        session = self._session
        if session.context.local_rank == 0:
            self._files.empty()
        session.ranks.connect()
        session.ranks.barrier()
        trainer._signal_connector.register_signal_handlers = lambda: None
        self._run.track(lightning=self._files)
        session.begin(self._frame)
        self._files.share(session.ranks, session.context)
        path = self._files.folder / FILE
        if path.exists():
            self._rng = rng.capture()
        trainer.callbacks.append(self)
        resume = {"ckpt_path": str(path), "weights_only": False} if path.exists() else {}
        trainer.fit(self._model, train_dataloaders=loader, **resume, **rest)
        self._frame.exhausted = True
        if self._session.saved_step != self._frame.step and self._session.rehearsal.saves_end:
            self._write()
        self._session.complete()

    def on_train_start(self, trainer: Any, module: Any) -> None:
        total = trainer.estimated_stepping_batches
        self._frame.sized(int(total) if math.isfinite(total) else self._frame.total)
        trainer.should_stop = self._frame.over

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:
        if self._rng is not None:
            # What Lightning drew while it set up, an uninterrupted run didn't draw here.
            rng.restore(self._rng)
            self._rng = None
        self._frame.begun()
        self._frame.open = True
        dealt = self._loader.dealt if self._loader is not None else None
        self._frame.saw(batch, [(dealt.epoch, index) for index in dealt.indices] if dealt is not None else [])

    def on_before_backward(self, trainer: Any, module: Any, loss: Any) -> None:
        self._run.check(loss=loss.detach())

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step == self._frame.step:
            return  # in the midst of accumulating
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is not None:
            self._run.log(loss=loss)
        self._frame.open = False
        session, step = self._session, trainer.global_step
        validates = self._validates(trainer, batch_idx, 1) and not session.rehearsal.active
        held = session.staging.take() if validates else None
        asked, save = self._frame.end_step(step)
        trainer.should_stop = trainer.should_stop or self._frame.over
        if validates:
            # The step isn't over before its validation is: what is staged is the state before it, which stays.
            session.staging.held = held
            self._frame.save_asked = save
        elif save:
            self._save(asked)
        elif self._validates(trainer, batch_idx + 1, trainer.accumulate_grad_batches):
            # A validation comes within the next step. Cut short, that step is begun again from here.
            self._write()
            if session.staging.possible:
                session.staging.keep(session.snapshot())
        if asked:
            session.leave()

    def _validates(self, trainer: Any, batch_idx: int, batches: int) -> bool:
        """Whether a validation follows one of so many batches from `batch_idx` on."""
        every = int(trainer.val_check_batch) if trainer.enable_validation else 0
        return bool(every) and (batch_idx + batches) // every > batch_idx // every

    def _save(self, asked: bool) -> None:
        self._write()
        self._frame.save_asked = False
        if asked or self._session.rehearsal.active:
            self._session.flush(self._frame.step)
        else:
            self._session.save(self._frame.step)

    def on_validation_start(self, trainer: Any, module: Any) -> None:
        if not trainer.sanity_checking and self._session.phase == TRAIN:
            self._session.enter(EVALUATE)
            if self._session.latch.set:
                self._session.arrived()

    def on_validation_end(self, trainer: Any, module: Any) -> None:
        if trainer.sanity_checking:
            return
        if self._session.phase == EVALUATE:
            self._session.staging.drop()
            self._session.enter(TRAIN)
        numbers = {name: value for name, value in trainer.callback_metrics.items() if value.numel() == 1}
        if numbers:
            self._run.log(**numbers)

    def _write(self) -> None:
        self._trainer.save_checkpoint(self._files.folder / FILE)

    def _kept(self) -> dict[str, Any]:
        state: dict[str, Any] = {"model": self._model.state_dict()}
        for index, optimizer in enumerate(self._trainer.optimizers):
            state[f"optimizer{index}"] = optimizer.state_dict()
        return state
