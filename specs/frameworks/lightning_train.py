"""A small autoencoder under Lightning: the module as it was, and three lines for the campaign."""

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from campc_harness import Run, lightning


class Autoencoder(LightningModule):
    """Eight numbers through three, and back.

    Args:
        lr: learning rate of AdamW.
    """

    def __init__(self, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.1), nn.Linear(3, 8))

    def loss(self, batch: list[torch.Tensor]) -> torch.Tensor:
        """Mean squared error of the reconstruction."""
        return (self.net(batch[0]) - batch[0]).square().mean()

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        """One batch of training."""
        return self.loss(batch)

    def validation_step(self, batch: list[torch.Tensor], index: int) -> None:
        """One batch of validation."""
        self.log("val.loss", self.loss(batch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """AdamW over all weights."""
        return torch.optim.AdamW(self.parameters(), lr=self.lr)


def main() -> None:
    """Train, deliver."""
    with Run.start({"steps": 20, "lr": 1e-2}) as run:
        data = TensorDataset(torch.randn(100, 8, generator=torch.Generator().manual_seed(run.seed)))
        model = Autoencoder(run.params["lr"])
        trainer = Trainer(
            max_steps=run.params["steps"],
            val_check_interval=5,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            logger=False,
            devices=1,
        )
        held_out = DataLoader(data, batch_size=50)
        lightning.fit(trainer, model, run, data, batch_size=8, val_dataloaders=held_out)
        torch.save(model.state_dict(), run.outputs / "model.pt")


if __name__ == "__main__":
    main()
