"""A Pygments lexer for ``.campaign`` files: found by its name ``campaign``, once campc is installed beside Pygments."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_DECIMAL = r"\d[\d_]*(?:\.\d[\d_]*)?"
_TIME = r"(?:s|min|h|d|w)"


class CampaignLexer(RegexLexer):
    """Colours what the grammar alone tells; which blocks and attributes exist is the compiler's business."""

    name = "Campaign"
    aliases: ClassVar = ["campaign"]
    filenames: ClassVar = ["*.campaign"]
    url = ""
    version_added = ""

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (
                r"(#[ \t]*)(campc:[ \t]*allow)([ \t]+)(C\d{3})([^\n]*)",
                bygroups(Comment.Single, Comment.Special, Comment.Single, Comment.Special, Comment.Single),
            ),
            (r"#[^\n]*", Comment.Single),
            (r'"""', String.Double, "text"),
            (r'"', String.Double, "string"),
            (r'(use)([ \t]*)(?=")', bygroups(Keyword.Namespace, Whitespace)),
            (
                rf"(let)([ \t]+)({_WORD})([ \t]*)(=)(?!=)",
                bygroups(Keyword.Declaration, Whitespace, Name.Constant, Whitespace, Operator),
            ),
            (rf"({_WORD})([ \t]*)(?=\{{)", bygroups(Keyword.Type, Whitespace)),
            (
                rf"({_WORD})([ \t]+)({_WORD})([ \t]*)(?=\{{)",
                bygroups(Keyword.Type, Whitespace, Name.Class, Whitespace),
            ),
            (
                rf'({_WORD})([ \t]*)("(?:[^"\\\n]|\\.)*")([ \t]*)(?=\{{)',
                bygroups(Keyword.Type, Whitespace, Name.Class, Whitespace),
            ),
            (rf"({_WORD})([ \t]*)(=)(?!=)", bygroups(Name.Attribute, Whitespace, Operator)),
            (
                r"\d{4}-\d{2}-\d{2}(?:(?:T|[ \t]+(?=\d{2}:))\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?\b",
                String.Other,
            ),
            (
                rf"({_DECIMAL})([ \t]*(?:[A-Z]{{3}}[ \t]+)?per[ \t]+)((?:{_DECIMAL})?)([ \t]*{_TIME})\b",
                bygroups(Number, Keyword.Pseudo, Number, Keyword.Pseudo),
            ),
            (rf"({_DECIMAL})([ \t]*[A-Z]{{3}})\b", bygroups(Number, Keyword.Pseudo)),
            (rf"({_DECIMAL})([ \t]*(?:[kKMGTP]i?)?B(?:/{_TIME})?)\b", bygroups(Number, Keyword.Pseudo)),
            (rf"({_DECIMAL})([ \t]?{_TIME})(?=\d|\b)", bygroups(Number, Keyword.Pseudo)),
            (rf"({_DECIMAL})([ \t]+steps?)\b", bygroups(Number, Keyword.Pseudo)),
            (rf"({_DECIMAL})([ \t]*%)", bygroups(Number, Keyword.Pseudo)),
            (rf"{_DECIMAL}(?:[eE][+-]?\d+)?", Number),
            (words(("true", "false"), prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(("and", "or", "not", "is"), prefix=r"\b", suffix=r"\b"), Operator.Word),
            (r"(?:mean|min|max|std)(?=[ \t]*\()", Name.Builtin),
            (rf"{_WORD}(?:\.{_WORD})*", Name),
            (r"\.\.|[=!<>]=|[<>+\-*/=]", Operator),
            (r"[{}\[\]();,]", Punctuation),
            # A letter or sign that belongs nowhere: the compiler says so, the colours don't.
            (r".", Text),
        ],
        "string": [
            (r'[^"\\\n{]+', String.Double),
            (r"\\(?:u\{[0-9A-Fa-f]+\}|.)", String.Escape),
            (r"\{path\}", String.Interpol),
            (r'"|(?=\n)', String.Double, "#pop"),
            (r"[{\\]", String.Double),
        ],
        "text": [
            (r'[^"\\{]+', String.Double),
            (r"\\(?:u\{[0-9A-Fa-f]+\}|.)", String.Escape),
            (r"\{path\}", String.Interpol),
            (r'"""', String.Double, "#pop"),
            (r'["{\\]', String.Double),
        ],
    }
