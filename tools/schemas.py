"""The JSON Schemas of what tools may read: `campaign.json`, a ledger line, and what the commands print.

Each object lists every key that it must have and allows no other, so that a test on real outputs notices a schema that
has fallen behind. `make docs` writes them to `docs/schemas/`.
"""

import json
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": ["integer", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
SECONDS: Schema = {"type": "number", "description": "seconds, whole where whole"}
WHEN: Schema = {"type": "string", "format": "date-time"}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
ANY: Schema = {}


def obj(doc: str = "", /, **members: Schema) -> Schema:
    """An object with exactly these members; `doc` says what it is."""
    made: Schema = {
        "type": "object",
        "properties": members,
        "required": sorted(members),
        "additionalProperties": False,
    }
    return {"description": doc, **made} if doc else made


def opened(schema: Schema) -> Schema:
    """The same object, which may have more members."""
    return {**schema, "additionalProperties": True}


def null_or(schema: Schema) -> Schema:
    """The schema, or null: unknown, or not there."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """A list of these."""
    return {"type": "array", "items": schema}


def words(*values: str) -> Schema:
    """One of these words."""
    return {"enum": list(values)}


def mapping(schema: Schema) -> Schema:
    """An object whose keys the author chose."""
    return {"type": "object", "additionalProperties": schema}


MONEY = obj("an exact amount", amount={"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}, currency=TEXT)
EXPRESSION: Schema = {"$ref": "#/$defs/expression"}
CONDITION = obj("its source text, and the same as a list whose head is the operator", text=TEXT, expr=EXPRESSION)
TIER = words("essential", "useful", "exploratory")


def head(name: str, *rest: Schema) -> Schema:
    """A list that starts with the operator `name`."""
    prefix = [{"const": name}, *rest]
    return {"type": "array", "prefixItems": prefix, "minItems": len(prefix), "maxItems": len(prefix)}


def expression() -> Schema:
    """What a condition may hold; `docs/bundle-format.md` gives the meaning."""
    two = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/")
    one = ("not", "neg", "finite", "missing", "mean", "min", "max", "std")
    chain = {"type": "array", "minItems": 3, "prefixItems": [words("or", "and")], "items": EXPRESSION}
    return {
        "anyOf": [
            chain,
            *(head(name, EXPRESSION, EXPRESSION) for name in two),
            *(head(name, EXPRESSION) for name in one),
            head("number", NUMBER),
            head("money", TEXT, TEXT),
            head("text", TEXT),
            head("bool", FLAG),
            head("metric", TEXT),
            head("metric", TEXT, TEXT),
            head("best", TEXT),
            head("builtin", TEXT),
        ]
    }


def campaign() -> Schema:
    """`campaign.json` of a bundle."""
    package = obj(
        name=TEXT, vendor=null_or(TEXT), gpu=TEXT, gpus=COUNT, nodes=COUNT, memory_bytes=null_or(COUNT),
        price=null_or(MONEY),
        rate=null_or(ANY), duration_s=null_or(SECONDS), region=null_or(TEXT), disk_bytes=null_or(COUNT),
        interruptible=FLAG,
        interruptions_per_s=null_or(NUMBER), notice_s=null_or(SECONDS), ends_early_s=null_or(SECONDS), tax=TEXT,
        source=null_or(TEXT),
    )  # fmt: skip
    lot = obj(
        name=TEXT, package=package, start_s=SECONDS, start=null_or(WHEN), usable_end_s=null_or(SECONDS),
        usable_end=null_or(WHEN), keep_free_s=null_or(SECONDS), order=null_or(TEXT), price=null_or(MONEY),
    )  # fmt: skip
    window = obj(
        name=TEXT, tier=TIER, kind=TEXT, lot=null_or(TEXT), gpus=many(COUNT), after=many(TEXT), start_s=SECONDS,
        end_s=SECONDS,
        start=null_or(WHEN), end=null_or(WHEN), takes=obj(low_s=SECONDS, likely_s=SECONDS, high_s=SECONDS),
        assumed=FLAG,
        basis=null_or(TEXT), last=FLAG, run=null_or(TEXT), run_ids=many(TEXT), limit_steps=null_or(COUNT),
        tolerance=NUMBER,
        to=null_or(TEXT), command=null_or(TEXT), slack_s=null_or(SECONDS), critical=FLAG,
    )  # fmt: skip
    checkpoint = obj(
        every_s=null_or(SECONDS), every_steps=null_or(COUNT), to=TEXT, keep=COUNT,
        keep_best=null_or(obj(metric=TEXT, direction=TEXT)), size_bytes=null_or(COUNT), write_s=null_or(SECONDS),
        restore_s=null_or(SECONDS), may_lose_s=null_or(SECONDS), outside=FLAG, storage_bytes=null_or(COUNT),
    )  # fmt: skip
    run = obj(
        name=TEXT, ids=many(obj(id=TEXT, seed=INTEGER, config_sha256=HASH)), seed=INTEGER, seeds=null_or(many({"type": "integer"})),
        script=TEXT,
        args=many(TEXT),
        env=mapping(TEXT), params=mapping(ANY), corpus=null_or(TEXT), steps=null_or(COUNT), variant_of=null_or(TEXT),
        change=mapping(ANY), because=null_or(TEXT), role=words("control", "variant"), recover=words("resume", "rerun"),
        memory_bytes=null_or(COUNT), gpus=COUNT, processes=COUNT, metrics=many(TEXT), kind=null_or(TEXT),
        base=null_or(TEXT),
        checkpoint=null_or(checkpoint), **{"from": null_or(TEXT)},
    )  # fmt: skip
    corpus = obj(
        name=TEXT, path=TEXT, sha256=null_or(HASH), rows=null_or(COUNT), ids=null_or(TEXT), frozen=null_or(TEXT),
        region=null_or(TEXT), sample=null_or(TEXT),
    )  # fmt: skip
    rule = obj(
        name=TEXT, when=CONDITION, from_steps=null_or(COUNT), from_s=null_or(SECONDS), for_count=null_or(COUNT),
        for_s=null_or(SECONDS), runs=many(TEXT), because=null_or(TEXT),
    )  # fmt: skip
    gate = obj(
        name=TEXT, after=TEXT, question=null_or(TEXT), when=CONDITION, otherwise=words("reduce", "revisit", "stop"),
        drops=obj(tiers=many(TIER), windows=many(TEXT)), enough=null_or(CONDITION), wait_s=SECONDS,
        if_silent=words("continue", "reduce", "stop"),
    )  # fmt: skip
    deliverable = obj(
        name=TEXT, of=many(TEXT), path=TEXT, kind=null_or(TEXT), accept=null_or(CONDITION), reload=null_or(TEXT),
        base=null_or(TEXT), tier=null_or(TIER),
    )  # fmt: skip
    return document(
        "campaign.json", "The checked plan that a bundle carries; written by `campc build`, read by the harness.",
        obj(
            schema={"const": 1}, campc=TEXT, plan_hash=HASH,
            campaign=obj(
                name=TEXT, question=TEXT, decision=TEXT, if_negative=null_or(TEXT), owner=null_or(TEXT), timezone=TEXT,
                currency=null_or(TEXT), deadline=null_or(WHEN), start=null_or(WHEN), secrets=many(TEXT),
                requirements=null_or(TEXT), image=null_or(TEXT), files=many(TEXT), rates=mapping(MONEY),
                rates_source=null_or(TEXT),
            ),
            lots=many(lot), windows=many(window), runs=many(run), corpora=many(corpus), stops=many(rule),
            watches=many(rule),
            gates=many(gate), outcomes=many(obj(name=TEXT, when=CONDITION, conclude=TEXT)),
            unknowns=many(obj(name=TEXT, question=TEXT, settled_by=null_or(TEXT))), deliverables=many(deliverable),
            expenses=many(obj(name=TEXT, amount=MONEY, covers=TEXT, estimate=FLAG)),
            ratios=many(
                obj(name=TEXT, cost=words("rental", "expenses", "total"), per=many(TEXT), distinct=words("corpus",
                "run"),
                    expect=null_or(COUNT), if_none=TEXT)
            ),
            budget=null_or(obj(limit=MONEY, alert=null_or(MONEY))),
            preflight=null_or(
                obj(quota=null_or(TEXT), capacity=null_or(TEXT), staged=null_or(TEXT), budget_alert=null_or(TEXT),
                dry_run=FLAG)
            ),
            shutdown=null_or(
                obj(command=TEXT, when=words("finished", "deadline", "always"), elsewhere=null_or(TEXT),
                hold_s=SECONDS)
            ),
            cleanup=many(obj(paths=many(TEXT), after_s=SECONDS)), notify=many(obj(command=TEXT, on=many(TEXT))),
            allowances=many(obj(code=TEXT, reason=TEXT, line=COUNT)),
        ),
        expression=expression(),
    )  # fmt: skip


def diagnostics() -> Schema:
    """`campc check --format json`."""
    place = obj(line={"type": "integer", "minimum": 1}, column={"type": "integer", "minimum": 1})
    span = obj("lines and columns count from 1, a column is a code point", start=place, end=place)
    edit = obj(range=span, text=TEXT)
    diagnostic = obj(
        code={"type": "string", "pattern": "^C[0-9]{3}$"}, name=TEXT, severity=words("error", "warning"), message=TEXT,
        file=TEXT, range=span, related=many(obj(file=TEXT, range=span, message=TEXT)), help=null_or(TEXT),
        fix=null_or(obj(message=TEXT, edits=many(edit))),
    )  # fmt: skip
    return document(
        "check.json",
        "What `campc check --format json` prints.",
        obj(version={"const": 1}, files=COUNT, errors=COUNT, warnings=COUNT, diagnostics=many(diagnostic)),
    )


def plan() -> Schema:
    """`campc plan --format json`."""
    amounts = many(MONEY)
    window = obj(
        name=TEXT, tier=TIER, kind=TEXT, lot=null_or(TEXT), gpus=many(COUNT), start_s=SECONDS, end_s=SECONDS,
        start=null_or(WHEN), end=null_or(WHEN), slack_s=null_or(SECONDS), critical=FLAG, basis=null_or(TEXT),
        after=many(TEXT), run=null_or(TEXT),
    )  # fmt: skip
    lot = obj(
        name=TEXT, package=null_or(TEXT), start_s=SECONDS, usable_end_s=null_or(SECONDS), reserved_s=SECONDS,
        uncommitted_s=null_or(SECONDS), overrun_s=null_or(SECONDS), busy_gpu_s=SECONDS, price=null_or(MONEY),
    )  # fmt: skip
    package = obj(
        name=TEXT,
        lots=COUNT,
        chosen=FLAG,
        covers=FLAG,
        reserved_s=SECONDS,
        uncommitted_s=null_or(SECONDS),
        overrun_s=null_or(SECONDS),
        price=null_or(MONEY),
    )
    checkpoint = obj(
        run=TEXT, every_s=null_or(SECONDS), young_s=null_or(SECONDS), daly_s=null_or(SECONDS),
        overhead=null_or(NUMBER),
        expected_loss_s=null_or(SECONDS), room_bytes=null_or(COUNT),
    )  # fmt: skip
    chance = obj(name=TIER, p_finish=NUMBER, p50_s=null_or(SECONDS), p90_s=null_or(SECONDS))
    return document(
        "plan.json", "What `campc plan --format json` prints. Of a relative plan, instants are null.",
        obj(
            version={"const": 1}, campaign=TEXT, plan_hash=HASH, start=null_or(WHEN), windows=many(window),
            lots=many(lot),
            cost=obj(rental=amounts, expenses=amounts, total=amounts),
            ratios=many(obj(name=TEXT, expected=null_or(MONEY), defined=FLAG, count=null_or(COUNT))), packages=many(package),
            checkpoint=many(checkpoint), risk=null_or(obj(samples=COUNT, distribution=TEXT, tiers=many(chance))),
        ),
    )  # fmt: skip


def ledger() -> Schema:
    """One line of a lot's ledger; each event adds its own members."""
    events = (
        "launch preflight rehearsal start resume checkpoint metric watch stop interrupted deadline crash hang done "
        "gate decide skip expense window note pack copy shutdown released"
    )
    line = obj(
        seq=COUNT, time=NUMBER, mono=null_or(NUMBER), lot=TEXT, machine=TEXT, run_id=null_or(TEXT),
        window=null_or(TEXT),
        attempt=null_or(COUNT), event=words(*events.split()), step=null_or(COUNT), reason=null_or(TEXT), prev=HASH,
    )  # fmt: skip
    return document("ledger-line.json", "One line of `state/LOT/ledger.jsonl`.", opened(line))


