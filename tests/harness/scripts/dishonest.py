"""Scripts that don't resume, each in its own way."""

import os
import random
import time

import torch
from torch import nn

from campc_harness import Run

WHEN = os.environ["WHEN"]


class Augmented(torch.utils.data.Dataset):
    """Samples whose noise comes from a generator of their own, which nobody restores."""

    def __init__(self, honest):
        self.draw = random.Random(1)
        self.honest = honest

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((4,), index / 64 + (0 if self.honest else self.draw.random()))


with Run.start() as run:
    fault = run.params["fault"]
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    run.track(model=model)
    if fault != "untracked":
        run.track(optimizer=optimizer)
    for _step, x in run.batches(Augmented(fault != "augmentation"), 4, steps=run.params["steps"]):
        if fault == "clock" and WHEN == "twin" and _step == 4:
            torch.manual_seed(time.time_ns())
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        if fault == "kernel":
            with torch.no_grad():
                model.weight.add_(torch.tensor(float(time.time_ns() % 1000)) * 1e-7)
