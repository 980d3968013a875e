"""Records the session in docs/editors.md: `python -m tools.record_neovim`, with tmux and Neovim (0.10 or newer: it draws hints) installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "editors" / "neovim.cast"
WIDTH, HEIGHT = 150, 30
SOCKET = "campc-cast"
CONFIGURATION = """set rtp^={root}/editors/neovim noswapfile shada= nowrap
let g:campc_command = ["{python}", "-m", "campc", "lsp"]
filetype plugin on
syntax on
lua vim.diagnostic.config({{ virtual_text = true }})
nnoremap ga <cmd>lua vim.lsp.buf.code_action()<cr>
nnoremap gk <cmd>lua vim.diagnostic.open_float()<cr>
"""
# What is typed, and for how many seconds the screen is watched after it. Words in capitals are keys.
SCRIPT = [
    ("", 4), ("47G", 0.5), ("zz", 1.5), ("/tekes", 0.5), ("ENTER", 2), ("gk", 3), ("ESCAPE", 0.5), ("ga", 2.5), ("1", 0.3), ("ENTER", 3),
    ("/10h; after = control; run = rank16", 0.5), ("ENTER", 1), ("cw40h", 0.5), ("ESCAPE", 3.5),
    ("/^lot", 0.5), ("ENTER", 1.5), ("gk", 4), ("ESCAPE", 0.5), ("u", 3),
]  # fmt: skip


def tmux(*words: str) -> str:
    return subprocess.run(["tmux", "-L", SOCKET, *words], capture_output=True, text=True, check=True).stdout


class Recorder:
    """Looks at the screen a few times a second, and keeps what changed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.begun = time.monotonic()
        self.lines: list[str] = []
        self.cursor = ""
        self.events: list[tuple[float, str, str]] = []

    def look(self) -> None:
        lines = tmux("capture-pane", "-p", "-e").replace(self.folder, ".").rstrip("\n").split("\n")
        row, column = tmux("display-message", "-p", "#{cursor_y} #{cursor_x}").split()
        cursor = f"\x1b[{int(row) + 1};{int(column) + 1}H"
        if (lines, cursor) == (self.lines, self.cursor):
            return
        lines += [""] * (len(self.lines) - len(lines))
        old: list[str | None] = [*self.lines, *[None] * (len(lines) - len(self.lines))]
        drawn = "".join(
            f"\x1b[{number};1H\x1b[0m{line}\x1b[0m\x1b[K"
            for number, (line, before) in enumerate(zip(lines, old, strict=True), 1)
            if line != before
        )
        self.lines, self.cursor = lines, cursor
        self.events.append((round(time.monotonic() - self.begun, 3), "o", drawn + cursor))

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            time.sleep(0.15)

    def play(self, words: str, seconds: float) -> None:
        if words in ("ENTER", "ESCAPE"):
            tmux("send-keys", words.capitalize())
        else:
            for letter in words:
                tmux("send-keys", "-l", "\\;" if letter == ";" else letter)
                self.watch(0.18)
        self.watch(seconds)


def main() -> None:
    """Play the script in Neovim, in a terminal that tmux keeps, and write down the screen."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "catalogs").mkdir()
        shutil.copy(ROOT / "specs" / "catalogs" / "iteragpu.campaign", work / "catalogs")
        text = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8")
        broken, count = re.subn(r"(window control .*)takes", r"\1tekes", text)
        assert count == 1
        (work / "schedule.campaign").write_text(broken, encoding="utf-8")
        (work / "init.vim").write_text(CONFIGURATION.format(root=ROOT, python=sys.executable))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "HOME": folder, "TERM": "xterm-256color"}
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        command = "nvim -n -i NONE -u init.vim schedule.campaign"
        subprocess.run(
            ["tmux", "-L", SOCKET, "-f", "/dev/null", "new-session", "-d", *size, "-c", folder, command],
            env=environment,
            check=True,
        )
        try:
            tmux("set", "-g", "status", "off")
            recorder = Recorder(folder)
            for words, seconds in SCRIPT:
                recorder.play(words, seconds)
        finally:
            tmux("kill-server")
    head = {
        "version": 2,
        "width": WIDTH,
        "height": HEIGHT,
        "title": "A campaign in Neovim: a fault, its fix, an overrun taken back",
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [head, *recorder.events]), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
