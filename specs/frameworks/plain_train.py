"""A training script that nobody may change: it saves now and then, and goes on from what it saved last."""

import argparse
import os
from pathlib import Path

import torch
from torch import nn


def main() -> None:
    """Train, saving every fifth step; deliver."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-to", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    options.save_to.mkdir(parents=True, exist_ok=True)
    saved = options.save_to / "last.pt"
    begin = 0
    if saved.exists():
        state = torch.load(saved, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        begin = state["step"]
    for step in range(begin + 1, options.steps + 1):
        x = torch.randn(32, 8, generator=torch.Generator().manual_seed(options.seed * 1_000_003 + step))
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, options.save_to / "last.pt.part")
            os.replace(options.save_to / "last.pt.part", saved)
    torch.save(model.state_dict(), options.model)


if __name__ == "__main__":
    main()
