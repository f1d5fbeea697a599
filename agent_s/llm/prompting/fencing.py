"""Fences around untrusted text (screen, web, memory), so that a model can tell it from its instructions.

The mark of a fence is derived from a secret and the text itself. So text on the screen cannot forge it, a mark that the
model repeats is of no use for another text, and equal texts get equal marks, which keeps providers' caches valid.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata

KINDS = ("screen", "web", "memory", "notes")
"""Sources of text; `notes` are words of a model that has read untrusted text."""

_LOOKS_LIKE_FENCE = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(KINDS)})\b)", re.IGNORECASE)
_KEPT = frozenset("\n\t\u200d")


class Fence:
    """Puts fences around texts.

    Args:
        secret: The secret from which marks are derived.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __call__(self, text: str, kind: str) -> str:
        """Return the text between two marked lines, with imitations of them escaped.

        Args:
            text: The untrusted text.
            kind: One of `KINDS`.
        """
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; there are: {', '.join(KINDS)}")
        body = neutral(text)
        mark = hmac.new(self._secret, f"{kind}\n{body}".encode(), hashlib.sha256).hexdigest()[:10]
        return f"<{kind}-{mark}>\n{body}\n</{kind}-{mark}>"


def neutral(text: str) -> str:
    """Return a text with control characters written out and imitations of fences escaped."""
    visible = "".join(character if _harmless(character) else f"\\u{{{ord(character):x}}}" for character in text)
    return escape_fences(visible)


def escape_fences(text: str) -> str:
    """Return a text with imitations of fences escaped."""
    return _LOOKS_LIKE_FENCE.sub("&lt;", text)


def sendable(text: str) -> str:
    """Return a text with lone surrogates replaced, so that it can be encoded."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _harmless(character: str) -> bool:
    return character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")
