"""Rules on money: a lot billed by time, its budget, the alert, a stop that only the supervisor can see."""

from __future__ import annotations

import json
import signal
from decimal import Decimal
from pathlib import Path
from typing import Any

from campc_harness.conditions import Money
from campc_harness.plan import Lot, Package
from campc_harness.spend import rented
from tests.harness.bundles import Bundle, campaign, executes, run, window

BY_TIME = {
    "name": "spot",
    "gpu": "RTX 4090",
    "gpus": 1,
    "nodes": 1,
    "price": None,
    "rate": {"money": {"amount": "3600.0", "currency": "USD"}, "per_s": 3600, "increment_s": 1, "minimum_s": None},
    "duration_s": None,
}
SPEND = {"text": "spend >= 3 USD", "expr": [">=", ["builtin", "spend"], ["money", "3.00", "USD"]]}


def billed(**sections: Any) -> dict[str, Any]:
    """A slow run on a lot that costs a dollar a second."""
    slow = run("control", params={"step_s": 0.05}, steps=10_000)
    home = window("home", "retrieve", last=True, takes=1, command="sleep 3")
    return campaign(
        runs=[slow],
        windows=[executes("control", "train", slow, takes=2), home],
        lot={"package": BY_TIME, "price": None, "usable_end_s": None},
        **sections,
    )


def spent(bundle: Bundle) -> Decimal:
    """What the launcher last saw to be spent."""
    return Decimal(json.loads((bundle.root / "state/box/live.json").read_text())["facts"]["spend"]["amount"])


def test_a_stop_on_what_is_spent(tmp_path: Path) -> None:
    rule = {
        "name": "too_dear",
        "when": SPEND,
        "from_steps": None,
        "from_s": None,
        "for_count": 1,
        "for_s": None,
        "runs": [],
        "because": "x",
    }
    bundle = Bundle(tmp_path, billed(stops=[rule]))
    bundle.foreground(check=76)
    [stop] = bundle.records("stop")
    assert stop["stop"] == "too_dear" and stop["value"].startswith("spend = ") and stop["value"].endswith(" USD")
    assert bundle.records("checkpoint")[-1]["step"] == stop["step"], "it was asked to save before it left"
    assert bundle.states() == {"control": "finished", "home": "finished"}


def test_a_budget_ends_a_lot_that_is_billed_by_time(tmp_path: Path) -> None:
    budget = {"limit": {"amount": "12.00", "currency": "USD"}, "alert": {"amount": "2.00", "currency": "USD"}}
    bundle = Bundle(tmp_path, billed(budget=budget), CAMPC_MARGIN_S="0.5")
    bundle.foreground(check=77)
    assert bundle.records("deadline")
    [alert] = bundle.records("watch")
    assert alert["name"] == "budget" and alert["text"].endswith("the alert is set at 2.00")
    assert bundle.states()["home"] == "finished"


def test_a_watch_warns_once_while_it_holds(tmp_path: Path) -> None:
    rule = {
        "name": "dear",
        "when": SPEND,
        "from_steps": None,
        "from_s": None,
        "for_count": 1,
        "for_s": None,
        "runs": [],
        "because": None,
    }
    bundle = Bundle(tmp_path, billed(watches=[rule]))
    launch = bundle.start()
    bundle.until(lambda: bundle.records("watch"))
    before = spent(bundle)
    bundle.until(lambda: spent(bundle) > before + 4)  # it has looked again, twice
    launch.send_signal(signal.SIGTERM)
    assert launch.wait(60) == 75
    assert [record["name"] for record in bundle.records("watch")] == ["dear"]


def test_rent_by_time_is_rounded_up_to_the_increment_and_the_minimum() -> None:
    rate = {"money": {"amount": "2.49", "currency": "USD"}, "per_s": 3600, "increment_s": 60, "minimum_s": 600}
    lot = Lot("box", Package("p", "g", rate=rate))
    assert rented(lot, 1) == Money(Decimal("2.49") / 3600 * 600, "USD")
    assert rented(lot, 3601) == Money(Decimal("2.49") / 3600 * 3660, "USD")
