"""The plan as CSV, calendar and Markdown, each read by a library that others use, or as its standard says."""

from __future__ import annotations

import csv
import datetime as dt
import io

import pytest

from campc.report import closeout_markdown, plan_csv, plan_ics, plan_markdown
from campc.report.markdown import code, escaped
from tests.reports import closeouts, specs


def test_csv_has_a_line_a_window() -> None:
    plan = specs.plan_of(specs.SMALL)
    rows = list(csv.DictReader(io.StringIO(plan_csv(plan))))
    assert [row["window"] for row in rows] == list(plan.placements)
    control = next(row for row in rows if row["window"] == "control")
    assert (control["takes_low_s"], control["takes_likely_s"], control["takes_high_s"]) == ("28800", "36000", "50400")
    assert (control["start_s"], control["end_s"]) == ("21600", "57600")
    assert control["start"] == "2026-12-01T15:00:00+01:00"
    assert control["lot"] == "box"
    assert control["basis"] == "measured"
    assert plan_csv(plan).endswith("\r\n")


def test_csv_of_a_relative_plan_has_no_dates_and_no_formulas() -> None:
    (row,) = csv.DictReader(io.StringIO(plan_csv(specs.plan_of(specs.HOSTILE))))
    assert row["start"] == row["end"] == ""
    assert row["basis"] == "'=1+1 <b>"


@pytest.mark.parametrize("name", sorted(specs.EVERY))
def test_calendar_opens_in_a_calendar_library(name: str) -> None:
    icalendar = pytest.importorskip(
        "icalendar", reason="pip install icalendar: the library that reads the calendar back"
    )
    plan = specs.plan_of(specs.EVERY[name])
    text = plan_ics(plan)
    calendar = icalendar.Calendar.from_ical(text)
    assert calendar["VERSION"] == "2.0"
    events = list(calendar.walk("VEVENT"))
    if plan.start is None:
        assert not events
        (task,) = calendar.walk("VTODO")
        assert "counts from the first launch" in str(task["DESCRIPTION"]) or "count from the first launch" in str(
            task["DESCRIPTION"]
        )
        return
    first = next(iter(plan.placements.values()))
    assert events[0].decoded("DTSTART") == plan.start.after(first.start).utc
    assert events[0].decoded("DTEND") == plan.start.after(first.end).utc
    assert len({str(event["UID"]) for event in events}) == len(events) >= len(plan.placements)
    assert any(str(event["SUMMARY"]).startswith("Usable end of") for event in events)
    assert all(event.decoded("DTSTART").utcoffset() == dt.timedelta() for event in events)


@pytest.mark.parametrize("name", sorted(specs.EVERY))
def test_calendar_keeps_to_its_standard(name: str) -> None:
    text = plan_ics(specs.plan_of(specs.EVERY[name]))
    assert text.startswith("BEGIN:VCALENDAR\r\n")
    assert text.endswith("END:VCALENDAR\r\n")
    lines = text.encode().split(b"\r\n")[:-1]
    assert all(len(line) <= 75 and b"\n" not in line for line in lines)
    unfolded = text.replace("\r\n ", "")
    assert unfolded.count("BEGIN:VEVENT") == unfolded.count("END:VEVENT")
    assert plan_ics(specs.plan_of(specs.EVERY[name])) == text


def test_calendar_keeps_an_event_when_the_plan_moves() -> None:
    moved = specs.SMALL.replace("2026-12-01 09:00", "2026-12-02 09:00")
    before, after = (
        [line for line in plan_ics(specs.plan_of(text)).splitlines() if line.startswith("UID:")]
        for text in (specs.SMALL, moved)
    )
    assert before == after


def test_markdown_is_short_and_says_the_verdict() -> None:
    text = plan_markdown(specs.plan_of(specs.SMALL)).replace("\u00a0", " ")
    assert text.startswith("# Does rank 16 beat rank 8?\n")
    assert "**Fits.** 28 of 72 h, 44 h free. **Commits 47.14 USD**" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.count(" | ") for row in rows if row.startswith("| **`")}) <= 2
    assert len(plan_markdown(specs.plan_of(specs.long(300)))) < 40_000


def test_markdown_of_a_closeout() -> None:
    text = closeout_markdown(closeouts.nothing_accepted())
    assert text.startswith("# Keep rank 8.\n")
    assert "**Cost per result: undefined.**" in text


def test_markdown_leaves_hostile_words_alone() -> None:
    text = plan_markdown(specs.plan_of(specs.HOSTILE))
    assert "<script>" not in text
    assert "\\`ticks\\`" in text
    assert "pipes" in text.splitlines()[0]
    assert "\\|" in text.splitlines()[0]
    assert escaped("a\n# b") == "a \\# b"
    assert code("a`b") == "`` a`b ``"
