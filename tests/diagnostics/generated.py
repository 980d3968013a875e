"""Specs made from the schema: every block with any of its attributes, names that exist, values of the right type. Their plans may be absurd."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from campc.schema import BLOCKS, TIERS, AttributeInfo
from campc.schema import types as t

NUMBER = st.sampled_from(["1", "2", "3", "8", "1_000"])
DURATION = st.sampled_from(["1s", "90s", "20min", "1h", "1h30min", "10h", "3d", "2w", "2 * 3h", "1d - 1h"])
SIZE = st.sampled_from(["1kB", "512MiB", "24GB", "1.5TB", "2 * 3GB"])
MONEY = st.sampled_from(["0.01 USD", "47.14 USD", "1_000 USD", "8 EUR", "500 JPY"])
SHARE = st.sampled_from(["1%", "50%", "99.5%", "100%"])
STEPS = st.sampled_from(["1 steps", "500 steps", "10_000 steps"])
CLOCK = st.sampled_from(["2026-12-01 09:00", "2026-12-01T09:00:30+01:00", "2026-12-04T00:00Z", "2027-06-01 12:00"])
TEXT = st.sampled_from(['"text"', '"a \\"quoted\\" word"', '"été, 東京"', '"$(touch x)"', '"""\n  two\n  lines\n  """'])
PATH = st.sampled_from(
    ['"train.py"', '"data/a b.json"', '"s3://lab/x"', '"/mnt/x"', '"../x"', '"*.csv"', '"checkpoints"']
)
METRIC = st.sampled_from(["loss", "eval.accuracy", "grad.norm"])
VALUE = st.sampled_from(["8", "2e-4", "true", '"cosine"', "[1, 2]", "{ a = 1 }"])
CONDITIONS = {
    "run": [
        "loss is not finite",
        "eval.accuracy < 0.5 and step > 10",
        "checkpoint_age > 1h",
        "truncated_inputs > 0",
        "disk_free < 20GB or spend > 40 USD",
        "best.loss - loss > 0.1",
        "not (data_wait > 50%)",
        "loss is missing",
    ],
    "results": [
        "RUN.eval.accuracy >= 0.5",
        "RUN.loss - RUN.loss > 0",
        "mean(RUN.eval.accuracy) > 0.5 and max(RUN.loss) < 9",
        "RUN.loss is finite",
    ],
    "file": ["rows > 0", "bytes > 1MB and missing_ids == 0", "files == 3 or eval.accuracy > 0.9", "duplicate_ids == 0"],
}
DURATIONS = st.lists(st.integers(1, 40), min_size=2, max_size=3).map(lambda n: " .. ".join(f"{h}h" for h in sorted(n)))


def maps(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    entries = st.dictionaries(st.sampled_from(["rank", "lr", "A", "b_2"]), values, max_size=3)
    return entries.map(lambda d: "{ " + ", ".join(f"{k} = {v}" for k, v in d.items()) + " }")


def lists(values: st.SearchStrategy[str], *, least: int = 0) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=least, max_size=3, unique=True).map(lambda items: f"[{', '.join(items)}]")


class Writer:
    """Writes blocks; `names` are those that may be named so far, kind by kind."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], names: dict[str, list[str]]) -> None:
        self.draw = draw
        self.names = names

    def value(self, type_: t.Type) -> str | None:
        """A value of a type as text; None where nothing that it could name exists."""
        draw = self.draw
        match type_:
            case t.Reference(kinds=kinds, many=many):
                known = [name for kind in kinds for name in self.names[kind]]
                if not known:
                    return None
                return str(
                    draw(
                        lists(st.sampled_from(known), least=1)
                        if many and draw(st.booleans())
                        else st.sampled_from(known)
                    )
                )
            case t.Gpus():
                return (
                    f"{draw(st.sampled_from(self.names['lot']))}{draw(st.sampled_from(['', '[0]', '[0..1]', '[1]']))}"
                )
            case t.ConditionType(scope=scope):
                text = draw(st.sampled_from(CONDITIONS[scope]))
                while "RUN" in text:
                    text = text.replace("RUN", draw(st.sampled_from(self.names["run"])), 1)
                return str(text)
            case t.Word(allowed=allowed):
                return str(draw(st.sampled_from(allowed)))
            case t.Words(allowed=allowed):
                return str(draw(lists(st.sampled_from(allowed), least=1)))
            case t.DurationType(ranged=True):
                return str(draw(DURATION | DURATIONS))
            case t.Whole(minimum=minimum):
                return str(draw(NUMBER | st.just(str(minimum or 0))))
        simple: dict[type, st.SearchStrategy[str]] = {
            t.Text: TEXT, t.FilePath: PATH, t.Boolean: st.sampled_from(["true", "false"]), t.DurationType: DURATION, t.SizeType: SIZE,
            t.MoneyType: MONEY, t.PriceType: MONEY | MONEY.map(lambda m: f"{m} per h"), t.ShareType: SHARE, t.ShareOrMoney: SHARE | MONEY,
            t.EventRateType: st.sampled_from(["1 per 24h", "3 per 1h"]), t.StepsType: STEPS, t.DurationOrSteps: DURATION | STEPS,
            t.DurationOrCount: DURATION | NUMBER, t.ClockType: CLOCK, t.ClockOrOffset: CLOCK | st.sampled_from(["+0h", "+12h", "-2h"]),
            t.DateType: st.just("2026-11-20"), t.Zone: st.sampled_from(['"Europe/Paris"', '"UTC"', '"America/New_York"']),
            t.CurrencyType: st.sampled_from(["USD", "EUR", "JPY"]), t.Metric: METRIC, t.Metrics: lists(METRIC), t.Texts: lists(PATH, least=1),
            t.Arguments: lists(TEXT | NUMBER), t.WholeNumbers: st.just("[1, 2, 3]"), t.Values: maps(VALUE), t.TextValues: maps(TEXT | NUMBER),
            t.Rates: st.sampled_from(["{ EUR = 1.08 USD }", "{ EUR = 1.08 USD, JPY = 0.0064 USD }"]),
        }  # fmt: skip
        return str(draw(simple[type(type_)]))

    def block(
        self, kind: str, name: str | None = None, *, fixed: dict[str, str] | None = None, without: tuple[str, ...] = ()
    ) -> str:
        """A block with all that it needs and some of what it may have."""
        lines = []
        info = BLOCKS[kind]
        for attribute in info.attributes.values():
            if attribute.name in without or not ((fixed and attribute.name in fixed) or self._wanted(attribute)):
                continue
            value = fixed[attribute.name] if fixed and attribute.name in fixed else self.value(attribute.type)
            if value is not None:
                lines.append(f"  {attribute.name} = {value}\n")
        return f"{kind}{f' {name}' if name else ''} {{\n{''.join(lines)}}}\n"

    def _wanted(self, attribute: AttributeInfo) -> bool:
        return attribute.required or self.draw(st.integers(0, 2)) == 0


