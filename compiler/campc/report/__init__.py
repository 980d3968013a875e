"""The documents: views of a plan or a closeout as HTML, PDF, CSV, iCalendar and Markdown.

Nothing heavy is imported before a document is made.
"""

from __future__ import annotations

from campc.report.pdf import PdfUnavailable, pdf
from campc.report.plan_page import plan_document, plan_page

__all__ = ["PdfUnavailable", "pdf", "plan_document", "plan_page"]
