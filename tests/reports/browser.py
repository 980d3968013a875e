"""A real browser without a network: what a page looks like to it, and what scripts that a test brings along find out."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
NODE_MODULES = Path(__file__).parent / "node_modules"
OFFLINE = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=socks5://127.0.0.1:1",
)  # fmt: skip
DARK = "--blink-settings=preferredColorScheme=0"


def run(page: Path, profile: Path, *options: str) -> str:
    """Open a page and give back what it has become."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *OFFLINE,
        f"--user-data-dir={profile}",
        *options,
        "--virtual-time-budget=20000",
        "--dump-dom",
        page.as_uri(),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout


def ask(text: str, script: str, folder: Path, *options: str, width: int | None = None) -> Any:
    """What a script finds in a page: it calls ``answer(value)`` once. ``width``: in a frame so wide, as on a phone."""
    hook = f"<script>function answer(v){{(parent===window?window:parent).postMessage(JSON.stringify(v),'*')}}\n{script}</script>"
    inner = text.replace("</body>", f"{hook}</body>")
    listen = "<script>onmessage=e=>{const p=document.createElement('pre');p.id='answer';p.textContent=e.data;document.documentElement.append(p)}</script>"
    if width is None:
        page = inner.replace("</head>", f"{listen}</head>")
    else:
        frame = f'<iframe width="{width}" height="800" style="border:0" srcdoc="{html.escape(inner)}"></iframe>'
        page = f"<!DOCTYPE html><html><head>{listen}</head><body>{frame}</body></html>"
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    seen = run(path, folder / "profile", *options)
    found = re.findall(r'<pre id="answer">(.*?)</pre>', seen, re.DOTALL)
    assert found, f"the page gave no answer: {seen[-400:]}"
    return json.loads(html.unescape(found[-1]))
