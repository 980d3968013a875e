"""What is remembered of an edited text from one compilation to the next."""

from __future__ import annotations

from campc.recall import Recall
from campc.records import define, field
from campc.resolve.memory import Memory as Resolutions
from campc.syntax.texts import Texts


@define
class Memory:
    """What a text that is edited was compiled to, so that the next compilation of it does only what the edit calls for.

    ``texts`` may be shared by several. Places in what was compiled before move along with the text, and hold of the new one alone.
    """

    texts: Texts = field(factory=Texts)
    resolved: Resolutions = field(factory=Resolutions)
    recall: Recall = field(factory=Recall)
