"""The words of keys: which of them count, what forms of a word have in common, and which name applications.

An embedding hardly tells a task in one application from the same in another; that is told here by words, so that
experience that would mislead is not returned. What verbs ask for is told by `memory_store.actions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memory_store.keys import FILLERS

_WORD = re.compile(r"\w+(?:[-+.]\w+)*")
_SPLIT = re.compile(r"[^0-9a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

APPLICATIONS: dict[str, tuple[str, ...]] = {
    "calc": ("calc",),
    "writer": ("writer",),
    "impress": ("impress",),
    "excel": ("excel",),
    "word": ("microsoft word", "ms word"),
    "powerpoint": ("powerpoint",),
    "gimp": ("gimp",),
    "inkscape": ("inkscape",),
    "krita": ("krita",),
    "blender": ("blender",),
    "vlc": ("vlc",),
    "audacity": ("audacity",),
    "chromium": ("chromium", "chrome", "google-chrome"),
    "firefox": ("firefox",),
    "edge": ("microsoft edge", "msedge"),
    "thunderbird": ("thunderbird",),
    "evolution": ("evolution",),
    "outlook": ("outlook",),
    "vscode": ("vs code", "vscode", "visual studio code", "code-oss"),
    "mousepad": ("mousepad",),
    "gedit": ("gedit",),
    "kate": ("kate",),
    "gnome text editor": ("gnome text editor", "gnome-text-editor"),
    "notepad": ("notepad",),
    "thunar": ("thunar",),
    "nautilus": ("nautilus",),
    "dolphin": ("dolphin",),
    "gnome calculator": ("gnome calculator", "gnome-calculator", "galculator", "kcalc"),
    "terminal": ("terminal", "xterm", "konsole"),
    "evince": ("evince", "document viewer"),
    "okular": ("okular",),
    "rhythmbox": ("rhythmbox",),
    "spotify": ("spotify",),
    "slack": ("slack",),
    "zoom": ("zoom meeting", "zoom client"),
    "obs": ("obs studio", "obs"),
    "kdenlive": ("kdenlive",),
    "shotwell": ("shotwell",),
    "gnome settings": ("gnome settings", "gnome-control-center", "system settings"),
}
"""Names of applications, with the ways they are written."""

_NAMES = {alias: name for name, aliases in APPLICATIONS.items() for alias in aliases}
_IN_APPLICATION = re.compile(
    r"(?:\s+(?:in|with|using|of|for|from|by means of))?(?:\s+(?:a|an|the))?\s+(?:LibreOffice\s+)?(?:"
    + "|".join(re.escape(alias) for alias in sorted(_NAMES, key=len, reverse=True))
    + r")(?:\s+(?:browser|editor|text editor|file manager|media player|document|window|application|app))?(?!\w)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(alias) for alias in sorted(_NAMES, key=len, reverse=True)) + r")(?!\w)"
)

_NAME = re.compile(
    r"(?<!\w)(?:in|inside|within|with|using|from|of|via)\s+(?:the\s+)?((?:[A-Z]|[a-z]+[A-Z])[\w.+'-]*(?:\s+[A-Z][\w.+'-]*)*)"
)
_MAKERS = frozenset("gnome kde xfce libreoffice google microsoft apple mozilla adobe".split())  # noqa: SIM905
_NO_APPLICATION = frozenset(
    """
    documents downloads pictures music videos photos desktop home trash templates public files settings calculator
    calendar clocks mail browser web terminal text editor document image viewer system preferences menu file edit view
    insert format tools help window windows linux english german french spanish italian portuguese dutch chinese
    japanese korean russian arabic january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday bold italic save cancel ok
    """.split()  # noqa: SIM905
)
"""What else begins with a capital letter: folders, menus, languages, months, and names that many applications share."""


def content_words(text: str) -> list[str]:
    """Return the words of a text that say what it is about, in order, each once, in lower case."""
    words = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if word not in FILLERS))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return what forms of one English word have in common, roughly."""
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: len(word) - len(ending)] + kept
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in content_words(text))


@lru_cache(maxsize=16_384)
def without_applications(text: str) -> str:
    """Return a text without the applications it names, for embedding: they are compared apart from the meaning."""
    plain = " ".join(_IN_APPLICATION.sub(" ", text).split())
    return plain if content_words(plain) else text


@lru_cache(maxsize=16_384)
def mentioned(text: str) -> frozenset[str]:
    """Return the applications that a text names."""
    return frozenset(_NAMES[name] for name in _NAMED.findall(text.casefold()))


@lru_cache(maxsize=16_384)
def application(name: str) -> str:
    """Return one name for the ways in which an application is written ("org.gnome.Calculator", "LibreOffice Calc")."""
    if not name:
        return ""
    plain = " ".join(part for part in _SPLIT.split(_CAMEL.sub(" ", name).casefold()) if part)
    known = [_NAMES[alias] for alias in _NAMED.findall(plain)] or [_NAMES[a] for a in _NAMED.findall(name.casefold())]
    return known[-1] if known else plain


def applications_of(query: str, candidates: Iterable[str]) -> frozenset[str]:
    """Return the applications that a query names.

    These are known ones and those of experiences that come into question; where there is none of them, what is named
    like one ("in Gnumeric").
    """
    words = f" {' '.join(_SPLIT.split(query.casefold()))} "
    known = mentioned(query) | {name for name in map(application, candidates) if name and f" {name} " in words}
    return known or _named_like_one(query)


@lru_cache(maxsize=1024)
def _named_like_one(query: str) -> frozenset[str]:
    found = set()
    for name in _NAME.findall(query):
        words = set(name.casefold().split())
        if not name.isupper() and not words & _NO_APPLICATION and words - _MAKERS:
            found.add(name.casefold())
    return frozenset(found)


def is_about_another(asked: frozenset[str], key: str, app: str) -> bool:
    """Tell whether an experience is about another application than those that a query names.

    Args:
        asked: What `applications_of` says of the query.
        key: The key of the experience.
        app: The application of the experience; may be empty.
    """
    if not asked:
        return False
    about = {application(app)} - {""} or set(mentioned(key)) or set(_named_like_one(key))
    if not about or asked & (about | mentioned(key)):
        return False
    # "Telegram" is "Telegram Desktop".
    words = {stem(word) for name in (*about, key.casefold()) for word in _SPLIT.split(name)}
    unknown = (set(_SPLIT.split(name)) - _MAKERS for name in asked if name not in APPLICATIONS)
    return not any(words & set(map(stem, name)) for name in unknown)
