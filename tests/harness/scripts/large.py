"""Sixteen megabytes of state, saved after every step."""

import torch
from pace import pace

from campc_harness import Run

with Run.start() as run:
    model = torch.nn.Linear(2000, 2000, bias=False)
    run.track(model=model)
    for step in run.steps(run.params["steps"]):
        with torch.no_grad():
            model.weight.fill_(float(step))
        pace(step)