def document(name: str, doc: str, schema: Schema, **definitions: Schema) -> Schema:
    """A whole schema document, with its definitions."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        **schema,
        "description": doc,
        **({"$defs": definitions} if definitions else {}),
    }


def closeout() -> Schema:
    """`closeout.json`: derived from the classes that it is written from."""
    from tools.closeout_schema import closeout_members

    members = closeout_members()
    return document(
        "closeout.json", "What `campc closeout` writes beside the documents. Instants are Unix seconds.", obj(**members)
    )


def difference() -> Schema:
    """What `campc diff --format json` prints."""
    side = obj(name=TEXT, plan_hash=HASH)
    change = obj(
        section=TEXT, name=TEXT, what=TEXT, old=null_or(TEXT), new=null_or(TEXT), difference=null_or(TEXT),
    )  # fmt: skip
    return document(
        "diff.json", "What `campc diff --format json` prints.",
        obj(
            version={"const": 1}, same=FLAG, old=side, new=side,
            end=obj(old_s=SECONDS, new_s=SECONDS, difference_s=SECONDS, old=null_or(TEXT), new=null_or(TEXT), later_s=SECONDS),
            cost=obj(old=many(MONEY), new=many(MONEY), increase=many(MONEY)), exceeds=null_or(MONEY),
            changes=many(change),
        ),
    )  # fmt: skip


def verification() -> Schema:
    """What `campc verify --json` prints."""
    return document(
        "verify.json", "What `campc verify --json` prints.",
        obj(
            schema={"const": 1}, package=TEXT, intact=FLAG, plan_hash=null_or(TEXT), digest=null_or(HASH),
            archive=null_or(HASH), files=COUNT, bytes=COUNT, faults=many(TEXT), unlisted=many(TEXT),
            digest_matches=null_or(FLAG),
        ),
    )  # fmt: skip


SCHEMAS = {
    "campaign": campaign,
    "check": diagnostics,
    "plan": plan,
    "ledger-line": ledger,
    "closeout": closeout,
    "diff": difference,
    "verify": verification,
}


def rendered() -> dict[Path, str]:
    """Each schema's file, and what it must hold."""
    return {
        FOLDER / f"{name}.schema.json": json.dumps(make(), indent=2, ensure_ascii=False) + "\n"
        for name, make in SCHEMAS.items()
    }


def main() -> None:
    """Write the schemas."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in rendered().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
