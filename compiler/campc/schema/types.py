"""What an attribute can take. Each type says itself in words, for messages, hover and the reference."""

from __future__ import annotations

from campc import records
from campc.records import field, frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@frozen(eq=False, repr=False)
class Text:
    """A string."""

    words: str = "text in quotes"
    example: str = '"text"'


@frozen(eq=False, repr=False)
class FilePath:
    """A string that names a file or folder; ``inside`` where it must stay inside its folder (C604)."""

    inside: bool = False
    words: str = "a path in quotes"
    example: str = '"path/to/file"'


@frozen(eq=False, repr=False)
class Boolean:
    words: str = "true or false"
    example: str = "true"


@frozen(eq=False, repr=False)
class Whole:
    """A whole number, at least ``minimum``."""

    minimum: int | None = 1
    words: str = "a whole number"
    example: str = "2"


@frozen(eq=False, repr=False)
class DurationType:
    """A duration; ``zero`` where 0 is allowed, ``ranged`` where ``low .. likely .. high`` is."""

    zero: bool = False
    ranged: bool = False
    example: str = "2h"

    @property
    def words(self) -> str:
        return "a duration, or a range of durations" if self.ranged else "a duration"


@frozen(eq=False, repr=False)
class SizeType:
    words: str = "a size"
    example: str = "24GB"


@frozen(eq=False, repr=False)
class MoneyType:
    """Money; ``zero`` where 0 is allowed."""

    zero: bool = False
    words: str = "an amount of money"
    example: str = "100 USD"


@frozen(eq=False, repr=False)
class PriceType:
    """Money for the whole duration, or money per time."""

    words: str = "an amount of money, or money per time"
    example: str = "47.14 USD"


@frozen(eq=False, repr=False)
class ShareType:
    """A share from 0% to 100%."""

    words: str = "a share"
    example: str = "5%"


@frozen(eq=False, repr=False)
class ShareOrMoney:
    words: str = "a share, or an amount of money"
    example: str = "80%"


@frozen(eq=False, repr=False)
class EventRateType:
    words: str = "a number of events per time"
    example: str = "1 per 24h"


@frozen(eq=False, repr=False)
class StepsType:
    """A count of steps; a plain whole number is one too."""

    words: str = "a number of steps"
    example: str = "500 steps"


@frozen(eq=False, repr=False)
class DurationOrSteps:
    words: str = "a duration, or a number of steps"
    example: str = "20min"


@frozen(eq=False, repr=False)
class DurationOrCount:
    """How often in a row, or for how long."""

    words: str = "a whole number of observations, or a duration"
    example: str = "3"


@frozen(eq=False, repr=False)
class ClockType:
    words: str = "a date and time"
    example: str = "2026-12-01 09:00"


@frozen(eq=False, repr=False)
class ClockOrOffset:
    words: str = "a date and time, or an offset such as +12h"
    example: str = "+12h"


@frozen(eq=False, repr=False)
class DateType:
    words: str = "a date"
    example: str = "2026-12-01"


@frozen(eq=False, repr=False)
class Zone:
    """The name of an IANA time zone."""

    words: str = "an IANA time zone in quotes"
    example: str = '"Europe/Paris"'


@frozen(eq=False, repr=False)
class CurrencyType:
    words: str = "an ISO 4217 currency code"
    example: str = "USD"


@frozen(eq=False, repr=False)
class Word:
    """One of some words."""

    allowed: tuple[str, ...]

    @property
    def words(self) -> str:
        return "one of " + ", ".join(self.allowed)

    @property
    def example(self) -> str:
        return self.allowed[0]


@frozen(eq=False, repr=False)
class Reference:
    """The name of a declared thing; ``many`` where a list may stand, too. ``kinds`` has several for ``drops``."""

    kinds: tuple[str, ...]
    many: bool = False

    @property
    def words(self) -> str:
        thing = " or ".join(self.kinds)
        return f"the name of a {thing}, or a list of them" if self.many else f"the name of a {thing}"

    @property
    def example(self) -> str:
        return {"lot": "box", "run": "control", "window": "pilot", "package": "rtx4090_3d", "corpus": "tickets"}.get(
            self.kinds[0], self.kinds[0]
        )


@frozen(eq=False, repr=False)
class Gpus:
    """A lot, or GPUs of one."""

    words: str = "a lot, or GPUs of one such as box[0]"
    example: str = "box[0..1]"


@frozen(eq=False, repr=False)
class Metric:
    """The name of a metric, dotted."""

    words: str = "the name of a metric"
    example: str = "eval.accuracy"


