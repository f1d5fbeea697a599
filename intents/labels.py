"""Patterns of what the labels of controls and windows say, by kind; the table is `data/labels.yaml`."""

from __future__ import annotations

import re
from functools import cache

from intents.tables import table


@cache
def label(kind: str) -> re.Pattern[str]:
    """Return the pattern of the labels of a kind, in any case.

    Raises:
        KeyError: The table has no such kind.
    """
    return re.compile("|".join(f"(?:{each})" for each in table("labels")[kind]), re.IGNORECASE | re.DOTALL)
