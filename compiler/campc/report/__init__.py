"""The documents: views of a plan or a closeout as HTML, PDF, CSV, iCalendar and Markdown.

Nothing heavy is imported before a document is made.
"""

from __future__ import annotations

from campc.report.agenda import plan_ics
from campc.report.close_page import closeout_document, closeout_page
from campc.report.markdown import closeout_markdown, plan_markdown
from campc.report.pdf import PdfUnavailable, pdf
from campc.report.plan_page import plan_document, plan_page
from campc.report.sheet import plan_csv

__all__ = [
    "PdfUnavailable",
    "closeout_document",
    "closeout_markdown",
    "closeout_page",
    "pdf",
    "plan_csv",
    "plan_document",
    "plan_ics",
    "plan_markdown",
    "plan_page",
]
