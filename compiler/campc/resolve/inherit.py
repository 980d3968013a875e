"""What variants inherit, and cycles of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from campc import records
from campc.resolve.blocks import keywords_of
from campc.resolve.faults import Faults, did_you_mean
from campc.resolve.graph import all_backwards, circle, cycles, parents_first
from campc.schema import Checkpoint, Node, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from campc.resolve.memory import Memory


NOT_INHERITED = ("because", "role", "change", "variant_of")


def report_cycles(
    blocks: Mapping[str, Node], edges: Mapping[str, Iterable[str]], attribute: str, faults: Faults
) -> set[str]:
    """Report C209 for each cycle at its first member in the file; the names of all that are in one."""
    members: set[str] = set()
    if all_backwards(edges):
        return members
    for path in cycles(edges):
        if members & set(path):
            continue
        members.update(path)
        first = blocks[path[0]]
        text = circle(path)
        if len(path) == 1:
            message = f"{path[0]} names itself in `{attribute}`"
        else:
            message = (
                f"{text}: each waits for the next"
                if attribute == "after"
                else f"{text}: `{attribute}` goes round in a circle"
            )
        place = first.place(attribute)
        at = place if place.line == first.head.line else first.head.first_line
        faults.report("C209", at, message, help=f"take `{attribute}` away from one of them")
    return members


def inherit(
    own: Mapping[str, Run], default: Checkpoint | None, faults: Faults, circular: set[str], memory: Memory | None = None
) -> dict[str, Run]:
    """Each run with what it inherits in place, and ``change`` applied to its params."""
    done: dict[str, Run] = {}
    words = keywords_of("run")
    inherited = [(word, python_name) for word, python_name in words.items() if word not in NOT_INHERITED]

    def one(name: str) -> None:
        run = own[name]
        parent = done.get(run.variant_of) if run.variant_of is not None and name not in circular else None
        if memory is not None:
            known = memory.inherited(run, parent, default)
            if known is not None:
                done[name] = known
                return
        found = len(faults.found)
        values: dict[str, Any] = {}
        broken = set(run.broken)
        if parent is not None:
            for word, python_name in inherited:
                if run.wrote(word) or word in run.broken:
                    continue
                if (word == "seed" and run.wrote("seeds")) or (word == "seeds" and run.wrote("seed")):
                    continue
                values[python_name] = getattr(parent, python_name)
                if word in parent.broken:
                    broken.add(word)
            if run.checkpoint is None:
                values["checkpoint"] = parent.checkpoint
        elif run.variant_of is not None or "variant_of" in run.broken:
            broken.update(word for word in words if not run.wrote(word))
        if run.checkpoint is None and values.get("checkpoint") is None:
            values["checkpoint"] = default
        params = values.get("params", run.params)
        if run.change and "params" not in broken:
            unknown = [key for key in run.change if key not in params]
            for key in unknown:
                guess, fix = did_you_mean(key, params, run.place("change"))
                whose = parent.name if parent is not None else name
                faults.report(
                    "C205",
                    run.place("change"),
                    f"{name} changes {key}, and {whose} has no param {key}",
                    help=guess if fix else f"its params are {', '.join(params) or 'none'}",
                )
            if unknown:
                broken.update(("change", "params"))
            params = {**params, **{k: v for k, v in run.change.items() if k in params}}
        values["params"] = params
        values["broken"] = frozenset(broken)
        done[name] = records.evolve(run, **values)
        if memory is not None and found == len(faults.found):
            memory.keep_inherited(run, parent, default, done[name])

    for name in parents_first(own, {n: run.variant_of if n not in circular else None for n, run in own.items()}):
        one(name)
    return {name: done[name] for name in own}
