"""Metrics for other tools too: `run.sink(sinks.tensorboard(run.outputs / "tensorboard"))`.

A sink is a function of step and values. It is called in a thread of its own: one that is slow loses what it can't keep up
with, one that fails is dropped, and neither holds up or ends a run. The sinks below load and begin the tool they are for in
that thread, at the first metric: where it isn't installed or can't be reached, the ledger gets a note and training goes on.
"""

from __future__ import annotations

import collections
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Sink = Callable[[int, Mapping[str, float]], None]

BACKLOG = 10_000
CLOSE_S = 5.0


class Background:
    """Calls one sink in a thread.

    Args:
        sink: gets step and values.
        tell: called with a sentence when the sink fails.
    """

    def __init__(self, sink: Sink, tell: Callable[[str], None]) -> None:
        self._sink = sink
        self._tell = tell
        self._queue: collections.deque[tuple[int, Mapping[str, float]] | None] = collections.deque(maxlen=BACKLOG)
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="campc-sink", daemon=True)
        self._thread.start()

    def put(self, step: int, values: Mapping[str, float]) -> None:
        """Queue values; the oldest go where the sink can't keep up."""
        self._queue.append((step, values))
        self._wake.set()

    def finish(self) -> None:
        """Let the sink close itself after what is queued; returns at once."""
        self._queue.append(None)
        self._wake.set()

    def wait(self, seconds: float) -> bool:
        """Whether the sink has closed itself or failed, after `seconds` at most."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            while self._queue:
                entry = self._queue.popleft()
                try:
                    if entry is None:
                        close = getattr(self._sink, "close", None)
                        if close is not None:
                            close()
                        return
                    self._sink(*entry)
                except BaseException as error:  # also SystemExit, which some tools raise where they can't log in
                    why = str(error) or type(error).__name__
                    # What reports may be gone by now: a thread that dies of it would only add noise.
                    with contextlib.suppress(Exception):
                        self._tell(f"the sink {_name(self._sink)} failed and gets no more metrics: {why}")
                    self._queue.clear()
                    return


def close_all(sinks: Iterable[Background], seconds: float = CLOSE_S) -> None:
    """Let sinks finish, all of them together for `seconds` at most; one that blocks is left behind."""
    waiting = list(sinks)
    for sink in waiting:
        sink.finish()
    end = time.monotonic() + seconds
    for sink in waiting:
        sink.wait(max(0.0, end - time.monotonic()))


def _name(sink: Sink) -> str:
    return getattr(sink, "__qualname__", None) or type(sink).__qualname__


class tensorboard:
    """Writes TensorBoard event files. Needs the package tensorboard.

    Args:
        folder: where.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(folder)
        self._writer: Any = None

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(self._folder)  # type: ignore[no-untyped-call,unused-ignore]
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush the file."""
        if self._writer is not None:
            self._writer.close()


class mlflow:
    """Logs to the MLflow run that is active where this is made, else to one of its own. Needs mlflow or mlflow-skinny.

    Where it goes, MLflow's own environment variables say.

    Args:
        options: what `mlflow.start_run` takes, for a run of its own.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._client: Any = None
        # MLflow keeps the active run by thread, and the sink's thread is another one.
        loaded: Any = sys.modules.get("mlflow")
        active = None if loaded is None else loaded.active_run()
        self._run_id: str | None = None if active is None else active.info.run_id
        self._own = active is None

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        if self._client is None:
            import mlflow as client

            self._client = client
            if self._run_id is None:
                self._run_id = client.start_run(**self._options).info.run_id
        self._client.log_metrics(dict(values), step=step, run_id=self._run_id)

    def close(self) -> None:
        """End the run that this began."""
        if self._client is not None and self._own:
            self._client.end_run()


class wandb:
    """Logs to the Weights & Biases run that is active, else to one of its own. Needs the package wandb.

    Args:
        options: what `wandb.init` takes, for a run of its own.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._run: Any = None
        self._own = False

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        if self._run is None:
            import wandb as client

            self._own = client.run is None
            self._run = client.run or client.init(**self._options)
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        """Finish the run that this began."""
        if self._run is not None and self._own:
            self._run.finish()
