"""Another script as it stands, EXAMPLE, held at one of the steps that its optimizer takes in this attempt: HOLD says which."""

import itertools
import os
import runpy

from pace import pace
from torch.optim.optimizer import register_optimizer_step_post_hook

count = itertools.count(1)
register_optimizer_step_post_hook(lambda *_: pace(next(count)))
runpy.run_path(os.environ["EXAMPLE"], run_name="__main__")
