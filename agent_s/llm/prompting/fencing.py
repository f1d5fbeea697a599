"""Text from outside (screen, web, memory), fenced off so that a model can tell it from its instructions.

A fence carries a mark made of a secret and the text itself: nobody who writes on the screen can guess it, it fits no
other text should the model ever repeat it, and the same text gets the same mark again, so that providers' caches hold.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata

KINDS = ("screen", "web", "memory", "notes")
"""Where a text may come from; `notes` are words of a model that has read such texts."""

_LOOKS_LIKE_FENCE = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(KINDS)})\b)", re.IGNORECASE)
_KEPT = frozenset("\n\t\u200d")


class Fence:
    """Puts texts between marks.

    Args:
        secret: Makes the marks; nobody outside of the program may know it.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __call__(self, text: str, kind: str) -> str:
        """Return the text between two marked lines, with what could imitate them escaped.

        Args:
            text: Anything.
            kind: One of `KINDS`.
        """
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}")
        body = neutral(text)
        mark = hmac.new(self._secret, f"{kind}\n{body}".encode(), hashlib.sha256).hexdigest()[:10]
        return f"<{kind}-{mark}>\n{body}\n</{kind}-{mark}>"


def neutral(text: str) -> str:
    """Return a text without characters that hide, reorder or break it, and without anything like a fence."""
    visible = "".join(character if _harmless(character) else f"\\u{{{ord(character):x}}}" for character in text)
    return escape_fences(visible)


def escape_fences(text: str) -> str:
    """Return a text without anything that looks like the beginning of a fence."""
    return _LOOKS_LIKE_FENCE.sub("&lt;", text)


def sendable(text: str) -> str:
    """Return a text that can be encoded: a lone surrogate becomes the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _harmless(character: str) -> bool:
    return character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")
