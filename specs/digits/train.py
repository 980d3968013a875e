"""Trains one digit classifier, tests it on writers it never saw, and leaves what the campaign must deliver.

All that is special about training under campc: `Run.start`, `track`, `batches`, `check` and `log`, `every`.
"""

import csv
import json

import torch
from network import CLASSES, Digits, Network
from torch import Tensor, nn

from campc_harness import Run

PROBE = 16


def accuracy(model: nn.Module, data: Digits) -> float:
    """The share of test images that `model` reads right."""
    model.eval()
    with torch.no_grad():
        read = model(data.pixels[data.training :]).argmax(1)
    model.train()
    return (read == data.labels[data.training :]).float().mean().item()


def write_predictions(run: Run, data: Digits, read: Tensor) -> None:
    """`predictions.csv`: one row an image, training images too, so that no id of the corpus is missing."""
    with (run.outputs / "predictions.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "split", "label", "predicted"])
        for index, name in enumerate(data.ids):
            split = "train" if index < data.training else "test"
            table.writerow([name, split, data.labels[index].item(), read[index].item()])


def write_errors(run: Run, data: Digits, read: Tensor) -> None:
    """`errors.json`: how often each digit (row) of the test was read as each (column), and what was misread."""
    confusion = torch.zeros(CLASSES, CLASSES, dtype=torch.int64)
    misread = []
    for index in range(data.training, len(data.ids)):
        label, predicted = int(data.labels[index]), int(read[index])
        confusion[label, predicted] += 1
        if label != predicted:
            misread.append({"id": data.ids[index], "label": label, "predicted": predicted})
    report = {"tested": len(data.ids) - data.training, "confusion": confusion.tolist(), "misread": misread}
    (run.outputs / "errors.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def write_model(run: Run, data: Digits, model: nn.Module) -> None:
    """`model.pt`: weights and shape, and what the model said of some test images, which `reload.py` asks it again."""
    probe = data.pixels[data.training :][:PROBE].clone()
    with torch.no_grad():
        said = model(probe)
    shape = {"hidden": run.params["hidden"], "dropout": run.params["dropout"]}
    torch.save({"shape": shape, "weights": model.state_dict(), "probe": probe, "said": said}, run.outputs / "model.pt")


def main() -> None:
    """Train, test, deliver."""
    torch.set_num_threads(1)
    with Run.start() as run:
        data = Digits(run.corpus)
        run.truncated(data.truncated)
        steps = run.params["steps"]
        model = Network(run.params["hidden"], run.params["dropout"])
        optimizer = torch.optim.AdamW(model.parameters(), lr=run.params["lr"], weight_decay=0.01)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        run.track(model=model, optimizer=optimizer, scheduler=scheduler)
        for _step, (pixels, labels) in run.batches(data, batch_size=run.params["batch"], steps=steps):
            loss = nn.functional.cross_entropy(model(pixels), labels)
            run.check(loss=loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            run.log(loss=loss)
            if run.every(250):
                with run.evaluation():
                    run.log(**{"eval.accuracy": accuracy(model, data)})
        model.eval()
        with torch.no_grad():
            read = model(data.pixels).argmax(1)
        write_predictions(run, data, read)
        write_errors(run, data, read)
        write_model(run, data, model)


if __name__ == "__main__":
    main()
