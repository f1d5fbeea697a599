"""The words of keys: which of them count, which contradict each other, and which name applications.

An embedding hardly tells "zoom in" from "zoom out", nor a task in one application from the same in another. Both are
told here by words, so that experience that would mislead is not returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from memory_store.keys import FILLERS

_WORD = re.compile(r"\w+(?:[-+.]\w+)*")
_SPLIT = re.compile(r"[^0-9a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_OPPOSITES = """
open/close show/hide unhide/hide enable/disable activate/deactivate start/stop
play/pause increase/decrease raise/lower enlarge/reduce enlarge/shrink bigger/smaller larger/smaller grow/shrink
maximize/minimize add/remove add/delete insert/delete insert/remove create/delete create/remove lock/unlock
mute/unmute check/uncheck tick/untick select/deselect select/unselect expand/collapse undo/redo
ascending/descending a-z/z-a import/export upload/download send/receive connect/disconnect mount/unmount
install/uninstall subscribe/unsubscribe bookmark/unbookmark pin/unpin freeze/unfreeze merge/split merge/unmerge
join/split encrypt/decrypt compress/extract zip/unzip pack/unpack archive/extract left/right
forward/backward horizontal/vertical
horizontally/vertically landscape/portrait clockwise/counterclockwise clockwise/anticlockwise uppercase/lowercase
light/dark bold/unbold superscript/subscript read/unread group/ungroup wrap/unwrap
attach/detach link/unlink load/unload block/unblock follow/unfollow protect/unprotect darker/lighter darker/brighter
darken/lighten darken/brighten louder/quieter louder/softer faster/slower wider/narrower
accept/reject allow/block allow/forbid allow/deny permit/forbid
restore/delete save/discard hide/reveal underline/strikethrough
sharpen/blur display/hide reopen/close
open/shut activate/disable loop/unloop recover/delete recover/erase restore/erase
restore/remove restore/discard
"""

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


def content_words(text: str) -> list[str]:
    """Return the words of a text that say what it is about, in order, each once, in lower case."""
    words = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if word not in FILLERS))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what forms of one English word have in common, roughly."""
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: len(word) - len(ending)] + kept
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in content_words(text))


def _read_opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        left, _, right = pair.partition("/")
        found.setdefault(stem(left), set()).add(stem(right))
        found.setdefault(stem(right), set()).add(stem(left))
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITE = _read_opposites()
_UNDOING = frozenset(map(stem, ("remove", "delete", "erase", "discard", "uninstall", "undo", "cancel", "revert")))
_LESSENING = _UNDOING | frozenset(
    map(
        stem,
        (
            *("clear", "cut", "trim", "crop", "drop", "trash", "empty", "close", "quit", "strip", "hide", "disable"),
            *("exit", "wipe", "reset", "stop", "end", "block", "clean", "eliminate", "exclude", "reduce", "off"),
        ),
    )
)


def opposite(query: str, key: str) -> tuple[str, str] | None:
    """Return a word of the query and its opposite in the key, where the one asks for what the other undoes."""
    asked, learned = _actions(query), _actions(key)
    for word in sorted(asked - learned):
        for other in sorted(_OPPOSITE.get(word, frozenset()) & learned - asked):
            return word, other
    for word, other in (*_undone(asked, learned), *((b, a) for a, b in _undone(learned, asked))):
        return word, other
    undoing = asked & _UNDOING
    if undoing and not learned & _LESSENING:
        return min(undoing), "(no such word)"
    return None


def _undone(some: frozenset[str], others: frozenset[str]) -> list[tuple[str, str]]:
    """Return words such as "unpin" and "fade out" with what they undo in the other text."""
    found = []
    for word in sorted(some - others):
        if word.startswith(("un", "dis")) and len(word) > 4:
            found += [(word, rest) for rest in (word[2:], word[3:]) if rest in others]
        verb, _, particle = word.partition(" ")
        if particle in ("out", "off"):
            found += [(word, f"{verb} {other}") for other in ("in", "on") if f"{verb} {other}" in others]
    return found


@lru_cache(maxsize=4096)
def _actions(text: str) -> frozenset[str]:
    words = [word.casefold() for word in _WORD.findall(text)]
    found = {stem(word) for word in words if word not in FILLERS}
    # "in", "on", "out" and "off" are opposites only behind the same verb: "turn on", "zoom in".
    for verb, word in pairwise(words):
        if word in ("in", "on", "out", "off"):
            found.add(f"{stem(verb)} {word}")
    return frozenset(found)


@lru_cache(maxsize=4096)
def without_applications(text: str) -> str:
    """Return a text without the applications it names, for embedding: they are compared apart from the meaning."""
    plain = " ".join(_IN_APPLICATION.sub(" ", text).split())
    return plain if content_words(plain) else text


@lru_cache(maxsize=4096)
def mentioned(text: str) -> frozenset[str]:
    """Return the applications that a text names."""
    return frozenset(_NAMES[name] for name in _NAMED.findall(text.casefold()))


@lru_cache(maxsize=4096)
def application(name: str) -> str:
    """Return one name for the ways in which an application is written ("org.gnome.Calculator", "LibreOffice Calc")."""
    if not name:
        return ""
    plain = " ".join(part for part in _SPLIT.split(_CAMEL.sub(" ", name).casefold()) if part)
    known = [_NAMES[alias] for alias in _NAMED.findall(plain)] or [_NAMES[a] for a in _NAMED.findall(name.casefold())]
    return known[-1] if known else plain


def other_application(query: str, key: str, app: str, candidates: Iterable[str]) -> str:
    """Return the application that the query names while this experience is about another one; else an empty text.

    Args:
        query: What is looked for.
        key: The key of the experience.
        app: The application of the experience; may be empty.
        candidates: Applications of all experiences that came into question.
    """
    words = f" {' '.join(_SPLIT.split(query.casefold()))} "
    asked = mentioned(query) | {name for name in map(application, candidates) if name and f" {name} " in words}
    about = {application(app)} - {""} or set(mentioned(key))
    if not asked or not about or asked & (about | mentioned(key)):
        return ""
    return min(asked)
