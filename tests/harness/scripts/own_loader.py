"""Loaders that the script brings: torch's own with the run's sampler, and one with a state."""

import hashlib

import torch
from pace import pace
from torch.utils.data import DataLoader

from campc_harness import Run


class Stream:
    """A stateful loader over an endless sequence, in chunks of seven."""

    def __init__(self):
        self.chunk, self.at = 0, 0

    def __iter__(self):
        while self.at < 7:
            self.at += 1
            yield torch.tensor([self.chunk, self.at])
        self.chunk, self.at = self.chunk + 1, 0

    def state_dict(self):
        return {"chunk": self.chunk, "at": self.at}

    def load_state_dict(self, state):
        self.chunk, self.at = state["chunk"], state["at"]


with Run.start() as run:
    kind = run.params["kind"]
    if kind == "sampler":
        size = 50
        loader = DataLoader(torch.arange(size), batch_size=4, sampler=run.sampler(size), num_workers=2)
    elif kind == "stream":
        loader = Stream()
    else:
        loader = DataLoader(torch.arange(9), batch_size=4, shuffle=True)
    model = torch.nn.Linear(1, 1)
    run.track(model=model)
    seen = hashlib.sha256()
    for step, batch in run.data(loader, steps=40):
        with torch.no_grad():
            model.weight.mul_(0.9).add_(batch.double().sum() * step / 1e3 + torch.rand(()))
        pace(step)
    (run.outputs / "digest.txt").write_text(repr(model.weight.tolist()))
