"""The names of a skill: what it is called first is its name, the other ones stand in its description.

A description is one sentence, so that people, embeddings and models read it as any other; `names_of` reads the names
back for `agent_s.replay.skill_matching`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

THEN = ", then "
"""Between the names of skills that are done in turn."""
MOST_NAMES = 8
"""Other names that a description holds."""
_LONGEST = 120
_NAME = re.compile("“([^”]*)”")
_ALSO = ", also called "
_SHOWS = ", which shows "
_BY = ", by "


def describe(what: str, others: Sequence[str], shows: Sequence[str], where: str, app: str) -> str:
    """Return the description of a skill, one sentence.

    Args:
        what: What it does, in words.
        others: Its other names.
        shows: Names of what it brings to the screen.
        where: Where it is found, such as "View > Line Numbers".
        app: The application.
    """
    names = [name for name in map(_plain, others) if name][:MOST_NAMES]
    also = _ALSO + _listed([f"“{name}”" for name in names], "or") if names else ""
    parts = [part for part in map(_plain, shows) if part]
    shown = _SHOWS + _listed([f"“{part}”" for part in parts], "and") if parts else ""
    told = _plain(what).rstrip(".")
    return f"{told[:1].upper()}{told[1:]}{also}{shown}{_BY}{where} in {app}."


def names_of(name: str, description: str) -> tuple[str, ...]:
    """Return all names of a skill, the first first, and what its description says it does."""
    told, _, rest = description.partition(_ALSO)
    others = _NAME.findall(rest.partition(_SHOWS)[0]) if rest else []
    told = told.partition(_SHOWS)[0]
    what = told if rest else told.rpartition(_BY)[0] or told
    return tuple(dict.fromkeys(each for each in (name, *others, what) if each))


def _plain(text: str) -> str:
    return " ".join(re.sub("[“”]", "", text).split())[:_LONGEST]


def _listed(parts: Sequence[str], word: str) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"
