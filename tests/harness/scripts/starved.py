"""A slow dataset."""

import os
import time

from torch.utils.data import Dataset

from campc_harness import Run


class Slow(Dataset):
    """Takes its time for each sample."""

    def __init__(self, pause):
        self.pause = pause

    def __len__(self):
        return 10

    def __getitem__(self, index):
        time.sleep(self.pause)
        return index


with Run.start() as run:
    for _ in run.batches(Slow(run.params["fetch"]), 1, steps=run.params["steps"]):
        time.sleep(float(os.environ.get("PAUSE", "0")))
