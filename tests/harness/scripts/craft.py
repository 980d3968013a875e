"""What real scripts do: two optimizers, a scaler, accumulation over epochs, EMA weights swapped in for evaluation."""

import copy
import hashlib

import torch
from pace import evaluate, pace
from torch import nn
from torch.utils.data import Dataset

from campc_harness import Run

torch.set_num_threads(1)


class Augmented(Dataset):
    """Twenty-seven samples: no batch size divides them."""

    def __len__(self):
        return 27

    def __getitem__(self, index):
        return torch.full((6,), index / 27.0) + 0.1 * torch.randn(6)


class Patience:
    """Counts evaluations without improvement."""

    def __init__(self):
        self.best, self.bad, self.history = None, 0, {}

    def state_dict(self):
        return {"best": self.best, "bad": self.bad, "history": self.history}

    def load_state_dict(self, state):
        self.best, self.bad, self.history = state["best"], state["bad"], state["history"]


class Ema:
    """A moving average of the weights."""

    def __init__(self, model):
        self.model, self.average = model, copy.deepcopy(model)

    def update(self):
        with torch.no_grad():
            for mine, theirs in zip(self.average.parameters(), self.model.parameters(), strict=True):
                mine.lerp_(theirs, 0.1)

    def swap(self):
        with torch.no_grad():
            for mine, theirs in zip(self.average.parameters(), self.model.parameters(), strict=True):
                kept = mine.clone()
                mine.copy_(theirs)
                theirs.copy_(kept)

    def state_dict(self):
        return self.average.state_dict()

    def load_state_dict(self, state):
        self.average.load_state_dict(state)


with Run.start() as run:
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.Linear(8, 6))
    model[3].weight = nn.Parameter(model[0].weight.detach().clone().t().contiguous())
    tied = nn.ModuleDict({"encoder": model, "same": model[0]})
    head = nn.Linear(6, 1)
    adam = torch.optim.AdamW(tied.parameters(), lr=0.01)
    sgd = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, max_lr=0.02, total_steps=200)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd, patience=1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
    ema, patience = Ema(tied), Patience()
    run.track(model=tied, head=head, adam=adam, sgd=sgd, schedule=schedule, plateau=plateau)
    run.track(scaler=scaler, ema=ema, patience=patience)
    loop = run.batches(Augmented(), 4, epochs=run.params["epochs"], accumulate=3, workers=run.params["workers"])
    for step, batch in loop:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = (head(model(batch)).float() - batch.sum(1, keepdim=True)).square().mean()
        run.check(loss=loss)
        scaler.scale(loss / 3).backward()
        if not run.accumulated:
            continue
        for optimizer in (adam, sgd):
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()
        schedule.step()
        ema.update()
        run.log(loss=loss)
        if run.every(5):
            with run.evaluation():
                ema.swap()
                evaluate()
                with torch.no_grad():
                    value = model(torch.randn(32, 6)).square().mean()
                ema.swap()
                run.log(**{"eval.loss": value})
            patience.history[step] = patience.bad
            patience.bad += 1
            plateau.step(step // 10)
        pace(step)
    digest = hashlib.sha256()
    for part in (tied, head, ema.average):
        for tensor in [*part.state_dict().values(), torch.rand(4)]:
            digest.update(bytes(tensor.flatten().view(torch.uint8).tolist()))
    words = f"{digest.hexdigest()} {step} {run.epoch} {scaler.get_scale()} {schedule.get_last_lr()} {patience.history}"
    (run.outputs / "digest.txt").write_text(words)
