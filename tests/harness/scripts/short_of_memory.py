"""The trainer, on a machine whose memory has no room for a copy of its state."""

import runpy
from pathlib import Path

from campc_harness import memory

memory.available_memory = lambda: 0
runpy.run_path(str(Path(__file__).with_name("trainer.py")), run_name="__main__")
