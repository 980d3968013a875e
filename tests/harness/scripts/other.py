"""The trainer, tracking something else."""

import torch
from torch import nn

from campc_harness import Run

with Run.start() as run:
    model = nn.Linear(12, 2)
    run.track(model=model, optimizer=torch.optim.AdamW(model.parameters()), ema=nn.Linear(12, 2))
    for _ in run.steps(5):
        pass
