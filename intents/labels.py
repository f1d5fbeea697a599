"""Patterns for labels of controls and windows by kind, from `data/labels.yaml`."""

from __future__ import annotations

import re
from functools import cache

from intents.tables import table


@cache
def label(kind: str) -> re.Pattern[str]:
    """Return the case-insensitive pattern for labels of a kind.

    Raises:
        KeyError: The table has no such kind.
    """
    return re.compile("|".join(f"(?:{each})" for each in table("labels")[kind]), re.IGNORECASE | re.DOTALL)
