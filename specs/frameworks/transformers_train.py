"""A tiny language model under a Hugging Face Trainer: the script as it was, and three lines for the campaign."""

import torch
import transformers
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from campc_harness import Run, hf

transformers.utils.logging.disable_progress_bar()


class Sequences(Dataset):
    """Counting modulo forty: the next token is always the one before, plus one."""

    def __len__(self) -> int:
        return 200

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        tokens = (torch.arange(12) + index) % 40
        return {"input_ids": tokens, "labels": tokens}


def main() -> None:
    """Train, deliver."""
    with Run.start({"steps": 20, "lr": 1e-2}) as run:
        transformers.set_seed(run.seed)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=12, n_embd=32, n_layer=1, n_head=2))
        arguments = TrainingArguments(
            output_dir=str(run.outputs),
            max_steps=run.params["steps"],
            learning_rate=run.params["lr"],
            per_device_train_batch_size=8,
            logging_steps=1,
            eval_strategy="steps",
            eval_steps=10,
            report_to=[],
            disable_tqdm=True,
            seed=run.seed,
            use_cpu=not torch.cuda.is_available(),
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=Sequences(), eval_dataset=Sequences())
        hf.train(trainer, run)
        torch.save(model.state_dict(), run.outputs / "model.pt")


if __name__ == "__main__":
    main()
