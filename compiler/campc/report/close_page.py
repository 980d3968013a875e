"""The closeout document: its first half page, seven sections and appendix."""

from __future__ import annotations

from campc.closeout.model import Closeout
from campc.report import words
from campc.report.blocks import Document
from campc.report.close_cover import cover
from campc.report.close_records import appendix, custody, lessons
from campc.report.close_results import curves, deliverables
from campc.report.close_timeline import attempts, lots, timeline
from campc.report.close_view import CloseView
from campc.report.page import Paper, render


def closeout_page(closeout: Closeout, *, paper: Paper = "a4") -> str:
    """The closeout as one self-contained HTML page."""
    return render(closeout_document(closeout), "closeout.html.j2", paper)


def closeout_document(closeout: Closeout) -> Document:
    """The closeout as sections of finished text."""
    view = CloseView(closeout)
    name = words.spelled(closeout.campaign)
    return Document(
        title=f"{name}: campaign closeout",
        running_head=f"Closeout of {name}",
        description=words.sentence(closeout.verdict),
        stamp=f"Plan {closeout.plan_hash[:12]}",
        cover=cover(view),
        sections=(
            deliverables(view),
            timeline(view),
            attempts(view),
            lots(view),
            curves(view),
            custody(view),
            lessons(view),
            appendix(view),
        ),
    )
