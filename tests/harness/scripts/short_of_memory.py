"""A trainer on a machine whose memory has no room for a copy of its state; of several ranks, on the last one's alone."""

import os
import runpy
from pathlib import Path

from campc_harness import memory

world = int(os.environ["WORLD_SIZE"])
if int(os.environ["RANK"]) == world - 1:
    memory.available_memory = lambda: 0
script = "trainer.py" if world == 1 else os.environ.get("SCRIPT", "ranks.py")
runpy.run_path(str(Path(__file__).with_name(script)), run_name="__main__")
