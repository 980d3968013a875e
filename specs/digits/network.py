"""The network of the digits campaign and the images it reads; shared by training and reloading."""

import csv
from pathlib import Path

import torch
from torch import Tensor, nn

PIXELS = 64
CLASSES = 10
BRIGHTEST = 16.0


class Network(nn.Sequential):
    """One hidden layer of `hidden` units, with `dropout` behind it: images (n, 64) to logits (n, 10)."""

    def __init__(self, hidden: int, dropout: float) -> None:
        super().__init__(nn.Linear(PIXELS, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, CLASSES))


class Digits(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
    """Images from a frozen CSV: `ids`, `pixels` (n, 64) from 0 to 1, `labels` (n,), and how many rows were `truncated`.

    The first two thirds are for training, the rest for the test. The file's order keeps each writer's digits
    together, so most of the test was written by people whom the training never saw.
    """

    def __init__(self, path: Path) -> None:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        whole = [row for row in rows if len(row) == 2 + PIXELS and all(row)]
        self.truncated = len(rows) - len(whole)
        self.ids = [row[0] for row in whole]
        self.labels = torch.tensor([int(row[1]) for row in whole])
        self.pixels = torch.tensor([[int(pixel) for pixel in row[2:]] for row in whole]) / BRIGHTEST
        self.training = len(whole) * 2 // 3

    def __len__(self) -> int:
        return self.training

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.pixels[index], self.labels[index]
