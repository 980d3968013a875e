"""`make demo`: one whole campaign on this machine's CPU, with faults injected, told as it goes.

Nothing is staged: the trainer that is killed is the one that trains, and the last lines are printed only where every
comparison held. Exit 0: all of it happened. Exit 1: something did not, and the last line says what.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools.demo_faults import BROKEN, break_spec
from tools.demo_watch import Follower, Trainer, compare_bundles, ledger, wait_for_trainer

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BUNDLE = BUILD / "digits"
TWIN = BUILD / "digits-twin"
SPEC = ROOT / "specs" / "digits" / "digits.campaign"
CAMPC = [sys.executable, "-m", "campc.cli"]
BEGAN = time.monotonic()


class Failed(Exception):
    """Something that the demo promises did not happen."""


def chapter(title: str) -> None:
    """Print a heading with the minutes and seconds since the start."""
    minutes, seconds = divmod(int(time.monotonic() - BEGAN), 60)
    print(
        f"\n\033[1m── {title} \033[0m({minutes}:{seconds:02})"
        if sys.stdout.isatty()
        else f"\n── {title} ({minutes}:{seconds:02})"
    )


def say(text: str) -> None:
    """Print one line of the story."""
    print(text, flush=True)


def show(path: Path) -> str:
    """A path as a reader in the root of the checkout would type it."""
    return os.path.relpath(path, Path.cwd())


def call(*command: str | Path, expect: int | None = 0) -> str:
    """Run a command, show it and what it prints, and return that.

    Raises:
        Failed: it ended with another status than `expect`.
    """
    words = [str(word) for word in command]
    named = ["campc", *words[len(CAMPC) :]] if words[: len(CAMPC)] == CAMPC else words
    shown = " ".join(show(Path(word)) if word.startswith(str(ROOT)) else word for word in named)
    say(f"$ {shown}")
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = done.stdout.replace(f"{ROOT}/", "")
    print("".join(f"  {line}\n" for line in output.splitlines()), end="", flush=True)
    if expect is not None and done.returncode != expect:
        raise Failed(f"`{shown}` ended with {done.returncode}, not {expect}")
    return output


def check() -> None:
    """The campaign is clean; four copies of the schedule, each with one expensive mistake, are not."""
    chapter("Check the campaign")
    call(*CAMPC, "check", SPEC)
    chapter("Four mistakes that somebody paid for")
    for fault in BROKEN:
        say(f"\n{fault.story}")
        broken = break_spec(fault, BUILD / "broken")
        output = call(*CAMPC, "check", broken, expect=1)
        if fault.code not in output:
            raise Failed(f"{show(broken)}: {fault.code} was to be found")


def build() -> None:
    """Build the bundle, rehearse it, and set a twin aside that nobody will disturb."""
    chapter("Build the bundle and rehearse it")
    for folder in (BUNDLE, TWIN):
        shutil.rmtree(folder, ignore_errors=True)
    call(*CAMPC, "build", SPEC, "-o", BUNDLE)
    say("\nThe rehearsal kills and resumes each run, and compares it bit for bit with one that was left alone.")
    call(BUNDLE / "launch.sh", "rehearse", "--cpu")
    shutil.copytree(BUNDLE, TWIN, symlinks=True)


def start(bundle: Path) -> subprocess.Popen[bytes]:
    """Launch a bundle in the foreground of a process of its own, with its output in `BUNDLE.log`."""
    with bundle.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [str(bundle / "launch.sh"), "--foreground", "--cpu"], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )


def launch() -> None:
    """Run the bundle and its twin side by side, and disturb only the first."""
    chapter("Launch it twice: one is disturbed, its twin is not")
    disturbed, twin = start(BUNDLE), start(TWIN)
    say(
        f"$ {show(BUNDLE)}/launch.sh --foreground --cpu      (its output is in {show(BUNDLE)}.log; this is its ledger:)"
    )
    follower = Follower(BUNDLE)
    follower.start()
    try:
        killed = wait_for_trainer(BUNDLE, "control", disturbed)
        killed.kill()
        say(f"  SIGKILL to {killed}")
        stopped = wait_for_trainer(BUNDLE, "wider", disturbed)
        stopped.terminate()
        say(f"  SIGTERM to {stopped}")
        for process, bundle in ((disturbed, BUNDLE), (twin, TWIN)):
            if process.wait(timeout=900) != 0:
                print(
                    "".join(f"  {line}\n" for line in bundle.with_suffix(".log").read_text().splitlines()[-30:]), end=""
                )
                raise Failed(f"{show(bundle)}/launch.sh ended with {process.returncode}")
    except TimeoutError as error:
        raise Failed(str(error)) from None
    finally:
        follower.stop()
        for process in (disturbed, twin):
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=60)
    prove_faults(killed, stopped)


def prove_faults(killed: Trainer, stopped: Trainer) -> None:
    """Hold the ledgers against the story: a crash and an interruption here, each resumed; none in the twin."""
    events = ledger(BUNDLE)
    for trainer, event in ((killed, "crash"), (stopped, "interrupted")):
        mine = [entry for entry in events if (entry["run_id"], entry["window"]) == (trainer.run_id, trainer.window)]
        names = [entry["event"] for entry in mine]
        if event not in names:
            raise Failed(f"the ledger holds no {event} of {trainer.run_id}: {names}")
        after = mine[names.index(event) :]
        resumed = [entry["step"] for entry in after if entry["event"] == "resume"]
        if not resumed or not resumed[0]:
            raise Failed(f"{trainer.run_id} did not resume from a checkpoint after its {event}")
        say(f"  the ledger: {trainer.run_id} {event}, then resumed at step {resumed[0]}")
    disturbed_twin = [entry["event"] for entry in ledger(TWIN) if entry["event"] in ("crash", "interrupted", "hang")]
    if disturbed_twin:
        raise Failed(f"the twin was disturbed too: {disturbed_twin}")


def compare() -> None:
    """Every tensor of every finished model, and every prediction, against the twin's: bit for bit."""
    chapter("Compare with the undisturbed twin")
    for line in compare_bundles(BUNDLE, TWIN):
        say(f"  {line}")
        if "differ" in line:
            raise Failed("the disturbed campaign's results differ from its twin's")


def close() -> None:
    """Pack, close out, and say where the two documents are."""
    chapter("Pack and close out")
    call(BUNDLE / "launch.sh", "status")
    call(BUNDLE / "launch.sh", "pack")
    call(*CAMPC, "closeout", BUNDLE, "--reload")
    documents = [BUNDLE / "plan.pdf", BUNDLE / "closeout.pdf"]
    for document in documents:
        if not document.is_file() or not document.read_bytes().startswith(b"%PDF-"):
            raise Failed(f"{show(document)} is not there")
    minutes, seconds = divmod(int(time.monotonic() - BEGAN), 60)
    chapter("Done")
    say("One trainer was killed, another told to stop; both resumed. Every weight equals the twin's, bit for bit.")
    say(f"It took {minutes} min {seconds} s. To read:\n  {show(documents[0])}\n  {show(documents[1])}")


def main() -> int:
    """Tell the whole story; the exit status says whether it was true."""
    BUILD.mkdir(exist_ok=True)
    os.environ["CAMPC_PYTHON"] = sys.executable  # the launcher takes the Python that has torch: here, this one
    try:
        check()
        build()
        launch()
        compare()
        close()
    except Failed as failure:
        say(f"\nThe demo failed: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
