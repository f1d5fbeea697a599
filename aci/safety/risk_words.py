"""Words in the languages that desktops speak most by which buttons, fields and windows reveal what using them does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from intents.tables import read_table

Kind = Literal[
    "irreversible", "question", "trash", "closing", "agreeing", "paste", "password", "terminals", "file_managers",
    "mailers",
]  # fmt: skip

SECRET = re.compile(r"\{\{\s*secret\s*:")  # how texts name a secret that is filled in while they are typed
# Marks of unsaved changes in titles of windows
UNSAVED = re.compile(
    r"^\s*[*•●]|[*•●]\s*$|[*•●] [-–—]|[(\[](?:modified|unsaved|changed|geändert|modifié|modificado|изменён)[)\]]",
    re.IGNORECASE,
)
_ICONS = "🗑🚮💸💳"


@cache
def pattern(kind: Kind) -> re.Pattern[str]:
    """Return the pattern of words of a kind; the words are loaded on first use.

    irreversible: beginnings of the names of buttons whose effect cannot be undone. question: what dialogs say before
    something that cannot be undone. The others are described in `risk_words.yaml`.
    """
    verbs = ("delete", "send", "pay", "lose", "end_session", "format")
    match kind:
        case "irreversible":
            word = rf"(?:{_any(*verbs)})\b(?! (?:{_any('not_irreversible_before')}))|(?:{_any('irreversible_cjk')})"
            regex = rf"(?:(?:{_any('prefixes')})[\s,:;–-]+)*(?:{word})"
        case "question":
            asked = _any("delete", "pay", "lose", "end_session", "asked")
            regex = rf"\b(?:{asked})\b|(?:{_any('irreversible_cjk', 'asked_cjk')})"
        case "closing" | "agreeing" | "paste" | "password":
            before = r"\b" if kind == "password" else ""
            regex = rf"{before}(?:{_any(kind)})\b|{_any(f'{kind}_cjk')}"
        case "trash" | "terminals" | "file_managers" | "mailers":
            regex = rf"(?:{_any(kind)})"
    return re.compile(regex, re.IGNORECASE)


def is_irreversible(name: str) -> bool:
    """Return whether a button's name says that its effect cannot be undone.

    Mnemonics ("_Delete", "De&lete") and icons before the word are ignored; an icon of a bin alone counts.
    """
    text = unicodedata.normalize("NFKC", name).strip()
    if text and not text.strip("\ufe0f " + _ICONS):
        return True
    plain = (re.sub(r"[_&]", "", text), re.sub(r"[_&]", " ", text))
    return any(pattern("irreversible").match(re.sub(r"^[\W_]+", "", each)) for each in plain)


def is_irreversible_icon(description: str) -> bool:
    """Return the same for a button without a name, by its tooltip or the name of its icon or style class."""
    words = set(re.split(r"[^a-z]+", description.casefold()))
    return bool(words & set(_words()["irreversible_icon_names"])) or is_irreversible(description)


@cache
def _words() -> Mapping[str, Sequence[str]]:
    words: Mapping[str, Sequence[str]] = read_table("aci.safety", "risk_words.yaml")
    return words


def _any(*lists: str) -> str:
    return "|".join(word for name in lists for word in _words()[name])
