"""The trainer, killed at one point of the checkpoint of one step: DIE_AT says which, DIE_STEP whose."""

import os
import runpy
import signal
from pathlib import Path

from campc_harness import storage

AT, STEP = os.environ.get("DIE_AT", ""), int(os.environ.get("DIE_STEP", "0"))
write, commit, sync = storage.LocalStorage.write, storage.LocalStorage.commit, storage._sync
synced = []


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def writes(self, step, name, produce):
    if AT == "data" and step == STEP and name.startswith("rank-"):
        return write(self, step, name, lambda put: produce(lambda chunk: (put(chunk[: len(chunk) // 2]), die())))
    return write(self, step, name, produce)


def commits(self, step, content, drop):
    if step == STEP:
        if AT == "before the manifest":
            die()
        synced.append(step)
    return commit(self, step, content, drop)


def syncs(folder):
    if synced:
        synced.append(folder)
        if AT == {2: "before the rename", 3: "after the rename"}.get(len(synced)):
            die()
    sync(folder)


storage.LocalStorage.write, storage.LocalStorage.commit, storage._sync = writes, commits, syncs
runpy.run_path(str(Path(__file__).with_name("trainer.py")), run_name="__main__")
