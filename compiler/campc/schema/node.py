"""What every decoded block has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from campc import records
from campc.records import field, frozen
from campc.schema.types import BlockInfo, attribute, attributes_of
from campc.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, dataclass_transform

    N = TypeVar("N", bound="Node")
else:

    def dataclass_transform(**how):
        return lambda decorator: decorator


@frozen(kw_only=True, eq=False, repr=False)
class Node:
    """A decoded block: where it stands, and where each of its attributes does."""

    name: str
    """Its name; the kind, for a block without one."""
    at: Span = field(repr=False)
    """All of it."""
    head: Span = field(repr=False)
    """From its kind to before the brace."""
    name_at: Span = field(repr=False)
    places: Mapping[str, Span] = field(factory=dict, repr=False)
    """The place of each attribute that was written."""
    values_at: Mapping[str, Span] = field(factory=dict, repr=False)
    """The place of each attribute's value."""
    broken: frozenset[str] = frozenset()
    """Attributes that were written (or needed) and could not be read; they were reported already."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def place(self, attribute: str) -> Span:
        """Where an attribute stands; the block's first line where it was left out."""
        return self.places.get(attribute, self.head)

    def value_place(self, attribute: str) -> Span:
        """Where an attribute's value stands; the block's first line where it was left out."""
        return self.values_at.get(attribute, self.head)

    def wrote(self, attribute: str) -> bool:
        """Whether the author wrote the attribute in this very block."""
        return attribute in self.places


BLOCKS: dict[str, BlockInfo] = {}
CLASSES: dict[str, type[Node]] = {}


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False, field_specifiers=(attribute, field))
def block(
    kind: str, *, name: str = "required", inside: tuple[str, ...] = ("",), once: bool = False, example: str = ""
) -> Callable[[type[N]], type[N]]:
    """Enter a class into the schema as the kind of block of that name; its docstring is the block's."""

    def enter(cls: type[N]) -> type[N]:
        frozen_cls = records.frozen(kw_only=True, eq=False, repr=False)(cls)
        BLOCKS[kind] = BlockInfo(
            kind, (cls.__doc__ or "").strip(), attributes_of(frozen_cls), name, inside, once, example.strip("\n")
        )
        CLASSES[kind] = frozen_cls
        return frozen_cls

    return enter
