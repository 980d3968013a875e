"""Reloads a finished model, where nothing of its training is left, and asks it again what it said then.

usage: python reload.py model.pt        exit 0: it loads and says the same; 1: it doesn't
"""

import sys

import torch
from network import Network


def main(path: str) -> int:
    """Exit status: 0 where the reloaded model's answers equal those stored beside its weights."""
    torch.set_num_threads(1)
    kept = torch.load(path, weights_only=True)
    model = Network(**kept["shape"])
    model.load_state_dict(kept["weights"])
    model.eval()
    with torch.no_grad():
        said = model(kept["probe"])
    # Another machine may add in another order: the digits read must be the same, the logits close.
    same = torch.equal(said.argmax(1), kept["said"].argmax(1)) and torch.allclose(said, kept["said"], atol=1e-4)
    units, answer = kept["shape"]["hidden"], "reads the probe as it did" if same else "reads the probe differently"
    print(f"{path}: {units} hidden units, {answer}: {said.argmax(1).tolist()}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
