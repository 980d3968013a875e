"""``python -m campc``."""

from campc.cli import run

run()
