"""The recorded session is what it is said to be: a fault, its fix, an overrun, taken back."""

import json
import re
from pathlib import Path

CAST = Path(__file__).resolve().parents[2] / "docs" / "editors" / "neovim.cast"


def test_the_recording_shows_what_the_page_says() -> None:
    head, *events = (json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines())
    assert head["version"] == 2 and head["width"] == 150
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    screen: dict[int, str] = {}
    seen = []
    for _, kind, drawn in events:
        assert kind == "o"
        for number, line in re.findall(r"\x1b\[(\d+);1H\x1b\[0m(.*?)\x1b\[0m\x1b\[K", drawn):
            screen[int(number)] = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
        seen.append("\n".join(screen[row] for row in sorted(screen)))

    steps = [
        "has no attribute tekes",
        "1: Write takes",
        "takes = 10h; after = pilot",
        "takes = 40h",
        "6 h over",
        "takes = 10h; after = control",
    ]
    at = 0
    for step in steps:
        at = next((n for n in range(at, len(seen)) if step in seen[n]), -1)
        assert at >= 0, f"the recording never shows {step!r} after the steps before it"
    assert not re.search(r"/(tmp|home|root|work)/", CAST.read_text(encoding="utf-8"))
