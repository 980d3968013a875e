"""Strings as they are written: escapes, and the indent of long ones."""

from __future__ import annotations

import re

from campc.values.reading import NotAValue

_ESCAPE = re.compile(r"\\(?:u\{([^}\"\n]*)\}|(.|\n|$))", re.DOTALL)
_PLAIN_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def read_string(text: str) -> str | NotAValue:
    """The text that a string literal, with its quotes, stands for.

    Of one in three quotes, a line break after the opening quotes, the indent that all lines with text have in common, and a
    last line of nothing but spaces are left out; its line ends count as ``\\n``.
    """
    if not text.startswith('"""'):
        return text[1:-1] if "\\" not in text else _unescape(text[1:-1], 1)
    body = text[3:-3]
    if "\\" in body:
        faulty = _unescape(body, 3)
        if isinstance(faulty, NotAValue):
            return faulty
    dedented = _dedent(body)
    return _unescape(dedented, 3) if "\\" in dedented else dedented


def _unescape(body: str, offset: int) -> str | NotAValue:
    pieces, at = [], 0
    for match in _ESCAPE.finditer(body):
        pieces.append(body[at : match.start()])
        at = match.end()
        code, plain = match.groups()
        place = offset + match.start()
        if plain is not None:
            if plain not in _PLAIN_ESCAPES:
                what = "a backslash at the end of a line" if plain in ("\n", "\r", "") else f"\\{plain}"
                return NotAValue(
                    f"{what} is not an escape",
                    None,
                    place,
                    offset + match.end(),
                    help='escapes are \\" \\\\ \\n \\t \\u{1F600}; a backslash itself is written \\\\',
                )
            pieces.append(_PLAIN_ESCAPES[plain])
            continue
        number = int(code, 16) if re.fullmatch(r"[0-9a-fA-F]{1,6}", code) else -1
        if not 0 < number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            return NotAValue(
                f"{match[0]} is not a character",
                None,
                place,
                offset + match.end(),
                help="write the number of a Unicode character in hexadecimal, for example \\u{1F600}",
            )
        pieces.append(chr(number))
    pieces.append(body[at:])
    return "".join(pieces)


def _dedent(body: str) -> str:
    lines = body.replace("\r\n", "\n").split("\n")
    first_on_own_line = len(lines) > 1 and not lines[0].strip(" \t")
    if first_on_own_line:
        del lines[0]
    if len(lines) > 1 and not lines[-1].strip(" \t"):
        del lines[-1]
        # the line break before the closing quotes belongs to their indent
    counted = lines if first_on_own_line else lines[1:]
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in counted if line.strip(" \t")]
    margin = _common(margins)
    kept = [line[len(margin) :] if line.startswith(margin) else line.lstrip(" \t") for line in counted]
    return "\n".join(kept if first_on_own_line else [*lines[:1], *kept])


def _common(margins: list[str]) -> str:
    if not margins:
        return ""
    low, high = min(margins), max(margins)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:size]
