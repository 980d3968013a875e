"""A small honest training script: dropout, momentum, a schedule, random augmentation, an evaluation that draws."""

import hashlib
import os

import torch
from pace import evaluate, pace
from torch import nn

from campc_harness import Run
from campc_harness.remote import RemoteStorage


class Noisy(torch.utils.data.Dataset):
    """Samples with augmentation drawn from torch's generator."""

    def __init__(self, size):
        generator = torch.Generator().manual_seed(1)
        self.x = torch.randn(size, 12, generator=generator)
        self.y = self.x.sum(1).gt(0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index] + 0.1 * torch.randn(12), self.y[index]


def main():
    torch.set_num_threads(1)
    RemoteStorage.patience_s = float(os.environ.get("PATIENCE", RemoteStorage.patience_s))
    with Run.start() as run:
        model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=run.params.get("steps", 40))
        run.track(model=model, optimizer=optimizer, scheduler=scheduler)
        length = {"epochs": run.params["epochs"]} if "epochs" in run.params else {"steps": run.params["steps"]}
        for step, (x, y) in run.batches(Noisy(100), 8, workers=run.params.get("workers", 0), **length):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            if step == run.params.get("poison"):
                loss = loss * float(run.params.get("with", "nan"))
            if step == run.params.get("crash"):
                raise ValueError("crashed on purpose")
            run.check(loss=loss)
            optimizer.step()
            scheduler.step()
            run.log(loss=loss)
            if run.every(10):
                with run.evaluation():
                    model.eval()
                    evaluate()
                    torch.randn(3)
                    run.log(**{"eval.loss": nn.functional.cross_entropy(model(torch.randn(64, 12)), y[:1].repeat(64))})
                    model.train()
            if step == run.params.get("finish"):
                run.finish("good enough")
            if step == run.params.get("break"):
                break
            pace(step, run.params)
        digest = hashlib.sha256()
        for tensor in [*model.state_dict().values(), *(s["exp_avg"] for s in optimizer.state.values()), torch.rand(4)]:
            digest.update(bytes(tensor.flatten().view(torch.uint8).tolist()))
        (run.outputs / "digest.txt").write_text(f"{digest.hexdigest()} {scheduler.get_last_lr()}\n")


main()
