"""Kinds of elements as people name them, with their accessibility roles, from `roles.yaml`."""

from __future__ import annotations

import re

from intents.tables import read_table

_TABLE = read_table("agent_s.offline.finding", "roles.yaml")

Kind = str  # a kind of element: a key of `ROLES`

ROLES: dict[Kind, frozenset[str]] = {kind: frozenset(row["roles"]) for kind, row in _TABLE["kinds"].items()}
ALIKE: dict[Kind, frozenset[str]] = {kind: frozenset(row.get("alike", ())) for kind, row in _TABLE["kinds"].items()}
"""Roles that people take for a kind."""
NOUNS: dict[str, tuple[Kind, ...]] = {noun: tuple(row["kinds"]) for row in _TABLE["nouns"] for noun in row["nouns"]}
"""Kinds by noun, the likeliest first; a noun without kinds may be anything."""

EDITABLE = ROLES["field"] | {"terminal", "document text"}
BOXES = frozenset({"check box", "radio button", "switch"})
CHECKABLE = BOXES | {"check menu item", "radio menu item", "toggle button"}
"""Roles that can be on or off; so can cells with the state `checkable`."""
ACTIONABLE = CHECKABLE.union(
    *(ROLES[kind] for kind in ("button", "field", "menuitem", "item", "slider", "link", "terminal")),
    ("column header", "row header", "list box", "arrow"),
)
"""Roles that do something when they are used."""
LABELS = frozenset(_TABLE["labels"])  # roles of texts that label neighboring elements
CONTAINERS = frozenset(_TABLE["containers"])  # kinds that contain other elements

_NOUN = "|".join(re.escape(noun) for noun in sorted(NOUNS, key=len, reverse=True))
_LAST_NOUN = re.compile(rf"(?:^|(?<=[\s\ue001]))({_NOUN})(?:e?s)?$", re.IGNORECASE)
_FIRST_NOUN = re.compile(rf"^({_NOUN})(?:e?s)?(?=$|[\s:\ue000#])", re.IGNORECASE)


def split_last_noun(text: str) -> tuple[str, str]:
    """Split "Save As button" into "Save As" and "button"; the noun is "" where there is none."""
    match = _LAST_NOUN.search(text)
    return (text[: match.start()].rstrip(), match[1].casefold()) if match else (text, "")


def split_first_noun(text: str) -> tuple[str, str]:
    """Split "button Save As" into "Save As" and "button"; the noun is "" where there is none."""
    match = _FIRST_NOUN.match(text)
    return (text[match.end() :].lstrip(" :"), match[1].casefold()) if match else (text, "")


def roles_of(kinds: tuple[Kind, ...]) -> frozenset[str]:
    """Return the accessibility roles of kinds; empty if any role matches."""
    return frozenset().union(*(ROLES[kind] for kind in kinds))


def kind_name(kinds: tuple[Kind, ...]) -> str:
    """Return the name of the first kind, for messages."""
    return _TABLE["names"].get(kinds[0], kinds[0]) if kinds else "element"
