"""Training with a Hugging Face Trainer: `hf.train(trainer, run)` in place of `trainer.train()`.

The Trainer writes its own checkpoint, as it always does, into a folder of the attempt; its files are then kept inside a
checkpoint of the run, committed, verified and restored like any other. Its position is fixed before its callbacks are
asked, so that the folder to resume from has to be given to `train`, which this does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campc_harness.errors import Misconfigured
from campc_harness.frames import Files, Frame
from campc_harness.phases import EVALUATE, TRAIN

try:
    import transformers
except ImportError as error:
    raise ImportError("campc_harness.hf needs the package transformers") from error

if TYPE_CHECKING:
    from campc_harness.run import Run


def train(trainer: Any, run: Run) -> Any:
    """Train, and return what `trainer.train()` returns.

    Metrics that the Trainer logs are recorded, `eval_NAME` as `eval.NAME`; stop rules see each step's own loss, before the
    optimizer's step, not the filtered mean that the Trainer logs.

    Args:
        trainer: a `transformers.Trainer`, made as usual.
        run: the run, inside its `with` block.

    Raises:
        Misconfigured: the Trainer is set up so that it can't be resumed exactly.
    """
    return _Bridge(trainer, run).train()


class _Over(Exception):
    """The run that is resumed has no step left."""


class _Bridge(transformers.TrainerCallback):  # type: ignore[misc,unused-ignore]
    def __init__(self, trainer: Any, run: Run) -> None:
        self._trainer = trainer
        self._session = run._session
        self._run = run
        context = self._session.context
        home = context.attempt_dir or context.outputs.parent
        self._files = Files(Path(home) / "trainer", self._mine)
        self._frame = Frame(self._session, self._kept)
        self._frame.draws_in_steps_only = False  # the Trainer's loader draws where an epoch begins
        self._asked = False
        self._training_step = trainer.training_step
        self._evaluate = trainer.evaluate

    def train(self) -> Any:
        trainer, args = self._trainer, self._trainer.args
        if args.load_best_model_at_end:
            raise Misconfigured(
                "load_best_model_at_end can't be resumed exactly; keep the best with checkpoint { keep_best }"
            )
        if self._session.context.local_rank == 0:
            self._files.empty()
        self._session.ranks.connect()
        self._session.ranks.barrier()
        args.output_dir = str(self._files.folder)
        args.save_strategy = transformers.trainer_utils.SaveStrategy.NO
        args.save_total_limit = 1
        args.save_only_model = False
        args.ignore_data_skip = False
        args.logging_nan_inf_filter = False
        if hasattr(args, "enable_jit_checkpoint"):
            args.enable_jit_checkpoint = False  # it has a signal handler of its own
        trainer.training_step = self._checked_step
        trainer.evaluate = self._staged_evaluate
        self._run.track(trainer=self._files)
        self._session.begin(self._frame)
        self._files.share(self._session.ranks, self._session.context)
        trainer.add_callback(self)
        try:
            result = trainer.train(resume_from_checkpoint=self._folder())
        except _Over:
            trainer.is_in_train = False
            trainer.control = trainer.callback_handler.on_train_end(args, trainer.state, trainer.control)
            result = transformers.trainer_utils.TrainOutput(trainer.state.global_step, 0.0, {})
        finally:
            trainer.remove_callback(self)
            trainer.training_step, trainer.evaluate = self._training_step, self._evaluate
        self._frame.exhausted = True
        self._session.complete()
        return result

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._frame.sized(state.max_steps)
        if self._frame.over:
            raise _Over  # the Trainer asks whether to stop after a step only

    def on_step_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._frame.begun()
        if self._frame.owes_evaluation:
            self._frame.owes_evaluation = False
            self._trainer.evaluate()
        self._frame.open = True

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._frame.open = False
        self._asked, save = self._frame.end_step(state.global_step)
        control.should_training_stop = control.should_training_stop or self._frame.over
        control.should_save = save

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._frame.save_asked = False
        if self._asked or self._session.rehearsal.active:
            self._session.flush(state.global_step)
            if self._asked:
                self._session.leave()
        else:
            self._session.save(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **rest: Any) -> None:
        numbers = {
            re.sub(r"^eval_", "eval.", name): value
            for name, value in (logs or {}).items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }
        if numbers:
            self._run.log(**numbers)

    def _checked_step(self, *given: Any, **named: Any) -> Any:
        self._frame.saw(given[1])
        loss = self._training_step(*given, **named)
        self._run.check(loss=loss)
        return loss

    def _staged_evaluate(self, *given: Any, **named: Any) -> Any:
        session, trainer = self._session, self._trainer
        if not trainer.is_in_train or session.phase != TRAIN:
            return self._evaluate(*given, **named)
        # Written before, for the case that a signal cuts the evaluation short; the next attempt then begins with it.
        trainer._save_checkpoint(trainer.model_wrapped, None)
        self._frame.owes_evaluation = True
        session.staging.drop()
        if session.staging.possible:
            session.staging.keep(session.snapshot())
        self._frame.owes_evaluation = False
        session.enter(EVALUATE)
        try:
            if session.latch.set:
                session.arrived()
            return self._evaluate(*given, **named)
        finally:
            session.enter(TRAIN)

    def _kept(self) -> dict[str, Any]:
        trainer = self._trainer
        return {
            "model": trainer.model.state_dict(),
            "optimizer": trainer.optimizer.state_dict(),
            "scheduler": trainer.lr_scheduler.state_dict(),
        }

    def _mine(self, path: str) -> bool:
        # Of several ranks on one machine each keeps its own generators; all else is the first one's.
        rank = self._session.context.rank
        own = re.fullmatch(r"rng_state_(\d+)\.pth", Path(path).name)
        newest = self._folder()
        if newest is not None and not (self._files.folder / path).is_relative_to(newest):
            return False
        return int(own.group(1)) == rank if own else rank == 0

    def _folder(self) -> str | None:
        found = [path for path in self._files.folder.glob("checkpoint-*") if path.is_dir()]
        return str(max(found, key=lambda path: int(path.name.rpartition("-")[2]))) if found else None
