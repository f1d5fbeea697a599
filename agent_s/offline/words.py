"""The words and names of `words.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from intents.tables import read_table
from intents.templates import Template

TABLE: dict[str, Any] = read_table("agent_s.offline", "words.yaml")
BUTTONS: dict[str, tuple[str, ...]] = {meaning: tuple(names) for meaning, names in TABLE["buttons"].items()}
"""Names of buttons by what they do, the plainest first."""
FIELDS: dict[str, tuple[str, ...]] = {content: tuple(labels) for content, labels in TABLE["fields"].items()}
"""Labels of fields by their content."""


def one_of(phrases: Iterable[str]) -> str:
    """Return a regular expression that matches any of some templates without slots."""
    return f"(?:{'|'.join(f'(?:{Template(phrase).source})' for phrase in phrases)})"


def meanings(key: str) -> dict[str, str]:
    """Return the group of each word in a table, such as {"ticked": "checked", ...}."""
    return {word: meaning for meaning, words in TABLE[key].items() for word in words}
