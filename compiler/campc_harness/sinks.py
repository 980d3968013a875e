"""Metrics for other tools too: `run.sink(sinks.tensorboard(run.outputs / "tensorboard"))`.

A sink is a function of step and values. It is called in a thread of its own: one that is slow loses what it can't keep up
with, one that fails is dropped, and neither holds up or ends a run.
"""

from __future__ import annotations

import collections
import os
import threading
from collections.abc import Callable, Mapping
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

    def close(self) -> None:
        """Let the sink finish, for a few seconds at most."""
        self._queue.append(None)
        self._wake.set()
        self._thread.join(CLOSE_S)

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
                except Exception as error:
                    self._tell(f"the sink {_name(self._sink)} failed and gets no more metrics: {error}")
                    self._queue.clear()
                    return


def _name(sink: Sink) -> str:
    return getattr(sink, "__qualname__", None) or type(sink).__qualname__


class tensorboard:
    """Writes TensorBoard event files.

    Args:
        folder: where.

    Raises:
        ImportError: the package tensorboard isn't installed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(os.fspath(folder))

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush the file."""
        self._writer.close()


def mlflow(**options: Any) -> Sink:
    """Logs to an MLflow run, begun with `options`; where it goes, MLflow's own environment variables say.

    Raises:
        ImportError: the package mlflow isn't installed.
    """
    import mlflow as client

    if client.active_run() is None:
        client.start_run(**options)
    return lambda step, values: client.log_metrics(dict(values), step=step)


def wandb(**options: Any) -> Sink:
    """Logs to a Weights & Biases run, begun with `options`.

    Raises:
        ImportError: the package wandb isn't installed.
    """
    import wandb as client

    run = client.run or client.init(**options)
    return lambda step, values: run.log(dict(values), step=step)
