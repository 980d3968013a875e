"""A tiny causal language model with random weights, trained by a Hugging Face Trainer."""

import hashlib
import os
import sys

import torch
import transformers
from pace import evaluate, pace
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from campc_harness import Run, hf

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()


class Tokens(torch.utils.data.Dataset):
    """Random token sequences."""

    def __init__(self, poison=None):
        self.rows = torch.randint(0, 40, (37, 8), generator=torch.Generator().manual_seed(5))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


class Slow(Trainer):
    """Takes its time where it is told to, and spoils a loss."""

    def training_step(self, *given, **named):
        pace(self.state.global_step + 1, run.params)
        loss = super().training_step(*given, **named)
        return loss * float("nan") if self.state.global_step + 1 == int(os.environ.get("POISON", "0")) else loss

    def prediction_step(self, *given, **named):
        evaluate()
        return super().prediction_step(*given, **named)


with Run.start() as run:
    torch.manual_seed(run.seed)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=8, n_embd=16, n_layer=1, n_head=2))
    arguments = TrainingArguments(
        output_dir=str(run.outputs / "never"),
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        max_steps=run.params["steps"],
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=7,
        learning_rate=1e-2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=run.seed,
    )
    trainer = Slow(model=model, args=arguments, train_dataset=Tokens(), eval_dataset=Tokens())
    hf.train(trainer, run)
    digest = hashlib.sha256()
    for tensor in model.state_dict().values():
        digest.update(bytes(tensor.flatten().contiguous().view(torch.uint8).tolist()))
    (run.outputs / "digest.txt").write_text(f"{digest.hexdigest()} {trainer.state.global_step}")
sys.stdout.flush()
