"""Recognition of the applications that a text names.

An embedding hardly distinguishes a task in one application from the same task in another; their names do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from intents.lexicon import content_words, stem
from intents.tables import pattern, table, words
from intents.text import split_camel_case

_SPLIT = re.compile(r"[^0-9a-z+]+")


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Return the name of an application by each way in which it is written."""
    listed = (line.split(", ") for line in table("applications")["names"])
    return {alias: aliases[0] for aliases in listed for alias in aliases}


def _listed(key: str) -> frozenset[str]:
    return words("applications", key)


@lru_cache(maxsize=1)
def _named() -> re.Pattern[str]:
    names = "|".join(re.escape(alias) for alias in sorted(_names(), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{names})(?!\w)")


@lru_cache(maxsize=16_384)
def without_applications(text: str) -> str:
    """Return a text without the applications that it names."""
    if not mentioned(text):
        return text
    written = tuple(sorted(set(_named().findall(text.casefold())), key=len, reverse=True))
    # A pattern of these names is many times faster than one of all names.
    around = pattern("in_application", names=written)
    plain = " ".join(around.sub(_unless_word, text).split())
    return plain if content_words(plain) else text


def _unless_word(found: re.Match[str]) -> str:
    return " " if _is_name(found.group(1), found.start(1)) else found.group()


def _is_name(written: str, at: int) -> bool:
    return written.casefold() not in _listed("also_words") or (at > 0 and written[0].isupper())


@lru_cache(maxsize=16_384)
def mentioned(text: str) -> frozenset[str]:
    """Return the known applications that a text names."""
    # Matching without regard to case takes several times as long.
    plain = text.casefold()
    written = text if len(text) == len(plain) else plain
    found = (match for match in _named().finditer(plain) if _is_name(written[slice(*match.span())], match.start()))
    return frozenset(_names()[match.group()] for match in found)


@lru_cache(maxsize=16_384)
def application(name: str) -> str:
    """Return one name for the ways in which an application is written ("org.gnome.Calculator", "LibreOffice Calc")."""
    if not name:
        return ""
    plain = " ".join(part for part in _SPLIT.split(split_camel_case(name).casefold()) if part)
    known = _named().findall(plain) or _named().findall(name.casefold())
    return _names()[known[-1]] if known else plain


def applications_of(query: str, candidates: Iterable[str]) -> frozenset[str]:
    """Return the applications that a query names.

    These are known applications and candidates; if it names none of them, what is written like one ("in Gnumeric").

    Args:
        query: The text.
        candidates: Applications of the experiences that may answer it.
    """
    spaced = f" {' '.join(_SPLIT.split(query.casefold()))} "
    named = _named_like_one(query)
    known = {name for name in map(application, candidates) if name and f" {name} " in spaced}
    ambiguous = (_listed("also_words") | _listed("no_applications")) - named
    return mentioned(query) | (known - ambiguous) or named


@lru_cache(maxsize=1024)
def _named_like_one(query: str) -> frozenset[str]:
    found = set()
    for name in pattern("named_application").findall(query):
        parts = set(name.casefold().split())
        if not name.isupper() and not parts & _listed("no_applications") and parts - _listed("makers"):
            found.add(name.casefold())
    return frozenset(found)


def is_about_another(asked: frozenset[str], key: str, app: str) -> bool:
    """Return whether an experience is about another application than those that a query names.

    Args:
        asked: The result of `applications_of` for the query.
        key: The key of the experience.
        app: The application of the experience; may be empty.
    """
    if not asked or application(app) in asked:
        return False
    named = mentioned(key) | _named_like_one(key)
    about = named | ({application(app)} - {""})
    if not about or asked & about:
        return False
    unknown = asked.difference(_names().values())
    return not any(name in key.casefold() or _same_name(name, other) for name in unknown for other in about)


def _same_name(name: str, other: str) -> bool:
    """Return whether two names share a word, as "Telegram" and "Telegram Desktop", and name no two makers."""
    left, right, makers = frozenset(_SPLIT.split(name)), frozenset(_SPLIT.split(other)), _listed("makers")
    if left & makers and right & makers and not left & right & makers:
        return False
    return not set(map(stem, left - makers)).isdisjoint(map(stem, right - makers))
