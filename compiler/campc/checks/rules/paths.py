"""C604, C607, C608: paths that leave, that are deleted, or that aren't there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice

from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.schema.node import Node
from campc.schema.spec import Spec

_Kept = tuple[str, str, Node, str]
"""What is kept: in words, its path, the block and the attribute that say so."""

_MOST_HITS = 50
_MOST_PAIRS = 2_000_000
"""How many pairs of a cleanup's glob and a kept path are looked at: far more than anybody writes."""

_MOST_SIGNS = 200
"""How much of a part of a path is compared where both are globs."""

_TEMPORARY = re.compile(r"(/private)?/(var/)?tmp(/|$)|.*\$\{?(TMP|TEMP|TMPDIR)\b|.*%(TMP|TEMP)%", re.IGNORECASE)


def unsafe(path: str) -> str | None:
    """Why a path can't stand in a bundle, in words; None where it can."""
    if _TEMPORARY.match(path):
        return "is in a temporary folder"
    if path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:[\\/]", path):
        return "is absolute"
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path):
        return "is a URL"
    if ".." in re.split(r"[\\/]", path):
        return "climbs out of its folder"
    return None


def _paths(spec: Spec) -> Iterator[tuple[Node, str, tuple[str, ...], str]]:
    """What C604 looks at: block, attribute, its paths, and what they are relative to."""
    yield spec.campaign, "files", spec.campaign.files, "the spec"
    for deliverable in spec.deliverables.values():
        if deliverable.path is not None:
            yield deliverable, "path", (deliverable.path,), "the run's outputs"
    for cleanup in spec.cleanups:
        yield cleanup, "paths", cleanup.paths, "the run's work and outputs folders"


@rule("C604")
def unsafe_path(plan: Plan) -> Iterator[Diagnostic]:
    """A path is absolute, climbs out of its folder, or is in a temporary one.

    Such a path holds on one machine, on one day. What is delivered, cleaned up or put into the bundle is named relative to where it belongs.

    Bad:
        deliverable weights { of = control; path = "/tmp/model.pt"; accept = bytes > 0 }

    Good:
        deliverable weights { of = control; path = "model.pt"; accept = bytes > 0 }
    """
    for node, word, paths, base in _paths(plan.spec):
        wrong = [(path, why) for path in paths if (why := unsafe(path)) is not None]
        if wrong:
            last = re.split(r"[\\/]", wrong[0][0].rstrip("/\\"))[-1]
            name = last if last and not re.search(r"[~$%:]|^\.\.?$", last) else "NAME"
            yield Diagnostic(
                "C604",
                head(node.place(word)),
                listed([f'"{path}" {why}' for path, why in wrong]),
                help=f'write a path relative to {base}, such as "{name}"'
                + (", and put the file there" if word == "files" else ""),
            )


def _parts(glob: str) -> tuple[str, ...]:
    plain = re.sub(r"\[[^\]/]*\]", "?", glob.replace("\\", "/"))
    return tuple(part for part in plain.split("/") if part not in ("", "."))


