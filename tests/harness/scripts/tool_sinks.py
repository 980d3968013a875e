"""Metrics for the tools that are named on the command line, by hand."""

import sys

from campc_harness import Run, sinks

MAKE = {
    "tensorboard": lambda run: sinks.tensorboard(run.outputs / "tensorboard"),
    "mlflow": lambda run: sinks.mlflow(run_name="ours"),
    "wandb": lambda run: sinks.wandb(project="ours", dir=str(run.outputs)),
}

with Run.start(defaults={}, folder=sys.argv[1]) as run:
    for name in sys.argv[2:]:
        run.sink(MAKE[name](run))
    for step in run.steps(50):
        run.log(loss=1 / step)
