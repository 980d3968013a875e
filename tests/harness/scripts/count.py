"""Thousands of quick steps, and a wait at one of them."""

import os
import time

import torch

from campc_harness import Run

with Run.start() as run:
    counter = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(counter.weight)
    run.track(counter=counter)
    for step in run.steps(run.params["steps"]):
        with torch.no_grad():
            counter.weight += 1
        if step == int(os.environ.get("WAIT_AT", "0")):
            time.sleep(60)
    (run.outputs / "digest.txt").write_text(str(int(counter.weight)))
