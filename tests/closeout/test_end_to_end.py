"""One campaign that goes badly, from spec to closeout, with nothing pretended: a threshold out of reach, and a run that diverges."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from campc.cli import main
from tests.closeout.scene import put

SPEC = """
campaign bad {
  question    = "Is a higher rate better?"
  decision    = "Adopt it where it gains a point."
  if_negative = "Keep the low rate."
  currency    = USD
}
package p { gpu = "any"; price = 9.50 USD; duration = 1d }
outcome adopt { when = high.eval.accuracy - low.eval.accuracy >= 0.01; conclude = "Adopt the high rate." }
corpus tickets { path = "tickets.csv"; ids = "id" }
lot box { package = p }
run low { script = "train.py"; corpus = tickets; params = { rate = 0.1 }; steps = 20 steps; metrics = [loss, eval.accuracy] }
run high { variant_of = low; change = { rate = 9.0 }; because = "Nothing else moves." }
checkpoint { every = 10 steps; to = "checkpoints" }
stop diverged { when = loss is not finite; because = "It never recovers." }
tier essential {
  window low  { kind = train; on = box; takes = 1min; run = low }
  window high { kind = train; on = box; takes = 1min; after = low; run = high }
  window home { kind = retrieve; on = box; takes = 1min; last = true; to = "home" }
}
deliverable predictions {
  of = [low, high]; path = "predictions.csv"; kind = predictions
  accept = missing_ids == 0 and eval.accuracy >= 0.99
}
ratio each { cost = rental; per = predictions; distinct = run; expect = 2; if_none = "State the rental, and why each was rejected." }
"""
SCRIPT = """
import torch
from campc_harness import Run

with Run.start() as run:
    torch.set_num_threads(1)
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=run.params["rate"])
    run.track(optimizer=optimizer)
    for step in run.steps(20):
        loss = (weight ** 2).sum() ** 4
        run.check(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(loss=loss, **{"eval.accuracy": 0.75})
    (run.outputs / "predictions.csv").write_text("id,label\\na,1\\nb,2\\n")
"""


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014.icc:ResourceWarning")
def test_nothing_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {"bad.campaign": SPEC.encode(), "train.py": SCRIPT.encode(), "tickets.csv": b"id,text\na,x\nb,y\n"})
    bundle = tmp_path / "bundle"
    assert main(["build", str(tmp_path / "bad.campaign"), "-o", str(bundle), "--no-pdf"]) == 0
    environment = {
        **os.environ,
        "CAMPC_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    launched = subprocess.run(
        [str(bundle / "launch.sh"), "--foreground", "--cpu"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (bundle / "package.tar.gz").is_file(), launched.stdout + launched.stderr
    capsys.readouterr()
    assert main(["closeout", str(bundle)]) == 1
    said = capsys.readouterr().out
    assert said.startswith("bad: Undecided: high was stopped at step ")
    assert "accepted: 0 of 2 deliverables\n" in said
    assert "each: undefined. State the rental, and why each was rejected. Cost incurred: 9.50 USD (rental).\n" in said
    assert "`missing_ids == 0 and eval.accuracy >= 0.99` is not met: missing_ids = 0, eval.accuracy = 0.75" in said
    tree = json.loads((bundle / "closeout.json").read_text())
    assert [d["accepted"] for d in tree["deliverables"]] == [False, False] and tree["ratios"][0]["value"] is None
    assert [stop["rule"] for stop in tree["stops"]] == ["diverged"]
    assert tree["package_intact"] is True and all(check["intact"] for check in tree["ledgers"])
    assert main(["verify", str(bundle / "package.tar.gz")]) == 0
    assert main(["ledger", str(bundle), "--event", "stop"]) == 0
    assert "diverged" in capsys.readouterr().out
    assert main(["diff", str(tmp_path / "bad.campaign"), str(bundle)]) == 0