@cache
def _parts_meet(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether some path matches both globs: ``*`` and ``?`` stay within a part of the path, ``**`` spans parts, and a class counts as any sign."""
    if not first or not second:
        return all(part == "**" for part in (*first, *second))
    if first[0] == "**":
        return _parts_meet(first[1:], second) or _parts_meet(first, second[1:])
    if second[0] == "**":
        return _parts_meet(first, second[1:]) or _parts_meet(first[1:], second)
    return _signs_meet(first[0][:_MOST_SIGNS], second[0][:_MOST_SIGNS]) and _parts_meet(first[1:], second[1:])


def _signs_meet(first: str, second: str) -> bool:
    """Whether some name matches both; dynamic programming over the suffixes of both."""
    below = [all(c == "*" for c in second[j:]) for j in range(len(second) + 1)]
    for i in range(len(first) - 1, -1, -1):
        row = [False] * (len(second) + 1)
        row[-1] = below[-1] and first[i] == "*"
        for j in range(len(second) - 1, -1, -1):
            a, b = first[i], second[j]
            if "*" in (a, b):
                row[j] = below[j] or row[j + 1]
            else:
                row[j] = below[j + 1] and (a == b or "?" in (a, b))
        below = row
    return below[0]


def deletes(cleanup: str, kept: str) -> bool:
    """Whether a glob of a cleanup takes a kept file or folder, or a folder that it is in; or names that folder and takes something in it."""
    globs, parts = _parts(_below_a_run(cleanup)), _parts(kept)
    if _is_glob(kept):
        return any(_parts_meet(globs, parts[:count]) for count in range(1, len(parts) + 1))
    return _matcher((cleanup,)).match(_slashed(kept)) is not None or _inside(cleanup, kept)


def _below_a_run(cleanup: str) -> str:
    return re.sub(r"^(\./)?(outputs|work)/", "", cleanup)


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _slashed(path: str) -> str:
    return "".join(f"{part}/" for part in _parts(path))


def _inside(cleanup: str, kept: str) -> bool:
    """Whether a glob begins with all of a kept folder's name."""
    globs, parts = _parts(_below_a_run(cleanup)), _parts(kept)
    return len(globs) > len(parts) and globs[: len(parts)] == parts


@cache
def _matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for several globs, to be matched at the start of a path whose every part ends with a slash: it then finds the path or a folder above
    it. What follows a star is taken at its first place and for good (an atomic group), so that no path takes long."""
    alternatives = []
    for glob in globs:
        pattern = ""
        spans = False
        for part in _parts(_below_a_run(glob)):
            if part == "**":
                spans = True
                continue
            first, *rest = (re.escape(piece).replace(r"\?", "[^/]") for piece in part.split("*"))
            middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1])
            last = f"[^/]*{rest[-1]}/" if rest else "/"
            pattern += f"(?>(?:[^/]*/)*?{first}{middle}{last})" if spans else f"{first}{middle}{last}"
            spans = False
        alternatives.append(pattern)
    return re.compile("|".join(alternatives))


@rule("C607")
def cleanup_deletes_results(plan: Plan) -> Iterator[Diagnostic]:
    """A cleanup would delete a deliverable or a checkpoint.

    Intermediate files are deleted on a schedule; what is delivered, and what a run resumes from, never.

    Bad:
        deliverable weights { of = control; path = "model.pt"; accept = bytes > 0 }
        cleanup { paths = ["*.pt"]; after = 0s }

    Good:
        deliverable weights { of = control; path = "model.pt"; accept = bytes > 0 }
        cleanup { paths = ["cache/*.pt"]; after = 0s }
    """
    spec = plan.spec
    kept: list[_Kept] = [
        (f"deliverable {d.name}", d.path, d, "path") for d in spec.deliverables.values() if d.path is not None
    ]
    policies = [spec.checkpoint, *(run.checkpoint for run in spec.own_runs.values())]
    kept += [
        ("the checkpoints", p.to, p, "to")
        for p in policies
        if p is not None and p.to is not None and unsafe(p.to) is None
    ]
    paths = _KeptPaths(kept if spec.cleanups else [])
    for cleanup in spec.cleanups:
        globs = tuple(glob for glob in cleanup.paths if unsafe(glob) is None)
        hits = list(islice(_hits(globs, paths), _MOST_HITS))
        if hits:
            said = [f'"{glob}" would delete {what}, "{path}"' for glob, what, path, _, _ in hits]
            shown = [*said[:3], f"{len(said) - 3} more"] if len(said) > 3 else said
            yield Diagnostic(
                "C607",
                head(cleanup.place("paths")),
                listed(shown),
                tuple(Note(head(node.place(word)), "this is kept") for _, _, _, node, word in hits[:3]),
                help='name only intermediate files, such as "cache/*"',
            )


def _hits(globs: tuple[str, ...], kept: _KeptPaths) -> Iterator[tuple[str, str, str, Node, str]]:
    """The globs that delete something kept, with it."""
    if not globs:
        return
    any_of_them = _matcher(globs)
    firsts = [_first(_parts(_below_a_run(glob))) for glob in globs]
    beginnings = {first for first in firsts if first is not None}
    for at in kept.under(firsts):
        if at >= max(1, _MOST_PAIRS // len(globs)):
            return
        what, path, node, word = kept.all[at]
        first = kept.firsts[at]
        if kept.is_glob[at] or any_of_them.match(kept.slashed[at]) or first in beginnings:
            yield from ((glob, what, path, node, word) for glob in globs if deletes(glob, path))


def _first(parts: tuple[str, ...]) -> str | None:
    return parts[0] if parts else None


class _KeptPaths:
    """What is kept, taken apart once, and found by the first part of its path."""

    def __init__(self, kept: list[_Kept]) -> None:
        self.all = kept
        self.slashed = [_slashed(path) for _, path, _, _ in kept]
        self.firsts = [_first(_parts(path)) for _, path, _, _ in kept]
        self.is_glob = [_is_glob(path) for _, path, _, _ in kept]
        self._under: dict[str, list[int]] = {}
        self._anywhere: list[int] = []
        """Globs whose first part may be any of several."""
        for at, first in enumerate(self.firsts):
            if first is None or _is_several(first):
                self._anywhere.append(at)
            else:
                self._under.setdefault(first[:_MOST_SIGNS], []).append(at)

    def under(self, firsts: Iterable[str | None]) -> Iterable[int]:
        """The places in ``all``, in order, of what globs that begin so may delete: all of them, where one begins with a wildcard."""
        wanted: set[str] = set()
        for first in firsts:
            if first is None or _is_several(first):
                return range(len(self.all))
            wanted.add(first[:_MOST_SIGNS])
        return sorted(chain(self._anywhere, *(self._under.get(first, ()) for first in wanted)))


def _is_several(part: str) -> bool:
    return "*" in part or "?" in part


@rule("C608")
def file_not_there(plan: Plan) -> Iterator[Diagnostic]:
    """A script, a corpus or one of `files` is not there.

    The bundle is made of them: the check goes on without, the build stops.

    Bad:
        run control { script = "not_there.py" }

    Good:
        run control { script = "train.py" }
    """
    if plan.exists is None:
        return
    spec = plan.spec
    wanted: list[tuple[Node, str, tuple[str, ...], str]] = [
        (run, "script", (run.script,), "script")
        for run in spec.own_runs.values()
        if run.script is not None and run.wrote("script")
    ]
    for corpus in spec.corpora.values():
        wanted += [
            (corpus, word, (path,), f"corpus {corpus.name}")
            for word, path in (("path", corpus.path), ("sample", corpus.sample))
            if path
        ]
    wanted.append((spec.campaign, "files", spec.campaign.files, "`files`"))
    if spec.campaign.requirements is not None:
        wanted.append((spec.campaign, "requirements", (spec.campaign.requirements,), "`requirements`"))
    for node, word, paths, what in wanted:
        source = node.head.source
        absent = [path for path in paths if "://" not in path and not plan.exists(source, path)]
        if absent:
            shown = listed([f'"{path}"' for path in absent])
            verb = "is" if len(absent) == 1 else "are"
            yield Diagnostic(
                "C608",
                head(node.place(word)),
                f"{what}: {shown} {verb} not there",
                help="a path is relative to the file that names it; put the file there, or mend the path",
            )
