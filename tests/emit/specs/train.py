"""A small training whose pace a file sets, so that a test can be in the middle of it."""

import hashlib
import time
from pathlib import Path

import torch
from torch import nn

from campc_harness import Run

torch.set_num_threads(1)
with Run.start() as run:
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    run.track(model=model, optimizer=optimizer)
    data = torch.utils.data.TensorDataset(torch.arange(512.0).reshape(64, 8) / 512)
    for _, (batch,) in run.batches(data, 8, steps=run.params["steps"]):
        time.sleep(float(Path("pace").read_text()))
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        run.check(loss=loss)
        optimizer.step()
        run.log(loss=loss)
    digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in model.state_dict().values())).hexdigest()
    (run.outputs / "weights.txt").write_text(digest + "\n")
