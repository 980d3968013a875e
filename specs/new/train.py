"""A training script to start from: it learns made-up data, and resumes. Put in your model, data and metric.

What is campc's: `Run.start`, `track`, `batches`, `check` and `log`, `every` and `evaluation`, `outputs`.
"""

import csv

import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from campc_harness import Run

FEATURES = 20


def make_data(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Points (count, FEATURES) and their classes (count,): inside or outside a sphere."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(count, FEATURES, generator=generator)
    return points, (points.square().sum(1) > FEATURES).long()


def main() -> None:
    """Train, evaluate, deliver."""
    torch.set_num_threads(1)
    with Run.start() as run:
        torch.manual_seed(run.seed)
        hidden = int(run.params.get("hidden", 16))
        model = nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        optimizer = torch.optim.AdamW(model.parameters(), lr=float(run.params.get("lr", 1e-2)))
        run.track(model=model, optimizer=optimizer)
        training, (points, classes) = TensorDataset(*make_data(2000, seed=0)), make_data(1000, seed=1)

        for _step, (batch, labels) in run.batches(training, batch_size=32, steps=run.params["steps"]):
            loss = nn.functional.cross_entropy(model(batch), labels)
            run.check(loss=loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
            if run.every(100):
                with run.evaluation(), torch.no_grad():
                    accuracy = (model(points).argmax(1) == classes).float().mean().item()
                    run.log(**{"eval.accuracy": accuracy})

        with torch.no_grad():
            said = model(points).argmax(1)
        with (run.outputs / "predictions.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["id", "class", "predicted"])
            table.writerows((index, int(classes[index]), int(said[index])) for index in range(len(said)))
        torch.save({"hidden": hidden, "weights": model.state_dict()}, run.outputs / "model.pt")


if __name__ == "__main__":
    main()