@st.composite
def specs(draw: st.DrawFn) -> str:
    """A spec that has no fault of syntax, names or types."""
    names: dict[str, list[str]] = {kind: [] for kind in BLOCKS}
    writer = Writer(draw, names)
    parts = [writer.block("campaign", "generated")]

    def some(kind: str, least: int, most: int, **options: Any) -> None:
        for number in range(draw(st.integers(least, most))):
            name = f"{kind[0]}{number}"
            parts.append(writer.block(kind, name, **options))
            names[kind].append(name)

    some("corpus", 0, 2)
    some("package", 1, 3, fixed={"duration": draw(DURATION)})
    some("lot", 1, 2)
    for number in range(draw(st.integers(1, 4))):
        own = writer.block("checkpoint") if draw(st.integers(0, 3)) == 0 else ""
        if names["run"] and draw(st.booleans()):
            fixed = {"variant_of": draw(st.sampled_from(names["run"])), "change": f"{{ rank = {draw(VALUE)} }}"}
            run = writer.block("run", f"r{number}", fixed=fixed, without=("params", "seed"))
        else:
            run = writer.block(
                "run",
                f"r{number}",
                fixed={"params": f"{{ rank = {draw(VALUE)}, lr = 1 }}"},
                without=("variant_of", "change", "seeds"),
            )
        parts.append(run.rstrip()[:-1] + own + "}\n")
        names["run"].append(f"r{number}")
    tiers: dict[str, list[str]] = {}
    for number in range(draw(st.integers(0, 8))):
        tier = draw(st.sampled_from(TIERS))
        tiers.setdefault(tier, []).append(writer.block("window", f"w{number}"))
        names["window"].append(f"w{number}")
    parts += [f"tier {tier} {{\n{''.join(windows)}}}\n" for tier, windows in tiers.items()]
    names["tier"] = list(tiers)
    if names["window"]:
        some("gate", 0, 2)
    some("outcome", 0, 2)
    some("unknown", 0, 1)
    some("stop", 0, 2)
    some("watch", 0, 1)
    some("deliverable", 0, 3)
    some("expense", 0, 2)
    if names["deliverable"]:
        some("ratio", 0, 2)
    for kind in ("checkpoint", "budget", "preflight", "shutdown", "cleanup", "notify"):
        if draw(st.booleans()):
            parts.append(writer.block(kind))
    return "\n".join(draw(st.permutations(parts)))
