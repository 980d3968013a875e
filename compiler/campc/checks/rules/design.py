"""C501 to C503, C506: what is compared with what."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from campc.checks.facts import any_broken, campaign_line
from campc.checks.registry import rule
from campc.checks.words import listed, plural
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.schema.spec import Spec
from campc.schema.work import Run
from campc.values.quantities import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_CONFIGURATION = frozenset(
    "params args script corpus base steps seed seeds env from gpus processes kind variant_of change".split()
)


@rule("C501", absence=True)
def no_control(plan: Plan) -> Iterator[Diagnostic]:
    """No run that the others are compared with is executed.

    A variant's figure alone says nothing: it is the difference from a control, on the same data and the same machine, that decides.

    Bad:
        run tuned { script = "train.py"; params = { rank = 16 }; role = variant }
        tier essential { window tuned { kind = train; on = box; takes = 10h; run = tuned } }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window variant { kind = train; on = box; takes = 10h; after = control; run = variant }
        }
    """
    spec = plan.spec
    used = spec.used_runs()
    if not spec.declared or not used or any(run.is_control or "role" in run.broken for run in used.values()):
        return
    if any_broken(spec, "window", "run") or any_broken(spec, "run", "variant_of", "role"):
        return
    parents = sorted(
        {run.variant_of for run in used.values() if run.variant_of is not None and run.variant_of not in used}
    )
    if parents:
        help_ = (
            f"add a window with run = {parents[0]}, which {listed(list(used))} {'varies' if len(used) == 1 else 'vary'}"
        )
    else:
        help_ = f"write role = control in the run that the others are compared with, or add one: run control {{ script = … }}; here run: {', '.join(used)}"
    yield Diagnostic(
        "C501", campaign_line(spec), f"no control is executed: {_vary(list(used))} compared with nothing", help=help_
    )


def _vary(names: list[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}"


def differences(spec: Spec, run: Run, parent: Run) -> list[tuple[str, str, str]]:
    """What a run changes against another: name, its value there, its value here. Params, args, script, corpus, base, steps and seed count."""
    found = []
    for key in {**parent.params, **run.params}:
        there, here = parent.params.get(key), run.params.get(key)
        if here is not there and exact(there) != exact(here):
            found.append((key, _said(there), _said(here)))
    for word in ("args", "script", "corpus", "base", "steps"):
        there, here = getattr(parent, word), getattr(run, word)
        if here is not there and exact(there) != exact(here):
            found.append((word, _said(there), _said(here)))
    if (run.seeds is not parent.seeds or run.seed is not parent.seed) and seeds(run) != seeds(parent):
        found.append(("seed", _said(seeds(parent)), _said(seeds(run))))
    return found


def seeds(run: Run) -> tuple[int, ...]:
    """Its seeds in order; none where it names none."""
    return tuple(sorted(run.seeds)) or (() if run.seed is None else (run.seed,))


def exact(value: Any) -> Any:
    """A value that is equal only to what means the same: ``true`` is not 1."""
    match value:
        case dict():
            return ("map", tuple(sorted((key, exact(inner)) for key, inner in value.items())))
        case list() | tuple():
            return ("list", tuple(exact(inner) for inner in value))
        case bool():
            return ("truth", value)
        case str():
            return ("text", value)
        case None:
            return ("none", 0)
    return ("value", str(value))


def _said(value: Any) -> str:
    match value:
        case None | ():
            return "none"
        case bool():
            return str(value).lower()
        case Fraction():
            number = plain(value)
            return str(number) if isinstance(number, int) else f"{number:.6g}".replace("e-0", "e-")
        case list() | tuple():
            return f"[{', '.join(_said(inner) for inner in value)}]"
        case dict():
            return "{ " + ", ".join(f"{key} = {_said(inner)}" for key, inner in value.items()) + " }"
        case str():
            import json

            return json.dumps(value if len(value) <= 40 else f"{value[:39]}…", ensure_ascii=False)
    return str(value)


@rule("C502")
def confounded_variant(plan: Plan) -> Iterator[Diagnostic]:
    """A variant changes more than one thing against what it is compared with.

    If two things change at once and the result moves, nobody knows which of them moved it. Params, args, script, corpus, base, steps and seed count;
    GPUs and memory don't.

    Bad:
        run control { script = "train.py"; params = { rank = 8, lr = 1e-3 } }
        run both    { variant_of = control; change = { rank = 16, lr = 2e-3 } }
        tier essential { window both { kind = train; on = box; takes = 10h; run = both } }

    Good:
        run control { script = "train.py"; params = { rank = 8, lr = 1e-3 } }
        run wider   { variant_of = control; change = { rank = 16 } }
        run faster  { variant_of = control; change = { lr = 2e-3 } }
        tier essential {
          window wider  { kind = train; on = box; takes = 10h; run = wider }
          window faster { kind = train; on = box; takes = 10h; run = faster }
        }
    """
    spec = plan.spec
    for run in spec.runs.values():
        parent = spec.runs.get(run.variant_of) if run.variant_of is not None else None
        if parent is None or (run.broken | parent.broken) & _CONFIGURATION:
            continue
        changed = differences(spec, run, parent)
        if len(changed) < 2:
            continue
        names = [name for name, _, _ in changed]
        moves = [f"{name} from {there} to {here}" for name, there, here in changed]
        params = [name for name in names if name in run.params]
        split = f"make each a run of its own, as in run {run.name}_{names[0]}"
        if params:
            split += f" {{ variant_of = {parent.name}; change = {{ {params[0]} = {_said(run.params[params[0]])} }} }}"
        yield Diagnostic(
            "C502",
            run.head,
            f"{run.name} changes {plural(len(changed), 'thing')} against {parent.name} at once: {listed(moves)}",
            (Note(parent.head, "it is compared with this one"),),
            help=f"{split}; or say why they move together: # campc: allow C502 because …",
        )


@rule("C503")
def same_configuration(plan: Plan) -> Iterator[Diagnostic]:
    """Two runs have the same configuration.

    They would train the same thing twice under two names, and the second would be taken for another result. To do a run again on purpose, give it a
    second window of kind `rerun`.

    Bad:
        run again { variant_of = control; change = { rank = 8 } }
        tier essential { window again { kind = train; on = box; takes = 10h; run = again } }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window again   { kind = rerun; on = box; takes = 10h; after = control; run = control }
        }
    """
    spec = plan.spec
    first: dict[Any, Run] = {}
    known: dict[int, Any] = {}
    for run in spec.runs.values():
        if run.broken & _CONFIGURATION or run.script is None:
            continue
        other = first.setdefault(_configuration(spec, run, known), run)
        if other is not run:
            what = _said(run.params) if run.params else "no params"
            yield Diagnostic(
                "C503",
                run.head,
                f"{run.name} is the same as {other.name}: script {_said(run.script)} with {what}",
                (Note(other.head, "the same configuration"),),
                help=f"change something in {run.name}; or, to do {other.name} again, add a window with kind = rerun; run = {other.name}",
            )


def _configuration(spec: Spec, run: Run, known: dict[int, Any]) -> Any:
    """What a run does, to be compared. ``known`` holds the exact forms of values by identity: variants share most of theirs."""
    corpus = spec.corpora.get(run.corpus) if run.corpus is not None else None
    data = (corpus.sha256 or corpus.name) if corpus is not None else None

    def form(value: Any) -> Any:
        found = known.get(id(value))
        if found is None:
            found = known[id(value)] = exact(value)
        return found

    params = tuple(sorted((key, form(value)) for key, value in run.params.items()))
    own = tuple(
        form(value)
        for value in (run.script, run.args, run.env, run.steps, run.base, run.from_, run.gpus, run.ranks, run.kind)
    )
    return own, params, data, seeds(run)


@rule("C506")
def full_grid(plan: Plan) -> Iterator[Diagnostic]:
    """The runs are the full grid over two or more parameters.

    Every combination costs the product of all choices. Changing one thing at a time costs their sum, and says which one mattered; combine what helped
    afterwards.

    Bad:
        run a { script = "train.py"; params = { rank = 8,  lr = 1e-3 } }
        run b { script = "train.py"; params = { rank = 16, lr = 1e-3 } }
        run c { script = "train.py"; params = { rank = 8,  lr = 2e-3 } }
        run d { script = "train.py"; params = { rank = 16, lr = 2e-3 } }
        tier essential {
          window a { kind = train; on = box; takes = 10h; run = a }
          window b { kind = train; on = box; takes = 10h; run = b }
          window c { kind = train; on = box; takes = 10h; run = c }
          window d { kind = train; on = box; takes = 10h; run = d }
        }

    Good:
        run a { script = "train.py"; params = { rank = 8,  lr = 1e-3 } }
        run b { script = "train.py"; params = { rank = 16, lr = 1e-3 } }
        run c { script = "train.py"; params = { rank = 8,  lr = 2e-3 } }
        tier essential {
          window a { kind = train; on = box; takes = 10h; run = a }
          window b { kind = train; on = box; takes = 10h; run = b }
          window c { kind = train; on = box; takes = 10h; run = c }
        }
    """
    spec = plan.spec
    runs = [run for run in spec.used_runs().values() if run.params]
    if any(run.broken & {"params", "change", "variant_of"} for run in runs):
        return
    values: dict[str, set[Any]] = {}
    seen: set[tuple[str, int]] = set()
    for run in runs:
        for key, value in run.params.items():
            if (key, id(value)) not in seen:
                seen.add((key, id(value)))
                values.setdefault(key, set()).add(exact(value))
    varied = {key: len(forms) for key, forms in values.items() if len(forms) > 1}
    if len(varied) < 2 or any(key not in run.params for run in runs for key in varied):
        return
    combinations = {tuple(exact(run.params[key]) for key in varied) for run in runs}
    if len(combinations) != prod(varied.values()):
        return
    one_at_a_time = 1 + sum(count - 1 for count in varied.values())
    grid = " × ".join(f"{key} ({count} values)" for key, count in varied.items())
    yield Diagnostic(
        "C506",
        campaign_line(spec),
        f"the runs are every combination of {grid}: {len(combinations)} configurations",
        tuple(Note(run.head, "part of the grid") for run in runs[:4]),
        help=f"a control and one change at a time would be {one_at_a_time} runs, and would tell which parameter matters; then combine what helped",
    )
