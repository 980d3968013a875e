"""A bundle that lies where nothing can be written, or where no room is left: one line says so, whatever the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.bundles import Bundle, campaign, executes, run, window

WRITING = [
    ("preflight", "--cpu"),
    ("rehearse", "--cpu"),
    ("run", "--foreground", "--cpu"),
    ("run", "--cpu"),
    ("pack",),
    ("record", "note", "x"),
    ("stop",),
    ("skip", "control", "--because", "x"),
]
READING = [("status",), ("logs",), ("ledger",)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "there"
    folder.mkdir()
    if os.system(f"mount -t tmpfs -o size=8m tmpfs {folder} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        os.system(f"umount {folder}")


def bundle(place: Path) -> Bundle:
    control = run("control")
    windows = [executes("control", "train", control), window("home", "retrieve", last=True)]
    return Bundle(place / "b", campaign(runs=[control], windows=windows))


def tell(one: Bundle, line: str) -> None:
    for command in WRITING:
        done = one.launch(*command, check=None)
        text = done.stdout
        assert "Traceback" not in text, (command, text)
        if command[0] != "stop":  # nothing runs
            assert done.returncode == 78 and line in text, (command, text)
    for command in READING:
        done = one.launch(*command, check=None)
        assert "Traceback" not in done.stdout and done.returncode == 0


def test_a_folder_with_a_colon_in_its_name(tmp_path: Path) -> None:
    one = Bundle(tmp_path / "2026-11-30T10:15", campaign(runs=[run("control")], windows=[]))
    for command in WRITING:
        done = one.launch(*command, check=78)
        assert done.stdout == (
            f"launch.sh: the folder {one.root} has a colon in its name, which no Python search path can hold: "
            "move or rename it\n"
        )


def test_a_bundle_that_can_only_be_read(place: Path) -> None:
    one = bundle(place)
    assert os.system(f"mount -o remount,ro {place}") == 0
    tell(one, "(Read-only file system): the bundle must lie where it can be written to")


def test_a_bundle_on_a_full_disk(place: Path) -> None:
    one = bundle(place)
    assert os.system(f"dd if=/dev/zero of={place}/fill bs=4k 2>/dev/null") != 0
    tell(one, "(No space left on device): free some room first")
