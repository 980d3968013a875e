"""A small LightningModule with dropout, a schedule, accumulation and validations."""

import hashlib
import logging
import os
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from pace import evaluate, pace
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from campc_harness import Run, lightning

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)


class Augmented(Dataset):
    """Thirty-seven samples with noise."""

    def __len__(self):
        return 37

    def __getitem__(self, index):
        return torch.full((6,), index / 37.0) + 0.1 * torch.randn(6)


class Small(LightningModule):
    """Reconstructs its input."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.Linear(8, 6))

    def training_step(self, batch, index):
        pace(self.global_step + 1, run.params)
        loss = (self.net(batch) - batch).square().mean()
        return loss * float("nan") if self.global_step + 1 == int(os.environ.get("POISON", "0")) else loss

    def validation_step(self, batch, index):
        evaluate()
        self.log("val.loss", (self.net(batch[0]) - batch[0]).square().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2)]


with Run.start() as run:
    model = Small()
    trainer = Trainer(
        max_steps=run.params["steps"],
        accumulate_grad_batches=2,
        val_check_interval=4,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=1,
        logger=False,
        accelerator="cpu",
        devices=int(os.environ.get("DEVICES", os.environ["LOCAL_WORLD_SIZE"])),
        num_nodes=run.world // int(os.environ["LOCAL_WORLD_SIZE"]),
        strategy="ddp" if run.world > 1 else "auto",
    )
    held_out = DataLoader(TensorDataset(torch.randn(8, 6)), batch_size=4)
    lightning.fit(trainer, model, run, Augmented(), 4, val_dataloaders=held_out)
    digest = hashlib.sha256()
    for tensor in [*model.state_dict().values(), torch.rand(2)]:
        digest.update(bytes(tensor.flatten().view(torch.uint8).tolist()))
    (run.outputs / "digest.txt").write_text(f"{digest.hexdigest()} {trainer.global_step}")
