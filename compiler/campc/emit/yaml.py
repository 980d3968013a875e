"""YAML of plain values: mappings, lists, text, numbers, true, false and null.

Text is quoted as YAML 1.1 and 1.2 both read it: every character outside printable ASCII is escaped, so nothing in a
value can end it. Text of several printable lines stands as a literal block, for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BLOCK = re.compile(r"(?! )[\x20-\x7e]+(\n[\x20-\x7e]*)*\n")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
# Words that YAML 1.1 takes for a boolean or null where they stand as a key.
_NOT_KEYS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def yaml(tree: Mapping[str, Value]) -> str:
    """A mapping as YAML, its keys in the order given."""
    return "".join(_pairs(tree, ""))


def _pairs(tree: Mapping[str, Value], indent: str) -> list[str]:
    lines = []
    for key, value in tree.items():
        plain = _PLAIN_KEY.fullmatch(key) and key.lower() not in _NOT_KEYS
        head = f"{indent}{key if plain else quoted(key)}:"
        if isinstance(value, Mapping) and value:
            lines += [f"{head}\n", *_pairs(value, indent + "  ")]
        elif isinstance(value, str) and "\n" in value and _BLOCK.fullmatch(value):
            lines.append(f"{head} |\n")
            lines += [f"{indent}  {line}\n" if line else "\n" for line in value[:-1].split("\n")]
        else:
            lines.append(f"{head} {_scalar(value)}\n")
    return lines


def _scalar(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return quoted(value)
        case Mapping():
            return "{" + ", ".join(f"{quoted(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
        case _:
            return "[" + ", ".join(_scalar(item) for item in value) + "]"


def quoted(text: str) -> str:
    """Text in double quotes, escaped."""
    return '"' + "".join(_character(character) for character in text) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
