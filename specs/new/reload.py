"""Reloads a finished model where nothing of its training is left. usage: python reload.py model.pt"""

import sys

import torch
from torch import nn

kept = torch.load(sys.argv[1], weights_only=True)
features = kept["weights"]["0.weight"].shape[1]
model = nn.Sequential(nn.Linear(features, kept["hidden"]), nn.ReLU(), nn.Linear(kept["hidden"], 2))
model.load_state_dict(kept["weights"])
answers = model(torch.zeros(4, features))
if not bool(answers.isfinite().all()):
    sys.exit(f"{sys.argv[1]}: loads, and answers what isn't finite")
print(f"{sys.argv[1]}: loads, and answers {tuple(answers.shape)}")
