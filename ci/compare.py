"""Holds each campaign's plan against that of another commit of the same repository, and writes what differs as Markdown.

usage: compare.py --base COMMIT --output FILE [--max-increase 10USD] [PATH ...]

Runs with the Python that has campc, from inside the repository; what isn't committed counts as it stands in the working tree.
Exit status: 0 whether plans differ or not; 2 the commit can't be read; 3 a plan costs more than `--max-increase` more.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

COSTS_MORE = 3
LETTERS_AT_MOST = 60_000
"""GitHub takes 65,536 as a comment."""
_CAMPAIGN = re.compile(r"^\s*campaign\s", re.MULTILINE)


def git(*words: str, at: Path | None = None) -> str:
    """What git prints; a name means only itself, whatever pattern it looks like.

    Raises:
        subprocess.CalledProcessError: git refused; what it says is in ``stderr``.
    """
    environment = {**os.environ, "GIT_LITERAL_PATHSPECS": "1"}
    return subprocess.run(
        ("git", *words), cwd=at, env=environment, check=True, text=True, capture_output=True, encoding="utf-8"
    ).stdout


def specs(folder: Path, paths: Sequence[str]) -> list[str]:
    """The campaigns below these paths that git knows of, relative to ``folder``; a catalog has no plan."""
    there = [path for path in paths if (folder / path).exists()]
    if not there:
        return []
    named = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *there, at=folder).split("\0")
    found = []
    for name in dict.fromkeys(name for name in named if name.endswith(".campaign")):
        path = folder / name
        if path.is_file() and _CAMPAIGN.search(path.read_text(encoding="utf-8", errors="replace")):
            found.append(name)
    return sorted(found)


def compare(base: Path, commit: str, paths: Sequence[str], most: str | None) -> tuple[list[str], bool]:
    """One piece of Markdown for each plan that differs, and whether one costs too much more."""
    here = Path.cwd()
    old, new = (specs(folder, paths) for folder in (base, here))
    pieces, exceeded = [], False
    for name in sorted({*old, *new}):
        if name not in new:
            pieces.append(f"### Gone: {_code(name)}\n")
            continue
        if name not in old:
            pieces.append(f"### New: {_code(name)}\n\n`campc plan` prints its schedule and its costs.\n")
            continue
        command = [sys.executable, "-m", "campc", "diff", "--format", "markdown"]
        command += ["--label", f"{name} at {commit[:7]}", "--label", name]
        command += ["--max-increase", most] if most else []
        done = subprocess.run(
            [*command, "--", str(base / name), str(here / name)], text=True, capture_output=True, encoding="utf-8"
        )
        sys.stderr.write(done.stderr)
        exceeded |= done.returncode == COSTS_MORE
        if done.stdout and done.returncode:
            pieces.append(done.stdout)
        elif done.returncode:
            pieces.append(f"### {_code(name)}\n\nThe plans can't be compared: `campc check` says why.\n")
    return pieces, exceeded


def joined(pieces: Sequence[str]) -> str:
    """The pieces as one text, as many as a comment takes; the rest is counted."""
    taken: list[str] = []
    for piece in pieces:
        if sum(map(len, taken)) + len(piece) > LETTERS_AT_MOST:
            taken.append(f"… and {len(pieces) - len(taken)} plans more: `campc diff` prints each.\n")
            break
        taken.append(piece)
    return "\n".join(taken)


def _code(name: str) -> str:
    flat = "".join(letter if letter.isprintable() and letter != "`" else "?" for letter in name)
    return f"`{flat}`"


def main() -> int:
    """Compare, write the file, and give the exit status."""
    parser = argparse.ArgumentParser(description="what changes in the plans, from another commit to the working tree")
    parser.add_argument("--base", required=True, metavar="COMMIT")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE")
    parser.add_argument("--max-increase", metavar="MONEY")
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH")
    options = parser.parse_args()
    commit: str = options.base
    try:
        if not re.fullmatch("[0-9a-f]{40,64}", commit):
            commit = git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}").strip()
        try:
            git("cat-file", "-e", f"{commit}^{{commit}}")
        except subprocess.CalledProcessError:
            # A shallow checkout has the tip alone.
            git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit)
        inside = git("rev-parse", "--show-prefix").strip()
        with tempfile.TemporaryDirectory(prefix="campc-base-") as folder:
            base = Path(folder, "base")
            git("worktree", "add", "--quiet", "--detach", str(base), commit)
            try:
                pieces, exceeded = compare(base / inside, commit, options.paths, options.max_increase)
            finally:
                git("worktree", "remove", "--force", str(base))
    except subprocess.CalledProcessError as refused:
        sys.stderr.write(f"compare: {options.base} can't be read: {refused.stderr.strip()}\n")
        return 2
    options.output.write_text(joined(pieces), encoding="utf-8")
    sys.stdout.write(
        f"{len(pieces) or 'no'} plan{'' if len(pieces) == 1 else 's'} differ{'s' if len(pieces) == 1 else ''} from {commit[:7]}\n"
    )
    return COSTS_MORE if exceeded else 0


if __name__ == "__main__":
    raise SystemExit(main())
