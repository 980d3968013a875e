"""`campc check` starts fast: nothing heavy is imported before it is needed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("jinja2", "weasyprint", "numpy", "rich", "pygls", "ortools", "torch", "http.client", "asyncio")
SLOW = ("attr", "lark", "argparse")
"""Not heavy, and each of them a good part of what a small check takes."""


def test_check_imports_nothing_heavy() -> None:
    program = (
        "import sys; from campc.cli import main\n"
        "try:\n    code = main(['check', 'specs/digits/digits.campaign'])\n"
        "except SystemExit as end:\n    code = end.code\n"
        f"print(sorted(set({HEAVY + SLOW!r}) & set(sys.modules)), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "compiler"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.strip().splitlines()[-1] == "[]"
