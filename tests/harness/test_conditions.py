"""Conditions: three values, NaN, money, seeds."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campc_harness.conditions import Facts, Money, better, describe, evaluate, lower_is_better, needs_supervisor


def holds(expr: list[Any], **facts: Any) -> bool | None:
    return evaluate({"text": "", "expr": expr}, Facts(**facts))


LOSS: list[Any] = ["metric", "loss"]
NOT_FINITE: list[Any] = ["not", ["finite", LOSS]]


@pytest.mark.parametrize(
    ("loss", "answer"), [(0.3, False), (math.nan, True), (math.inf, True), (-math.inf, True), (None, None)]
)
def test_not_finite(loss: float | None, answer: bool | None) -> None:
    assert holds(NOT_FINITE, metrics={"loss": loss}) is answer


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_nan_compares_false_with_everything(operator: str) -> None:
    assert holds([operator, LOSS, ["number", 1]], metrics={"loss": math.nan}) is False
    assert holds([operator, ["number", 1], LOSS], metrics={"loss": math.nan}) is False


def test_missing() -> None:
    assert holds(["missing", LOSS]) is True
    assert holds(["missing", LOSS], metrics={"loss": math.nan}) is False
    assert holds(["<", LOSS, ["number", 1]]) is None
    assert holds(["not", ["<", LOSS, ["number", 1]]]) is None


@given(st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))
def test_kleene(left: bool | None, right: bool | None) -> None:
    def leaf(value: bool | None) -> list[Any]:
        return ["<", LOSS, ["number", 1]] if value is None else ["bool", value]

    order = {False: 0, None: 1, True: 2}
    assert order[holds(["and", leaf(left), leaf(right)])] == min(order[left], order[right])
    assert order[holds(["or", leaf(left), leaf(right)])] == max(order[left], order[right])


def test_a_run_with_seeds_counts_as_its_mean() -> None:
    gain: list[Any] = [">=", ["-", ["metric", "acc", "wide"], ["metric", "acc", "control"]], ["number", 0.25]]
    runs = {"wide": {"acc": [0.5, 1.0]}, "control": {"acc": [0.5]}}
    assert holds(gain, runs=runs) is True
    assert holds(gain, runs={**runs, "wide": {"acc": [0.5, None]}}) is None
    assert holds(gain, runs={"wide": runs["wide"]}) is None


def test_functions_over_seeds() -> None:
    runs = {"wide": {"acc": [1.0, 2.0, 3.0]}}
    for name, value in [("mean", 2.0), ("min", 1.0), ("max", 3.0), ("std", 1.0)]:
        assert holds(["==", [name, ["metric", "acc", "wide"]], ["number", value]], runs=runs) is True
    assert holds(["<", ["std", ["metric", "acc", "one"]], ["number", 9]], runs={"one": {"acc": [1.0]}}) is False


def test_money_is_exact_and_keeps_currencies_apart() -> None:
    spend = {"spend": Money(Decimal("47.14"), "USD")}
    assert holds([">=", ["builtin", "spend"], ["money", "47.14", "USD"]], builtins=spend) is True
    assert holds([">", ["builtin", "spend"], ["money", "1.00", "EUR"]], builtins=spend) is None
    half: list[Any] = ["*", ["number", 0.5], ["money", "94.28", "USD"]]
    assert holds(["==", ["builtin", "spend"], half], builtins=spend) is True
    assert holds([">", ["builtin", "spend"], ["number", 4]], builtins=spend) is None


def test_division_by_zero_is_unknown() -> None:
    assert holds([">", ["/", LOSS, ["number", 0]], ["number", 1]], metrics={"loss": 1.0}) is None


def test_who_evaluates() -> None:
    assert needs_supervisor({"expr": ["and", NOT_FINITE, [">", ["builtin", "spend"], ["money", "1", "USD"]]]})
    assert not needs_supervisor({"expr": NOT_FINITE})
    assert not needs_supervisor({"expr": [">", ["builtin", "checkpoint_age"], ["number", 3600]]})


def test_describe_names_the_values() -> None:
    expr: list[Any] = ["or", NOT_FINITE, [">", ["builtin", "step"], ["number", 9]]]
    assert describe({"expr": expr}, Facts(metrics={"loss": math.nan})) == "loss = nan, step = missing"
    assert describe({"expr": ["<", ["metric", "acc", "wide"], ["best", "acc"]]}, Facts()) == (
        "wide.acc = missing, best.acc = missing"
    )


def test_best() -> None:
    assert lower_is_better("eval.val_loss") and lower_is_better("Perplexity") and not lower_is_better("accuracy")
    assert better("loss", 0.2, 0.3) and not better("acc", 0.2, 0.3) and better("acc", 0.2, None)
    assert not better("acc", math.nan, 0.3) and better("acc", 0.1, math.nan)


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown operator 'xor'"):
        holds(["xor", ["bool", True], ["bool", True]])
    with pytest.raises(ValueError, match="must be a list"):
        evaluate({"expr": "loss"}, Facts())
