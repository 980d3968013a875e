"""What was measured is written as the language takes it."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from campc.closeout.closing import close
from campc.closeout.lessons import _quoted, _round_up, _rounded
from campc.pipeline import compile_source
from campc.source import Source
from campc.values.quantities import compact_duration, format_size
from tests.closeout.scene import HOUR, positive
from tests.closeout.test_cases import WIDER


def faults(package: str, checkpoint: str, window: str) -> list[str]:
    """Faults of syntax, names and types of a spec with these lines in it."""
    text = f"""
campaign c {{ question = "q"; decision = "d" }}
package p {{ gpu = "g"; price = 1 USD per h; interruptible = true; {package} }}
lot box {{ package = p }}
run r {{ script = "t.py" }}
checkpoint {{ every = 1h; to = "s3://x"; {checkpoint} }}
tier essential {{ window w {{ kind = train; on = box; run = r; {window} }} }}
"""
    compiled = compile_source(Source("c.campaign", text, Path("c.campaign")))
    return [f"{fault.code} {fault.message}" for fault in compiled.diagnostics if fault.code[:2] in ("C1", "C2")]


def test_every_line_compiles(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["lots"][0]["package"]["interruptible"] = True
    scene.say(16, "interrupted", window="wider", run_id=WIDER, attempt=1, step=30, reason="SIGTERM", code=75)
    scene.say(16.1, "start", window="wider", run_id=WIDER, attempt=2)
    scene.say(16.2, "resume", window="wider", run_id=WIDER, attempt=2, step=25)
    measured = close(scene.write(tmp_path / "bundle"), reload=False).measured
    lines = {
        place: [m.spec for m in measured if m.place and m.place.split()[0] == place]
        for place in ("package", "checkpoint", "window")
    }
    assert len(lines["package"]) == 1 and len(lines["checkpoint"]) == 3 and len(lines["window"]) == 6
    for window in lines["window"]:
        assert faults(lines["package"][0], "; ".join(lines["checkpoint"]), window) == []


@given(st.floats(0.0005, 3e6))
@example(95.2)
@example(59.99)
@example(7 * 24 * HOUR + 0.4)
def test_every_length_of_time(seconds: float) -> None:
    rounded = _rounded(seconds)
    assert abs(rounded - Fraction(seconds)) <= max(Fraction(1, 2), Fraction(seconds) / 200)
    assert faults("", "", f"takes = {compact_duration(rounded)}") == []


@given(st.integers(1, 10**15))
def test_every_size(size: int) -> None:
    rounded = _round_up(size)
    assert size <= rounded <= size * 1.01 + 1
    assert faults("", f"size = {format_size(rounded).replace(' ', '').replace(',', '')}", "takes = 1h") == []


@pytest.mark.parametrize("text", ["plain", 'a "quoted" word', "back\\slash", "A100 80GB"])
def test_every_text(text: str) -> None:
    assert faults("", "", f"takes = 1h; basis = {_quoted(text)}") == []
