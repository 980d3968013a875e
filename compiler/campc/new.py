"""A first spec, from a few answers: a control and one variant, with everything that a sound campaign says beforehand.

The folder that it makes compiles without a warning, and its script trains, on made-up data, until the author puts in
their own: so that the first rehearsal can run within the hour, and what is still to be confirmed stands in the plan.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, fields

from campc.first_spec import NUMBER, Answers, Terms, catalog_name, literal, spec
from campc.resources import resource

__all__ = ["QUESTIONS", "add_arguments", "ask", "command", "files"]

_DURATION = re.compile(r"([1-9][0-9]*(s|min|h|d|w))+\Z")


class Unusable(Exception):
    """Nothing can be written; the message says why and what to do."""


QUESTIONS: Mapping[str, str] = {
    "question": "What is to be decided, as a question",
    "if_negative": "What a negative result concludes",
    "catalog": "Catalog of packages",
    "package": "Package to rent",
    "parameter": "The one parameter that the variant changes",
    "control": "Its value in the control",
    "variant": "Its value in the variant",
    "metric": "The metric that decides",
    "gain": "By how much the variant must exceed the control",
    "takes": "How long one run takes, as far as you know",
    "checkpoints": "Where checkpoints go (best outside the machine: s3://…)",
}


def ask(answers: Answers, given: set[str], answer: Callable[[str], str]) -> Answers:
    """Ask for what the flags didn't give; an empty answer keeps what is offered in brackets."""
    for name, question in QUESTIONS.items():
        if name not in given:
            said = answer(f"{question} [{getattr(answers, name)}]: ").strip()
            if said:
                answers = evolve(answers, **{name: said})
    return answers


def mend_name(text: str) -> str:
    """A folder's name as the name of a campaign: letters, digits and underscores, not beginning with a digit."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"campaign_{name}".rstrip("_")


def faults(answers: Answers) -> list[str]:
    """What is wrong with the answers, one sentence each."""
    found = []
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", answers.parameter):
        found.append(f"{answers.parameter!r} can't name a parameter: use letters, digits and _")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", answers.metric):
        found.append(
            f"{answers.metric!r} can't name a metric: use letters, digits and _, with dots between, as in eval.accuracy"
        )
    if not NUMBER.match(answers.gain):
        found.append(f"the gain {answers.gain!r} is not a number such as 0.01")
    if not _DURATION.match(answers.takes):
        found.append(f"{answers.takes!r} is not a duration such as 10h or 1h30min")
    if literal(answers.control) == literal(answers.variant):
        found.append(
            f"control and variant both have {answers.parameter} = {answers.control}: then there is nothing to compare"
        )
    return found


def files(answers: Answers, catalog: str, terms: Terms) -> dict[str, str]:
    """The new folder's files by their path in it; `catalog` is the text of the catalog."""
    from campc.source import Source
    from campc.syntax.format import format

    folder = resource("specs/new")
    made = {name: (folder / name).read_text(encoding="utf-8") for name in ("train.py", "reload.py")}
    made[f"catalogs/{catalog_name(answers)}"] = catalog
    made[f"{answers.name}.campaign"] = format(Source(f"{answers.name}.campaign", spec(answers, terms), None))
    return made


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: the folder, and a flag for each question."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder to make, named as the campaign")
    parser.add_argument("--yes", action="store_true", help="ask nothing: take the default where no flag says otherwise")
    for field in fields(Answers):
        if field.name in QUESTIONS:
            flag = "--" + field.name.replace("_", "-")
            question = QUESTIONS[field.name].replace("%", "%%")
            parser.add_argument(flag, metavar="TEXT", help=f"{question} (default: {field.default})")


def command(options: argparse.Namespace) -> int:
    """Write a first spec: 0 it is there and checks without an error, 1 it has one, 2 nothing was written."""
    folder: Path = options.folder
    given = {name: value for name in QUESTIONS if (value := getattr(options, name)) is not None}
    answers = Answers(name=mend_name(folder.resolve().name), **given)
    try:
        if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
            raise Unusable(f"{folder} is there already: name a new folder")
        if not options.yes and sys.stdin.isatty():
            answers = ask(answers, set(given), input)
        if found := faults(answers):
            raise Unusable("; ".join(found))
        catalog, terms = look_up(answers)
        made = files(answers, catalog, terms)
        for name, text in made.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except (Unusable, OSError, EOFError) as error:
        sys.stderr.write(f"campc: {error or 'the questions were not answered'}\n")
        return 2
    return report(folder / f"{answers.name}.campaign", folder, list(made))


def report(path: Path, folder: Path, made: list[str]) -> int:
    """Say what was written, what campc finds in it, and what to do next."""
    from campc.pipeline import compile_path, worst
    from campc.render.text import render_text

    sys.stdout.write(f"wrote {', '.join(sorted(made))} in {folder}\n")
    compiled = compile_path(path)
    found = compiled if isinstance(compiled, tuple) else compiled.diagnostics
    if found:
        sys.stdout.write(render_text(found, 1))
    shown = shlex.quote(str(path))
    sys.stdout.write(
        f"next: put your model and data into {folder / 'train.py'}; then\n"
        f"  campc check {shown}\n  campc plan {shown}\n  campc build {shown}\n"
    )
    return worst(found)


def look_up(answers: Answers) -> tuple[str, Terms]:
    """The catalog's text, and the terms of the package in it.

    Raises:
        Unusable: there is no such catalog, or no such package in it; the message lists those that are there.
    """
    from campc.pipeline import compile_path
    from campc.values.money import Money, MoneyRate

    known = {path.stem: path for path in sorted(resource("specs/catalogs").glob("*.campaign"))}
    path = known.get(answers.catalog, Path(answers.catalog))
    if not path.is_file():
        raise Unusable(f"there is no catalog {answers.catalog}: name a .campaign file, or one of {', '.join(known)}")
    compiled = compile_path(path, catalog=True)
    if isinstance(compiled, tuple) or compiled.errors:
        raise Unusable(f"the catalog {path} has faults: campc check {path}")
    packages = compiled.plan.spec.packages
    package = packages.get(answers.package)
    if package is None:
        offers = "\n".join(f"  {name}" for name in packages)
        raise Unusable(f"the catalog {answers.catalog} has no package {answers.package}; it has\n{offers}")
    match package.price:
        case Money() as price:
            terms = Terms(price.currency, f"{price.rounded} {price.currency}", package.interruptible)
        case MoneyRate() as rate:
            terms = Terms(rate.money.currency, None, package.interruptible)
        case _:
            raise Unusable(f"the package {answers.package} has no price")
    return path.read_text(encoding="utf-8"), terms
