"""Recognition of the applications that a text names.

Embeddings hardly distinguish the same task in two applications, but the applications' names do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from intents.lexicon import content_words, stem
from intents.tables import pattern, table, words
from intents.text import split_camel_case

_SPLIT = re.compile(r"[^0-9a-z+]+")
_OWNER = re.compile(r"(?<=\w)['’]s(?!\w)")  # "KDE's system settings" names what "KDE system settings" does
_DOMAINS = frozenset({"org", "com", "net", "io", "de", "github", "gitlab"})  # what names of desktop entries begin with


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
def without_applications(text: str, named: tuple[str, ...] = ()) -> str:
    """Return a text without the applications that it names.

    Args:
        text: The text.
        named: Names of others that it contains, from `named_applications`.
    """
    if not named and not mentioned(text):
        return text
    names = {*_named().findall(text.casefold()), *map(str.casefold, named)}
    # A pattern of these names is many times faster than one of all names.
    around = pattern("in_application", names=tuple(sorted(names, key=len, reverse=True)))
    given = frozenset(map(str.casefold, named))
    plain = " ".join(
        around.sub(
            lambda found: " " if found[1].casefold() in given or _is_name(found[1], found.start(1)) else found[0], text
        ).split()
    )
    return plain if content_words(plain) else text


def _is_name(written: str, at: int) -> bool:
    return written.casefold() not in _listed("also_words") or (at > 0 and written[0].isupper())


@lru_cache(maxsize=16_384)
def mentioned(text: str) -> frozenset[str]:
    """Return the known applications that a text names."""
    text = _OWNER.sub("", text)
    # Matching without regard to case takes several times as long.
    plain = text.casefold()
    written = text if len(text) == len(plain) else plain
    found = (match for match in _named().finditer(plain) if _is_name(written[slice(*match.span())], match.start()))
    return frozenset(_names()[match.group()] for match in found)


@lru_cache(maxsize=16_384)
def application(name: str) -> str:
    """Return the canonical name of an application, for names such as "org.gnome.Calculator" or "LibreOffice Calc"."""
    for plain in (_plain(split_camel_case(name)), _plain(name)):
        words = plain.split()
        # Names stand behind domains, makers and versions ("LibreOffice 7.4 Calc"), and FocusWriter is no Writer.
        for start, word in enumerate(words):
            if known := _named().match(" ".join(words[start:])):
                return _names()[known.group()]
            if word not in _DOMAINS and word not in _listed("makers") and not word.isdigit():
                break
    return _plain(name)  # windows are also named in lower case, where words cannot be told apart


def _plain(text: str) -> str:
    return " ".join(part for part in _SPLIT.split(text.casefold()) if part)


def names_in(text: str, names: Iterable[str], any_case: bool = False) -> tuple[str, ...]:
    """Return the names of applications that a text contains.

    A name of one word counts only in the position of an application ("in Pluma", "Pluma: ..."), since it may be an
    ordinary word: "count the characters" does not refer to the application Characters. In the spelling of menus, it
    also counts after "of" or "about", and anywhere if the spelling is unmistakable ("SpeedCrunch"). Some menus write a
    name in lower case.

    Args:
        text: The text.
        names: The names.
        any_case: Whether they count in any case; otherwise "text editor" is not Text Editor.
    """
    return tuple(name for name in dict.fromkeys(names) if name and _contains(text, name, any_case))


def _contains(text: str, name: str, any_case: bool) -> bool:
    if name.casefold() not in text.casefold():
        return False
    if " " in name:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE if any_case else 0))
    found = pattern("placed_in", names=(name,)).finditer(text)
    if any(any_case or name in match.group() for match in found):
        return True
    written = re.search(rf"(?<!\w){re.escape(name)}(?!-?\w)", text, re.IGNORECASE if any_case else 0)
    return written is not None and _is_name_alone(written.group(), text, in_lower_case=not any_case)


def _is_name_alone(written: str, text: str, in_lower_case: bool) -> bool:
    """Return whether a name is written as no other word is, or stands where only a name is written like this."""
    behind = pattern("about_name", names=(written,)).finditer(text)
    return written[1:] != written[1:].casefold() or (
        (in_lower_case or written != written.casefold()) and any(written in match.group() for match in behind)
    )


def named_applications(text: str, apps: Iterable[str], display_names: Mapping[str, str]) -> dict[str, str]:
    """Return the applications that a text names, each with how it is written there; known ones with an empty text.

    Args:
        text: The text.
        apps: Candidate applications, as named by their windows.
        display_names: Names in menus, by lower-case names of windows, which are candidates as well.
    """
    known = mentioned(text)
    found = dict.fromkeys(known, "")
    found |= {
        application(app): name
        for app in dict.fromkeys(apps)
        if application(app) not in found or app.casefold() not in _names()  # "PCManFM-Qt" is known as "PCManFM"
        for name in names_in(text, _spoken(app), any_case=True)[:1]
    }
    shown = set(names_in(text, display_names.values()))
    return found | {
        application(app): name if name in shown else ""
        for app, name in display_names.items()
        if (name in shown or application(name) in known) and application(app) not in found
    }


def _spoken(app: str) -> list[str]:
    """Return what people write for the name of a window: itself, without a domain, and with spaces ("File Roller")."""
    domain, _, last = app.rpartition(".")
    in_domain = domain.partition(".")[0].casefold() in _DOMAINS
    # "org.gnome.Characters" is known by its name in menus, since "characters" may be an ordinary word.
    names = [app, last] if in_domain and last.islower() else [app]
    return [*names, *(re.sub(r"[-_]+", " ", name) for name in names)]


def applications_of(query: str, candidates: Iterable[str]) -> frozenset[str]:
    """Return the applications that a query names.

    These are known applications and candidates; if there are none, words written like an application ("in Gnumeric").

    Args:
        query: The text.
        candidates: Applications of the experiences that may answer it.
    """
    spaced, named = f" {_plain(query)} ", _named_like_one(query)
    known = {name for name in map(application, candidates) if name and f" {name} " in spaced}
    ambiguous = (_listed("also_words") | _listed("no_applications")) - named
    return mentioned(query) | (known - ambiguous) or named


@lru_cache(maxsize=1024)
def _named_like_one(query: str) -> frozenset[str]:
    found = set()
    for name in pattern("named_application").findall(_OWNER.sub("", query)):
        parts = set(name.casefold().split())
        if not name.isupper() and not parts & _listed("no_applications") and parts - _listed("makers"):
            found.add(name.casefold())
    return frozenset(found)


def is_about_another(asked: frozenset[str], key: str, app: str) -> bool:
    """Return whether an experience is about an application that a query does not name.

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
    """Return whether two names share a word, such as "Telegram" and "Telegram Desktop", without different vendors."""
    left, right, makers = frozenset(_SPLIT.split(name)), frozenset(_SPLIT.split(other)), _listed("makers")
    if left & makers and right & makers and not left & right & makers:
        return False
    return not set(map(stem, left - makers)).isdisjoint(map(stem, right - makers))
