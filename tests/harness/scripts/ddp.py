"""DistributedDataParallel over gloo, for as many ranks on as many nodes as there are."""

import hashlib

import torch
import torch.distributed as dist
from pace import pace
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from campc_harness import Run

torch.set_num_threads(1)
with Run.start() as run:
    dist.init_process_group("gloo")
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    run.track(model=model, optimizer=optimizer)
    x = torch.randn(50, 6, generator=torch.Generator().manual_seed(3))
    for step, (batch,) in run.batches(TensorDataset(x), 4, steps=run.params["steps"]):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        run.check(loss=loss)
        optimizer.step()
        run.log(loss=loss)
        pace(step, run.params)
    digest = hashlib.sha256()
    for tensor in [*model.state_dict().values(), torch.rand(4)]:
        digest.update(bytes(tensor.flatten().view(torch.uint8).tolist()))
    (run.outputs / f"digest-{run.rank}.txt").write_text(digest.hexdigest())
    dist.destroy_process_group()
