"""The parse table at hand: the generated one, or one made afresh where the grammar has changed since."""

from __future__ import annotations

from campc.syntax import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from campc.syntax.generate import Table


def _current() -> Table | None:
    """The table of a grammar that is newer than ``tables.py``, else None."""
    from zlib import crc32

    from campc.resources import resource_folder

    try:
        with open(resource_folder("grammar") + "/campaign.lark", "rb") as file:
            grammar = file.read().replace(b"\r\n", b"\n")
    except OSError:
        return None
    if crc32(grammar) == tables.CHECKSUM:
        return None
    from campc.syntax.generate import build

    return build(grammar.decode("utf-8"))


_fresh = _current()
TERMINALS: tuple[str, ...] = _fresh.terminals if _fresh else tables.TERMINALS
NONTERMINALS: tuple[str, ...] = _fresh.nonterminals if _fresh else tables.NONTERMINALS
RULES: tuple[tuple[int, int, str], ...] = _fresh.rules if _fresh else tables.RULES
ACTIONS: tuple[dict[int, int], ...] = _fresh.actions if _fresh else tables.ACTIONS
GOTOS: tuple[dict[int, int], ...] = _fresh.gotos if _fresh else tables.GOTOS
LEXED: tuple[int, ...] = _fresh.lexed if _fresh else tables.LEXED
PATTERN: str = _fresh.pattern if _fresh else tables.PATTERN
KEYWORDS: dict[str, int] = _fresh.keywords if _fresh else tables.KEYWORDS
FIXED: dict[int, str] = _fresh.fixed if _fresh else tables.FIXED

_number = {name: index for index, name in enumerate(TERMINALS)}
END_OF_FILE = _number["$END"]
END, COMMENT = _number["END"], _number["COMMENT"]
STRING, LITERAL, WORD, DOTTED = _number["STRING"], _number["LITERAL"], _number["WORD"], _number["DOTTED"]
COMPARE, TO, EQUALS, COMMA = _number["COMPARE"], _number["TO"], _number["EQUALS"], _number["COMMA"]
PLUS, MINUS, TIMES, OVER = _number["PLUS"], _number["MINUS"], _number["TIMES"], _number["OVER"]
BRACKET_OPEN, BRACKET_CLOSE = _number["BRACKET_OPEN"], _number["BRACKET_CLOSE"]
PAREN_OPEN, PAREN_CLOSE = _number["PAREN_OPEN"], _number["PAREN_CLOSE"]
BRACE_OPEN, BRACE_CLOSE = _number["BRACE_OPEN"], _number["BRACE_CLOSE"]
MAP_OPEN, MAP_CLOSE = _number["MAP_OPEN"], _number["MAP_CLOSE"]
AND, OR, NOT, IS, USE, LET = (KEYWORDS[word] for word in ("and", "or", "not", "is", "use", "let"))

OTHER = len(TERMINALS)
"""The kind of a token that can stand nowhere."""

ITEM = NONTERMINALS.index("item")
HEAD = NONTERMINALS.index("head")
CLOSER_OF = {BRACKET_OPEN: BRACKET_CLOSE, PAREN_OPEN: PAREN_CLOSE, BRACE_OPEN: BRACE_CLOSE}
WORDS = frozenset({WORD, *KEYWORDS.values()})
ITEM_STATES = frozenset(state for state, gotos in enumerate(GOTOS) if ITEM in gotos)
"""The states in which an item may begin."""
