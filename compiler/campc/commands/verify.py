"""``campc verify``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from campc.closeout import Refused
from campc.closeout.summary import printable
from campc.closeout.verify import Verified, verify
from campc.values.quantities import format_size

INTACT, CHANGED, COULD_NOT_RUN = 0, 1, 2
MOST_SHOWN = 20


def command(options: Namespace) -> int:
    """Verify a package again: 0 as it was packed, 1 not, 2 it could not be read."""
    try:
        found = verify(options.package)
    except Refused as refused:
        sys.stderr.write(f"campc: {printable(str(refused))}\n")
        return COULD_NOT_RUN
    other = options.digest is not None and options.digest.lower() not in (found.digest, found.archive)
    if options.json:
        sys.stdout.write(
            json.dumps({**found.to_json(), "digest_matches": None if options.digest is None else not other}, indent=2)
            + "\n"
        )
    else:
        _print(found, options.digest if other else None)
    return CHANGED if other or not found.intact else INTACT


def _print(found: Verified, expected: str | None) -> None:
    count = f"{found.files:,} file{'' if found.files == 1 else 's'}, {format_size(found.size)}"
    state = "as it was packed" if found.intact else "not as it was packed"
    lines = [f"{found.package}: {state}; {count}"]
    lines += [f"  {fault}" for fault in found.faults[:MOST_SHOWN]]
    if len(found.faults) > MOST_SHOWN:
        lines.append(f"  … and {len(found.faults) - MOST_SHOWN:,} more")
    if found.unlisted:
        more = f" and {len(found.unlisted) - 5:,} more" if len(found.unlisted) > 5 else ""
        lines.append(f"  not in the manifest: {', '.join(found.unlisted[:5])}{more}")
    lines.append(f"plan     {found.plan_hash or 'unknown'}")
    lines.append(f"manifest {found.digest}")
    if found.archive:
        lines.append(f"archive  {found.archive}")
    if expected:
        lines.append(f"neither is the expected digest {expected}: this is another package, or it was packed again")
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
