"""A plan as a calendar: windows, decision points, usable ends and the deadline (iCalendar, RFC 5545)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from campc import __version__
from campc.report import words
from campc.report.plan_view import PlanView, gpu_words
from campc.schedule.plan import Placement, Plan
from campc.values.instants import Instant


def plan_ics(plan: Plan) -> str:
    """The calendar, its times in UTC. A plan without dates has no events: it holds one task, the launch from which its times count."""
    view = PlanView(plan)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:-//campc//campc {__version__}//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
    ]
    lines.append(f"X-WR-CALNAME:{_text(words.spelled(plan.spec.campaign.name))}")
    if plan.start is None:
        lines += _launch(view)
    else:
        for placement in plan.placements.values():
            lines += _window(view, placement)
        for moment, name, summary, about in _moments(view):
            lines += _event(view, name, moment, None, summary, about)
    lines.append("END:VCALENDAR")
    return "".join(folded for line in lines for folded in _fold(line))


def _window(view: PlanView, placement: Placement) -> list[str]:
    window = placement.window
    start, end = view.plan.instant(placement.start), view.plan.instant(placement.end)
    assert start is not None and end is not None
    where = gpu_words(window, view.spec.package_of(view.spec.lot_of(window)))
    about = [f"{window.tier}, {words.spelled(window.kind or words.UNKNOWN)}, {words.span(placement.interval.length)}"]
    if window.run is not None:
        about.append(f"run {window.run}")
    about.append(f"basis: {window.basis}" if window.basis is not None else "its time is assumed")
    if placement.slack is not None:
        about.append(f"slack {words.span(placement.slack)}")
    return _event(
        view, f"window-{window.name}", start, end, f"{words.spelled(window.name)} ({where})", "; ".join(about), where
    )


def _moments(view: PlanView) -> Iterator[tuple[Instant, str, str, str]]:
    plan = view.plan
    for gate in view.spec.gates.values():
        placed = plan.placements.get(gate.after or "")
        moment = plan.instant(placed.end) if placed is not None else None
        if moment is not None:
            condition = f"Go on where {gate.when.text}" if gate.when is not None else ""
            about = f"{gate.question or ''} {condition}; otherwise {gate.otherwise}.".strip()
            yield moment, f"gate-{gate.name}", f"Decision point: {words.spelled(gate.name)}", about
    for account in view.accounts:
        moment = plan.instant(account.usable_end) if account.usable_end is not None else None
        if moment is not None:
            yield moment, f"end-{account.lot}", f"Usable end of {account.lot}", "The machine is taken."
    deadline = view.spec.campaign.deadline
    if deadline is not None:
        yield deadline, "deadline", "The answer is needed", view.spec.campaign.question or ""


def _event(
    view: PlanView, name: str, start: Instant, end: Instant | None, summary: str, about: str, where: str = ""
) -> list[str]:
    lines = ["BEGIN:VEVENT", f"UID:{_uid(view, name)}", f"DTSTAMP:{_utc(start)}", f"DTSTART:{_utc(start)}"]
    lines += [f"DTEND:{_utc(end)}"] if end is not None else []
    lines += [f"SUMMARY:{_text(summary)}", f"DESCRIPTION:{_text(about)}"]
    lines += [f"LOCATION:{_text(where)}"] if where else []
    return [*lines, "TRANSP:TRANSPARENT", "END:VEVENT"]


def _launch(view: PlanView) -> list[str]:
    about = f"The plan has no dates: its times count from the first launch. It takes {words.span(view.plan.end)}."
    summary = f"Launch {words.spelled(view.spec.campaign.name)}"
    stamp = "DTSTAMP:19700101T000000Z"
    return [
        "BEGIN:VTODO",
        f"UID:{_uid(view, 'launch')}",
        stamp,
        f"SUMMARY:{_text(summary)}",
        f"DESCRIPTION:{_text(about)}",
        "END:VTODO",
    ]


def _uid(view: PlanView, name: str) -> str:
    """The same event keeps its identifier when the plan is built again: a calendar moves it, instead of showing it twice."""
    digest = hashlib.sha256(f"{view.spec.campaign.name}/{name}".encode()).hexdigest()
    return f"{digest[:24]}@campc"


def _utc(instant: Instant) -> str:
    return instant.utc.strftime("%Y%m%dT%H%M%SZ")


def _text(text: str) -> str:
    plain = words.visible(text).replace(words.NBSP, " ").replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return plain.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")


def _fold(line: str) -> Iterator[str]:
    """A content line in pieces of at most 75 octets, none of which ends within a character."""
    rest, room = line, 75
    while len(rest.encode()) > room:
        cut = min(len(rest), room)
        while len(rest[:cut].encode()) > room:
            cut -= 1
        yield f"{rest[:cut]}\r\n"
        rest, room = f" {rest[cut:]}", 75
    yield f"{rest}\r\n"
