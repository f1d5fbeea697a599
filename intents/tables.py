"""The word lists and tables of ``intents/data``, each loaded once when it is first used."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

try:
    from yaml import CBaseLoader as _Loader
except ImportError:  # PyYAML without libyaml
    from yaml import BaseLoader as _Loader  # type: ignore[assignment]


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """Return a table whose scalars are all strings, so that "on" and "no" are words."""
    text = (files("intents") / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=_Loader)  # builds strings, lists and dicts only
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
