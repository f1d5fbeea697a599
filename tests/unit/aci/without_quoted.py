"""A text for a model without the quoted parts, which come from the screen."""

from __future__ import annotations

import re

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def without_quoted(text: str) -> str:
    """Return a text with nothing between its quotation marks."""
    return _QUOTED.sub('""', text)
