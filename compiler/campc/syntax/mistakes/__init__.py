"""Common mistakes, each with bad examples: what to say, and how to read on as if it had not been made.

The first recogniser that knows the situation speaks; its examples are its tests. Where none does, the message says what stood
there and what could. The order of these modules, and of the recognisers in each, is the order in which they are asked.
"""

from campc.syntax.mistakes import blocks, names, brackets, operands  # isort: skip
from campc.syntax.mistakes.table import MISTAKES, Finding, Recogniser, tell

__all__ = ["MISTAKES", "Finding", "Recogniser", "blocks", "brackets", "names", "operands", "tell"]
