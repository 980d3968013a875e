"""The checks: a visible list of rules over a plan."""

from __future__ import annotations

from campc.checks.registry import Page, Rule, parse_page, rule
from campc.checks.run import ALL_RULES, check_plan

__all__ = ["ALL_RULES", "Page", "Rule", "check_plan", "parse_page", "rule"]
