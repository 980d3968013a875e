"""Metrics for sinks that block, exit, never close, or whose tool isn't installed."""

import sys
import threading

from campc_harness import Run, sinks

sys.modules["torch.utils.tensorboard"] = None


def blocks(step, values):
    """Never returns."""
    threading.Event().wait()


def exits(step, values):
    """As tools do that find nobody logged in."""
    sys.exit("log in first")


class Stuck:
    """Takes values, and never closes."""

    def __call__(self, step, values):
        """Take them."""

    def close(self):
        """Never returns."""
        threading.Event().wait()


with Run.start() as run:
    for sink in (blocks, exits, Stuck(), Stuck(), sinks.tensorboard(run.outputs / "tensorboard")):
        run.sink(sink)
    for step in run.steps(run.params["steps"]):
        run.log(loss=1 / step)
