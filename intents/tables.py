"""Tables in YAML files, and the word lists and patterns of ``intents/data``, loaded once on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from intents.text import CLOSE, OPEN, PLACEHOLDER

try:  # at least ten times as fast
    from yaml import CBaseLoader as _Words
    from yaml import CSafeLoader as _Typed
except ImportError:  # PyYAML without libyaml
    from yaml import BaseLoader as _Words  # type: ignore[assignment]
    from yaml import SafeLoader as _Typed  # type: ignore[assignment]


def read_table(package: str, file: str, typed: bool = False) -> Any:
    """Return the content of a YAML file of a package.

    Args:
        package: The package.
        file: Path of the file in it.
        typed: Whether scalars may be numbers and booleans; else all are strings, so that "on" and "no" are words.
    """
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_Typed if typed else _Words)


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """Return a table of ``intents/data``."""
    loaded: dict[str, Any] = read_table("intents", f"data/{name}.yaml")
    return loaded


@lru_cache(maxsize=128)
def words(name: str, key: str) -> frozenset[str]:
    """Return the words that a table lists under a key."""
    return frozenset(table(name)[key].split())


def groups(name: str, *keys: str) -> Iterator[tuple[str, ...]]:
    """Yield the groups of words of each line under some keys; ``|`` separates the groups of a line."""
    for key in keys:
        for line in table(name)[key]:
            yield from (tuple(group.split()) for group in line.split("|"))


@lru_cache(maxsize=16)
def related(name: str, *keys: str, form: Callable[[str], str] = str) -> dict[str, frozenset[str]]:
    """Return for each word the other words of its groups, under some keys, in a form such as stems."""
    found: dict[str, set[str]] = {}
    for group in groups(name, *keys):
        for word in map(form, group):
            found.setdefault(word, set()).update(set(map(form, group)) - {word})
    return {word: frozenset(others) for word, others in found.items()}


@lru_cache(maxsize=1024)
def pattern(name: str, **lists: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of ``patterns.yaml``.

    Args:
        name: Its name.
        lists: Further lists of words for the pattern; of two with the same beginning, the longer one comes first.
    """
    source: str = table("patterns")[name]
    parts = {"quotation": PLACEHOLDER, "open": OPEN, "close": CLOSE}
    for key, line in table("patterns")["words"].items():
        lists[key] = tuple(line.split(", ") if "," in line else line.split())
    for key, listed in lists.items():
        parts[key] = "(?:" + "|".join(map(re.escape, listed)) + ")"
    for key, part in parts.items():
        source = source.replace(f"{{{key}}}", part)
    return re.compile(source, re.IGNORECASE | re.VERBOSE)
