"""What a rehearsal compares: hashes of state, generators and samples, and in words what differs.

Each rank writes `digest-RANK.jsonl` into its attempt's folder, one JSON object a line:
`{"point": "step|saved|restored|end", "step", "rng": {generator: hash}|null, "samples": [[epoch, index], …]|null,
"content": hash|null, "state": {tensor or value: hash}|null}`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campc_harness import codec, rng
from campc_harness.errors import Unsaveable
from campc_harness.memory import memory

Line = Mapping[str, Any]


@dataclass
class Verdict:
    """What a rehearsal's comparison found.

    Attributes:
        equal: whether restored state, generators and order of data are equal bit for bit, and weights after resuming too.
        differences: what is not, one sentence each; empty where `equal`.
        notes: what people should know though nothing is wrong.
    """

    equal: bool = True
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fail(self, text: str) -> None:
        """Record a difference."""
        self.equal = False
        self.differences.append(text)


def path_of(folder: Path, rank: int) -> Path:
    """Where a rank's digests lie."""
    return folder / f"digest-{rank}.jsonl"


def of(value: Any, name: str) -> dict[str, str]:
    """Dotted name → SHA-256 of every tensor and every other value in a state."""
    encoder = codec.Encoder()
    tree = encoder.encode(value, name)
    hashes: dict[str, str] = {}
    _values(tree, name, hashes)
    for leaf in encoder.leaves:
        tensor = leaf.tensor.cpu().contiguous()
        content = hashlib.sha256(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        content.update(memory(tensor.reshape(-1)))
        hashes[leaf.name] = content.hexdigest()
    return hashes


def _values(tree: Any, name: str, hashes: dict[str, str]) -> None:
    if isinstance(tree, dict) and "$" not in tree:
        for key, value in tree.items():
            _values(value, f"{name}.{key}", hashes)
    elif isinstance(tree, dict) and tree["$"] in ("odict", "dict"):
        for key, value in tree["v"]:
            _values(value, f"{name}.{key}", hashes)
    elif not (isinstance(tree, dict) and tree["$"] in ("tensor", "ndarray")):
        hashes[name] = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def generators() -> dict[str, str]:
    """Generator → hash of its state."""
    return {
        name: hashlib.sha256(json.dumps(of(value, name), sort_keys=True).encode()).hexdigest()
        for name, value in rng.capture().items()
    }


def content(batch: Any) -> str | None:
    """Hash of a batch, or None where it holds something that can't be hashed."""
    try:
        return hashlib.sha256(json.dumps(of(batch, "batch"), sort_keys=True).encode()).hexdigest()
    except Unsaveable:
        return None


class Recorder:
    """Writes one rank's digests."""

    def __init__(self, folder: Path, rank: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._stream = open(path_of(folder, rank), "w", encoding="utf-8")

    def record(
        self,
        point: str,
        step: int,
        *,
        samples: Sequence[Any] | None = None,
        batch: Any = None,
        state: Mapping[str, Any] | None = None,
        drawn: bool = True,
    ) -> None:
        """Write one line; `state` is hashed tensor by tensor, and generators where what they `drawn` so far counts."""
        line = {
            "point": point,
            "step": step,
            "rng": generators() if drawn else None,
            "samples": samples,
            "content": None if batch is None else content(batch),
            "state": None
            if state is None
            else {k: v for name, item in state.items() for k, v in of(item, name).items()},
        }
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()


def read(folder: Path, rank: int) -> dict[tuple[str, int], Line]:
    """(point, step) → digest; a torn last line is left out."""
    found: dict[tuple[str, int], Line] = {}
    try:
        text = path_of(folder, rank).read_text(encoding="utf-8")
    except FileNotFoundError:
        return found
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            break
        found[entry["point"], entry["step"]] = entry
    return found


def compare(first: Path, resume: Path, twin: Path, *, rank: int = 0, second_twin: Path | None = None) -> Verdict:
    """Compare the attempts' folders of a rehearsal, for one rank.

    The state restored must be the state saved; generators and samples after resuming must be the twin's; the state at the
    end too, unless two uninterrupted twins differ there, which is said. `first` and `twin` are two such twins as far as
    the checkpoint; `second_twin` is one as far as the end.
    """
    verdict = Verdict()
    one, two, three = read(first, rank), read(resume, rank), read(twin, rank)
    other = read(second_twin, rank) if second_twin is not None else {}
    saved = next((line for (point, _), line in one.items() if point == "saved"), None)
    restored = next((line for (point, _), line in two.items() if point == "restored"), None)
    end, twin_end = _last(two, "end"), _last(three, "end")
    for line, what in ((saved, "first attempt saved nothing"), (restored, "resumed attempt restored nothing")):
        if line is None:
            verdict.fail(f"the {what}")
    if end is None or twin_end is None:
        verdict.fail(f"the {'resumed attempt' if end is None else 'uninterrupted twin'} did not reach its last step")
    if saved is None or restored is None or end is None or twin_end is None:
        return verdict
    _compare(verdict, saved, restored, "saved and restored", ("state", "rng") if restored["rng"] else ("state",))
    for (point, step), line in two.items():
        if point == "step" and ("step", step) in three:
            _compare(verdict, three["step", step], line, f"step {step} of the twin and after resuming", _AFTER)
    differing = _names(twin_end["state"], end["state"])
    nondeterministic = _nondeterministic(saved, three, twin_end, _last(other, "end"))
    if differing and nondeterministic:
        verdict.notes.append(
            f"two uninterrupted twins differ themselves ({_few(nondeterministic)}): the kernels are nondeterministic, "
            "and the weights after resuming were not compared bit for bit"
        )
    elif differing:
        if verdict.equal:
            verdict.notes.append(
                "what is tracked, the generators and the samples came back: so something else that training depends on "
                "began anew. Track it: an optimizer, a schedule, a generator or a counter of the script's own. Gradients "
                "that live from one step to the next can't be tracked: use accumulate="
            )
        verdict.fail(f"after the last step the resumed state differs from the uninterrupted twin's: {_few(differing)}")
    return verdict


_AFTER = ("samples", "content", "rng")


def _nondeterministic(saved: Line, twin: Mapping[tuple[str, int], Line], end: Line, other: Line | None) -> list[str]:
    same_point = twin.get(("saved", saved["step"]))
    found = _names(saved["state"], same_point["state"]) if same_point else []
    return found or (_names(end["state"], other["state"]) if other else [])


def _last(lines: Mapping[tuple[str, int], Line], point: str) -> Line | None:
    found = [line for (name, _), line in lines.items() if name == point]
    return found[-1] if found else None


def _compare(verdict: Verdict, left: Line, right: Line, between: str, parts: Sequence[str]) -> None:
    for part in parts:
        one, other = left[part], right[part]
        if one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            what = {"rng": "generator", "state": "tensor or value"}[part]
            verdict.fail(f"{between}: {what} {_few(_names(one, other))} differs")
        elif part == "samples":
            verdict.fail(f"{between}: the samples differ, first {_first(one, other)}")
        else:
            verdict.fail(f"{between}: the same samples have another content (augmentation that isn't repeated?)")
        return


def _first(one: Any, other: Any) -> str:
    for left, right in zip(one or [], other or [], strict=False):
        if left != right:
            return f"epoch {left[0]} sample {left[1]} against epoch {right[0]} sample {right[1]}"
    return f"{len(one or [])} of them against {len(other or [])}"


def _names(one: Mapping[str, str] | None, other: Mapping[str, str] | None) -> list[str]:
    one, other = one or {}, other or {}
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
