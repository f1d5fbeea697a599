"""Quoting of text from the screen, so that no application can forge a line of an observation."""

from __future__ import annotations

import unicodedata

LONGEST_NAME = 200
LONGEST_TEXT = 600


def quote(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text in double quotes on one line, shortened in the middle if it is long.

    Quotes, backslashes and characters that move the cursor, break the line or change the writing direction are escaped.
    """
    if len(text) > longest:
        head, tail = longest * 2 // 3, longest // 3
        return f"{_escaped(text[:head])} ... {_escaped(text[-tail:])} ({len(text)} characters)"
    return _escaped(text)


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'  # fast path for nearly all of the hundreds of texts on a screen
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == "\n":
        return "\\n"
    if character == "\t":
        return "\\t"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn") and character != "\u200d":
        return f"\\u{{{ord(character):x}}}"
    return character
