"""The words and names of `words.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import yaml

from intents.templates import Template

TABLE: dict[str, Any] = yaml.load(
    files(__package__).joinpath("words.yaml").read_text(encoding="utf-8"),
    yaml.BaseLoader,  # builds texts, lists and dicts only, so that "on" is a word
)
BUTTONS: dict[str, tuple[str, ...]] = {meaning: tuple(names) for meaning, names in TABLE["buttons"].items()}
"""Names of buttons by what they do, the plainest first."""
FIELDS: dict[str, tuple[str, ...]] = {content: tuple(labels) for content, labels in TABLE["fields"].items()}
"""Labels of fields by their content."""


def one_of(phrases: Iterable[str]) -> str:
    """Return a regular expression for one of some templates without slots."""
    return f"(?:{'|'.join(f'(?:{Template(phrase).source})' for phrase in phrases)})"


def meanings(key: str) -> dict[str, str]:
    """Return the group of each word of a table: {"ticked": "checked", ...}."""
    return {word: meaning for meaning, words in TABLE[key].items() for word in words}
