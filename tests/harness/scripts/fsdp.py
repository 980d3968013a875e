"""A model sharded over ranks with FSDP."""

import hashlib
import os

import torch
import torch.distributed as dist
from pace import pace
from torch import nn
from torch.distributed.fsdp import fully_shard

from campc_harness import Run

torch.set_num_threads(1)
with Run.start() as run:
    dist.init_process_group("gloo")
    mesh = dist.device_mesh.init_device_mesh("cpu", (run.world,))
    model = nn.Sequential(nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, run.params.get("width", 5)))
    if not run.params.get("whole"):
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    run.track(model=model, optimizer=optimizer, scheduler=scheduler)
    if "WEIGHTS" in os.environ:
        run.resume_from(os.environ["WEIGHTS"])
    # Every rank gets the same samples: sums over ranks don't depend on their number, up to powers of two.
    x = torch.randn(64, 6, generator=torch.Generator().manual_seed(3))
    for step in run.steps(run.params["steps"]):
        optimizer.zero_grad()
        loss = model(x[step % 8 :: 8]).square().mean()
        loss.backward()
        run.check(loss=loss)
        if run.params.get("frozen"):
            optimizer.zero_grad()
        optimizer.step()
        scheduler.step()
        run.log(loss=loss)
        pace(step, run.params)
    digest = hashlib.sha256()
    for tensor in model.state_dict().values():
        whole = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
        digest.update(bytes(whole.flatten().view(torch.uint8).tolist()))
    (run.outputs / f"digest-{run.rank}.txt").write_text(digest.hexdigest())
    dist.destroy_process_group()
