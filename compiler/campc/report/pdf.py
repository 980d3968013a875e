"""A document's HTML as PDF: tagged, archival, the same bytes for the same input."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from campc.resources import resource

if TYPE_CHECKING:
    from weasyprint.document import DocumentMetadata

PANGO = "apt-get install -y libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


class PdfUnavailable(RuntimeError):
    """WeasyPrint or the Pango library that it sets text with is not installed; the message says the line that mends it."""


def pdf(html: str, *, attachments: Mapping[str, bytes] | None = None) -> bytes:
    """The document as PDF/A-3a that is tagged for PDF/UA-1, with bookmarks, title, language and embedded fonts.

    ``attachments`` are files that travel in it, by name. Its date is ``SOURCE_DATE_EPOCH`` where that is set, else it has none.

    Raises:
        PdfUnavailable: Pango or WeasyPrint is not there.
    """
    weasyprint = _weasyprint()
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = dt.datetime.fromtimestamp(int(epoch) if epoch.isdigit() else 0, dt.UTC)
    files = [
        weasyprint.Attachment(string=content, name=name, created=moment, modified=moment, relationship="Source")
        for name, content in sorted((attachments or {}).items())
    ]
    identity = hashlib.sha256(html.encode())
    for name, content in sorted((attachments or {}).items()):
        identity.update(name.encode() + b"\0" + content)
    only_data = weasyprint.URLFetcher(allowed_protocols=("data",))  # Documents are self-contained.
    paged = weasyprint.CSS(string=(resource("templates") / "paged.css").read_text(encoding="utf-8"))
    document = weasyprint.HTML(string=html, url_fetcher=only_data).render(stylesheets=[paged])
    if epoch.isdigit():
        document.metadata.created = document.metadata.modified = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    _declare_accessible(document.metadata)
    options = {"pdf_variant": "pdf/a-3a", "pdf_tags": True, "pdf_identifier": identity.digest()[:16]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint leaves its colour profile open.
        written: bytes = document.write_pdf(attachments=files, finisher=_complete, **options)
    return written


def _complete(document: Any, file: Any) -> None:
    """What PDF/UA and PDF/A ask for and WeasyPrint leaves out: which way a table's heads point, what links lead to, each attachment listed once."""
    import pydyf

    parts = [part for part in file.objects if isinstance(part, dict)]
    for part in parts:
        if part.get("S") == "/TH":
            group = _parent(file, _parent(file, part))
            part["A"]["Scope"] = "/Column" if group.get("S") == "/THead" else "/Row"
        elif part.get("Subtype") == "/Link":
            part["Contents"] = pydyf.String(
                "The same as a table"
            )  # The only link that is printed: a chart's to its table.
    if "AF" in file.catalog:
        file.catalog["AF"][:] = dict.fromkeys(file.catalog["AF"])


def _parent(file: Any, part: Any) -> Any:
    """The structure element that holds another one."""
    return file.objects[int(part["P"].split()[0])]


def _weasyprint() -> Any:
    try:
        import weasyprint
    except ImportError as error:
        raise PdfUnavailable("WeasyPrint is not installed: pip install weasyprint") from error
    except OSError as error:
        raise PdfUnavailable(
            f"The PDF needs the library Pango, which is not on this machine. On Debian or Ubuntu: {PANGO}"
        ) from error
    return weasyprint


def _declare_accessible(metadata: DocumentMetadata) -> None:
    """Say in the metadata that the file keeps PDF/UA-1 as well: WeasyPrint writes one standard's mark only."""
    plain = metadata.generate_rdf_metadata

    def with_accessibility(*args: Any) -> bytes:
        marks = (
            '<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" rdf:about="" pdfuaid:part="1"/>'
        )
        described: bytes = plain(*args)
        return described.replace(b"</rdf:RDF>", f"{marks}{_SCHEMA}</rdf:RDF>".encode())

    metadata.generate_rdf_metadata = with_accessibility


# PDF/A wants every property that isn't its own to be described in the file.
_SCHEMA = (
    '<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:about="" '
    'xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" '
    'xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">'
    '<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">'
    "<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>"
    "<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>"
    "<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>"
    '<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">'
    "<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>"
    "<pdfaProperty:category>internal</pdfaProperty:category>"
    "<pdfaProperty:description>Part of ISO 14289 that the file keeps</pdfaProperty:description>"
    "</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>"
)