@frozen(eq=False, repr=False)
class Metrics:
    """A list of names of metrics."""

    words: str = "a list of metrics"
    example: str = "[loss, eval.accuracy]"


@frozen(eq=False, repr=False)
class Texts:
    """A list of strings; ``paths`` where they are files (C604 applies); a single string is a list of one."""

    paths: bool = False
    words: str = "a list of texts"
    example: str = '["one", "two"]'


@frozen(eq=False, repr=False)
class Arguments:
    """A list of texts and numbers for a command line."""

    words: str = "a list of texts and numbers"
    example: str = '["--verbose"]'


@frozen(eq=False, repr=False)
class WholeNumbers:
    words: str = "a list of whole numbers"
    example: str = "[1, 2, 3]"


@frozen(eq=False, repr=False)
class Words:
    """A list of some words."""

    allowed: tuple[str, ...]

    @property
    def words(self) -> str:
        return "a list of " + ", ".join(self.allowed)

    @property
    def example(self) -> str:
        return f"[{', '.join(self.allowed[:2])}]"


@frozen(eq=False, repr=False)
class Values:
    """A map of names to values: numbers, texts, booleans, lists and maps of them."""

    words: str = "a map such as { rank = 8 }"
    example: str = "{ rank = 8, lr = 2e-4 }"


@frozen(eq=False, repr=False)
class TextValues:
    """A map of names to texts or numbers: an environment."""

    words: str = "a map of names to texts"
    example: str = '{ OMP_NUM_THREADS = "8" }'


@frozen(eq=False, repr=False)
class Rates:
    """A map of currencies to money."""

    words: str = "a map of currencies to money"
    example: str = "{ EUR = 1.08 USD }"


@frozen(eq=False, repr=False)
class ConditionType:
    """A condition. ``scope`` says what its names are: ``run`` (metrics and built-ins of a running run), ``results``
    (``RUN.METRIC``), or ``file`` (counts of a deliverable, and its run's last metrics)."""

    scope: str
    words: str = "a condition"

    @property
    def example(self) -> str:
        return {
            "run": "loss is not finite",
            "results": "variant.eval.accuracy - control.eval.accuracy >= 0.01",
            "file": "rows > 0 and missing_ids == 0",
        }[self.scope]


Type = (
    Text | FilePath | Boolean | Whole | DurationType | SizeType | MoneyType | PriceType | ShareType | ShareOrMoney | EventRateType | StepsType
    | DurationOrSteps | DurationOrCount | ClockType | ClockOrOffset | DateType | Zone | CurrencyType | Word | Reference | Gpus | Metric | Metrics
    | Texts | Arguments | WholeNumbers | Words | Values | TextValues | Rates | ConditionType
)  # fmt: skip


@frozen(eq=False, repr=False)
class AttributeInfo:
    """What the language says of one attribute."""

    name: str
    type: Type
    doc: str
    required: bool = False
    default: str | None = None
    """The default in words or as the language writes it; None where leaving it out means unknown or none."""
    example: str | None = None

    @property
    def shown_example(self) -> str:
        return self.example if self.example is not None else str(self.type.example)


@frozen(eq=False, repr=False)
class BlockInfo:
    """What the language says of one kind of block."""

    kind: str
    doc: str
    attributes: dict[str, AttributeInfo]
    name: str = "required"
    """Whether it has a name: ``required``, ``none``; ``optional``; or ``word`` (a tier's)."""
    inside: tuple[str, ...] = ("",)
    """Where it may stand: "" is top level."""
    once: bool = False
    example: str = ""


def attribute(
    type_: Type,
    doc: str,
    *,
    required: bool = False,
    default: str | None = None,
    value: Any = None,
    example: str | None = None,
    name: str | None = None,
) -> Any:
    """A field of a block class. ``value`` is what it holds when the author left it out; ``name`` where Python keeps the word."""
    metadata = {"campc": (type_, doc, required, default, example, name)}
    return field(default=value, metadata=metadata)


def attributes_of(cls: type) -> dict[str, AttributeInfo]:
    """The attributes that a block class declares, in order, by the name that the language uses."""
    found: dict[str, AttributeInfo] = {}
    for declared in records.fields(cls):
        if "campc" in declared.metadata:
            type_, doc, required, default, example, name = declared.metadata["campc"]
            word = name or declared.name
            found[word] = AttributeInfo(word, type_, doc, required, default, example)
    return found
