"""Logs given scores; dies where it is told to."""

import os
import time

import torch

from campc_harness import Run

with Run.start() as run:
    run.track(model=torch.nn.Linear(1, 1))
    for step in run.steps(len(run.params["scores"])):
        run.log(score=run.params["scores"][step - 1])
        time.sleep(float(os.environ.get("PAUSE", "0")))
        if step == int(os.environ.get("UNTIL", "0")):
            raise RuntimeError("told to")
