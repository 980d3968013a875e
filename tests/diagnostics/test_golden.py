"""What is printed, word for word: of every page's bad example, and of the specs in `specs/`. The source stands above its message.

`make golden` rewrites the texts; read the difference before committing it.
"""

import os
import re
from pathlib import Path

import pytest

from campc.checks.examples import complete
from campc.checks.explain import pages
from campc.codes import CODES
from campc.diagnostic import Diagnostic
from campc.render.text import Style, render_one

from .compiling import compile_text

HERE = Path(__file__).parent
SPECS = sorted((HERE / "specs").glob("*.campaign"))
OFFERS = """\
package three_days { gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD }
package seven_days { gpu = "RTX 4090"; memory = 24GB; duration = 7d; price = 110 USD }
"""
WRITE = os.environ.get("CAMPC_GOLDEN") == "write"


def compare(path: Path, source: str, shown: list[Diagnostic]) -> None:
    text = source.rstrip("\n") + "\n\n" + "\n".join(render_one(d, Style()) for d in shown)
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name}: `make golden` rewrites it"


@pytest.mark.parametrize("code", sorted(set(CODES) - {"C104"}))
def test_the_words_of_a_page(code: str) -> None:
    source = complete(pages()[code].bad)
    compiled = compile_text(source, name="bad.campaign", exists=lambda source, path: path != "not_there.py")
    compare(HERE / "golden" / f"{code}.txt", source, [d for d in compiled.diagnostics if d.code == code])


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_words_of_a_spec(path: Path) -> None:
    """The first line names the codes that a spec shows; it has no errors but these."""
    source = path.read_text(encoding="utf-8")
    codes = set(re.findall(r"C\d{3}", source.splitlines()[0]))
    compiled = compile_text(source, name=path.name, used={"catalogs/offers.campaign": OFFERS})
    assert {d.code for d in compiled.diagnostics if d.severity == "error"} <= codes
    assert codes <= {d.code for d in compiled.diagnostics}
    compare(path.with_suffix(".txt"), source, [d for d in compiled.diagnostics if d.code in codes])
