"""Takes its time before and after the loop."""

import os
import time

from campc_harness import Run

with Run.start() as run:
    time.sleep(float(os.environ.get("BEFORE", "0")))
    for _ in run.steps(5):
        run.log(loss=1.0)
    time.sleep(float(os.environ.get("AFTER", "0")))
