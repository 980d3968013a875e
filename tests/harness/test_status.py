"""What `status` says: pace, projection, the page. On records written by hand, through the real ledger."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from campc_harness import status
from campc_harness.bundle import open_bundle
from campc_harness.ledger import Ledger, read
from campc_harness.page import page
from campc_harness.show import table
from tests.harness.bundles import Bundle, campaign, executes, run, window


def measured(folder: Path, monkeypatch: pytest.MonkeyPatch, **lot: Any) -> status.Status:
    """A campaign whose first run took 2 s a step, while its variant hasn't begun; planned were 3,600 s each."""
    control = run("control", steps=100)
    variant = run("variant", steps=100, variant_of="control")
    plan = campaign(
        runs=[control, variant],
        windows=[
            executes("control", "train", control),
            executes("variant", "train", variant, after=["control"]),
            window("home", "retrieve", last=True, takes=50),
        ],
        lot=lot,
    )
    bundle = open_bundle(Bundle(folder, plan).root)
    now = time.time()
    clock = iter([now - 1000 + 2 * step for step in range(300)])
    with monkeypatch.context() as patch:
        # The ledger's own clock is what is set here: nobody waits 200 s for a test.
        patch.setattr("campc_harness.clock.time.time", lambda: next(clock))
        ledger = Ledger(bundle.ledger, "box", "here")
        ledger.append("launch", plan_hash="x", boot="")
        ledger.append("window", window="control", state="started")
        ledger.append("start", window="control", run_id="control-0badcafe", attempt=1)
        for step in range(1, 41):
            ledger.append(
                "metric",
                window="control",
                run_id="control-0badcafe",
                attempt=1,
                step=step,
                values={"loss": 1 / step, "<b>": 1.0},
            )
        ledger.close()
    return status.status(bundle)


def test_the_projection_goes_by_the_step_time_observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = measured(tmp_path, monkeypatch)
    assert shown.projection is not None
    # 60 steps of the control, 100 of its variant, at 2 s each, and 50 s to bring results home.
    assert shown.projection.needed_s == pytest.approx(60 * 2 + 100 * 2 + 50)
    assert shown.projection.basis == "2 windows at the step time observed, the others as planned"
    assert shown.projection.fits is True
    text = status.text(shown)
    assert re.search(r"control +essential +train +interrupted .* 40/100 loss 0.025", text)
    assert (
        "what remains takes 6 min (2 windows at the step time observed, the others as planned); 71.7 h are left: fits"
        in text
    )


def test_what_does_not_fit_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "DOES NOT FIT" in status.text(measured(tmp_path, monkeypatch, usable_end_s=1100))


def test_what_stands_out_is_said_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(tmp_path, monkeypatch)
    bundle = open_bundle(tmp_path)
    ledger = Ledger(bundle.ledger, "box", "here")
    who: dict[str, Any] = {"window": "control", "run_id": "control-0badcafe", "attempt": 1}
    ledger.append("watch", **who, name="starved", step=7, text="data_wait = 0.6")
    ledger.append("watch", **who, name="starved", step=9, text="data_wait = <0.7>")
    ledger.append("note", **who, reason="quarantine", folder="step-000000030", text="it has no manifest")
    ledger.append("note", **who, reason="corpus", text="nothing to worry about")
    ledger.append("crash", **who, reason="rank 0 ended with exit code 1; its last line: KeyError: 'x'", code=1)
    shown = status.status(bundle)
    told = [line.split("  ", 1)[1] for line in shown.lines if re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d  ", line)]
    assert sorted(told) == [
        "a damaged checkpoint was set aside: step-000000030: it has no manifest",
        "attempt 1 of control died: rank 0 ended with exit code 1; its last line: KeyError: 'x'",
        "watch starved (2 times): data_wait = <0.7>",
    ]
    assert all(line in status.text(shown) for line in told)
    assert "data_wait = &lt;0.7&gt;" in page(shown)
    ledger.append("done", **who, outcome="done", metrics={})
    ledger.close()
    assert not any("died" in line for line in status.status(bundle).lines), "what went well in the end is no trouble"


def test_the_record_as_a_table(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl", "box", "here")
    who: dict[str, Any] = {"window": "w", "run_id": "r", "attempt": 3}
    ledger.append("start", **who)
    ledger.append("checkpoint", **who, step=20, bytes=1234567)
    ledger.append("note", **who, reason="quarantine", folder="step-000000020", text="it has no manifest")
    ledger.append("crash", **who, step=21, reason="rank 0 ended with exit code 1", code=1)
    ledger.close()
    lines = list(table(read(tmp_path / "ledger.jsonl").records))
    assert [re.split(r"  +", line.strip(), maxsplit=5)[4:] for line in lines[1:]] == [
        ["r", "attempt 3"],
        ["r", "20  1,234,567 bytes"],
        ["r", "step-000000020, it has no manifest, quarantine"],
        ["r", "21  attempt 3, rank 0 ended with exit code 1"],
    ]


def test_what_is_cut_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = measured(tmp_path, monkeypatch)
    for width in range(20, 120):
        for line, whole in zip(status.text(shown, width).split("\n"), status.text(shown, 500).split("\n"), strict=True):
            assert line == line.rstrip() and (line == whole or (line[-1] == "…" and len(line) <= width))


def test_the_page_is_whole_and_holds_no_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    html = page(measured(tmp_path, monkeypatch))
    opened: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag != "b", "a metric's name is text, not markup"
            assert not any(name in ("src", "href") for name, _ in attrs), "it needs no network"
            if tag not in ("meta", "br", "path", "polyline", "circle"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            """Nothing opens."""

    checker = Checker()
    checker.feed(html)
    assert not opened and "<script" not in html
    assert html.count("<figure>") == 2 and html.count("<polyline") == 2
    assert 'aria-label="loss by step, from 0.025 to 1"' in html


def test_a_curve_does_not_double_back_where_a_run_was_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(tmp_path, monkeypatch)
    bundle = open_bundle(tmp_path)
    ledger = Ledger(bundle.ledger, "box", "here")
    for step in range(31, 36):
        about = {"window": "control", "run_id": "control-0badcafe", "attempt": 2}
        ledger.append("metric", step=step, values={"loss": 0.5}, **about)
    ledger.close()
    [line] = re.findall(r'<polyline [^>]*points="([^"]+)"', page(status.status(bundle)).split("<figure>")[1])
    across = [float(point.split(",")[0]) for point in line.split()]
    assert across == sorted(across) and len(across) == 35
