"""Data-parallel training by hand: gradients averaged over gloo."""

import hashlib

import torch
import torch.distributed as dist
from pace import evaluate, pace
from torch import nn
from torch.utils.data import TensorDataset

from campc_harness import Run

torch.set_num_threads(1)
with Run.start() as run:
    if run.world > 1:
        dist.init_process_group("gloo")
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    run.track(model=model, optimizer=optimizer)
    x = torch.randn(50, 6, generator=torch.Generator().manual_seed(3))
    for step, (batch,) in run.batches(TensorDataset(x), 4, steps=run.params["steps"]):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        if step == run.params.get("poison") and run.rank == run.params["where"]:
            loss = loss * float("nan")
        run.check(loss=loss)
        for parameter in model.parameters():
            if run.world > 1:
                dist.all_reduce(parameter.grad)
        optimizer.step()
        run.log(loss=loss)
        if run.rank == run.params.get("where") and step == run.params.get("late"):
            run.log(grade=float("nan"))
        if step == run.params.get("evaluate"):
            with run.evaluation():
                evaluate()
        pace(step)
    digest = hashlib.sha256()
    for tensor in [*model.state_dict().values(), torch.rand(4)]:
        digest.update(bytes(tensor.flatten().view(torch.uint8).tolist()))
    (run.outputs / f"digest-{run.rank}.txt").write_text(digest.hexdigest())
    if run.world > 1:
        dist.destroy_process_group()
