"""``campc explain``."""

from __future__ import annotations

import sys
from argparse import Namespace

from campc.checks.explain import code_named, explain_code, overview

OK, COULD_NOT_RUN = 0, 2


def explain(options: Namespace) -> int:
    """Print the pages of some codes, or the list of all."""
    if not options.codes:
        sys.stdout.write(overview())
        return OK
    infos = [(text, code_named(text)) for text in options.codes]
    unknown = [text for text, info in infos if info is None]
    if unknown:
        sys.stderr.write(f"campc: there is no code {', '.join(unknown)}; `campc explain` lists them\n")
        return COULD_NOT_RUN
    sys.stdout.write("\n".join(explain_code(info) for _, info in infos if info is not None))
    return OK
