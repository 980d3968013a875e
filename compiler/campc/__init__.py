"""campc compiles a campaign of GPU work into a checked plan.

For notebooks and other tools there are three functions: ``load``, ``check`` and ``build``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from pathlib import Path

    from campc.diagnostic import Diagnostic
    from campc.schedule.plan import Plan

__version__ = "0.1.0"
__all__ = ["SpecError", "__version__", "build", "check", "load"]


class SpecError(ValueError):
    """A spec has errors. ``diagnostics`` holds them, and the message is what ``campc check`` prints."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        from campc.render.text import render_text

        super().__init__("\n" + render_text(diagnostics, 1))
        self.diagnostics = diagnostics


def load(path: str | os.PathLike[str], *, faulty: bool = False) -> Plan:
    """The plan of a spec: its schedule, accounts and costs, in exact seconds and amounts.

    Raises:
        SpecError: the file can't be read or has errors. With ``faulty`` a plan is returned in spite of errors, with what could be resolved of it.
    """
    from pathlib import Path

    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(Path(path))
    if not isinstance(compiled, Compiled):
        raise SpecError(compiled)
    if compiled.errors and not faulty:
        raise SpecError(compiled.errors)
    return compiled.plan


def check(path: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
    """All faults of a spec, errors and warnings, in the order of their places; none where it is sound. Never raises for what a file holds."""
    from pathlib import Path

    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(Path(path))
    return compiled.diagnostics if isinstance(compiled, Compiled) else compiled


def build(path: str | os.PathLike[str], out: str | os.PathLike[str], *, pdf: bool = True) -> Path:
    """Write the bundle of a spec into a folder, which is returned.

    Raises:
        SpecError: the spec has errors, or names files that aren't there; nothing is written.
        campc.emit.bundle.BundleError: the folder can't be written, or holds something else.
        campc.report.PdfUnavailable: the PDF was asked for and Pango isn't there; nothing is written.
    """
    from pathlib import Path

    from campc.bundling import make_bundle
    from campc.emit.bundle import write_bundle
    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(Path(path))
    if not isinstance(compiled, Compiled):
        raise SpecError(compiled)
    bundle = make_bundle(compiled, pdf=pdf)
    if bundle.faults:
        raise SpecError(bundle.faults)
    if bundle.no_pdf is not None:
        raise bundle.no_pdf
    write_bundle(bundle.files, Path(out))
    return Path(out)
