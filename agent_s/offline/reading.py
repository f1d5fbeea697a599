"""Parsing of instructions into commands, clause by clause, by the table of sentence patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.cells import CELL
from agent_s.offline.commands.click import Click
from agent_s.offline.commands.conditions import parse_condition
from agent_s.offline.commands.copy import Copy
from agent_s.offline.commands.file_dialog import folder_path
from agent_s.offline.commands.menu import FollowPath, path_in
from agent_s.offline.commands.open import Open
from agent_s.offline.commands.press import Press
from agent_s.offline.commands.type import TypeText
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.words import TABLE, one_of
from intents.clauses import Clause, after_place, is_polite_only, split, without_politeness
from intents.dates import parse_day
from intents.keys import is_modifier, parse_keys
from intents.lexicon import first_verb, on_or_off
from intents.reader import Reader, read_rows
from intents.tables import read_table
from intents.text import OPEN, Phrase, guard

MAX_CLAUSE = 2500
"""Characters of a clause, quoted text not counted; longer ones are texts to be typed, or not understood."""
_MAX_DEPTH = 3
_FILE = re.compile(r"(?:~|\.{0,2}/)?[^<>|*?\n]{0,200}\.[A-Za-z]\w{0,4}|(?:~|/)\S*")
_URL = re.compile(
    r"(?:https?|file|ftp|chrome|about):\S+|www\.\S+|localhost\b\S*|(?:[a-z0-9-]+\.)+(?:com|org|net|edu|io)\S*", re.I
)


@dataclass(frozen=True, slots=True)
class Part:
    """One clause of an instruction."""

    words: str  # the clause
    command: Command | None  # the parsed command; None if it cannot be parsed
    application: str = ""  # the application that it refers to; empty if the instruction names none


@lru_cache(maxsize=64)
def read_instruction(instruction: str) -> tuple[Part, ...]:
    """Parse an instruction; later clauses can refer to objects of earlier ones."""
    parts: list[Part] = []
    verb, thing, application = "", "", ""
    for clause in split(instruction):
        words = clause.words.part(without_politeness(clause.words.marked))
        if not re.search(r"[^\W_]", words.marked) or is_polite_only(words.marked) or _CLOSING.fullmatch(words):
            continue
        words = _with_thing(words, thing)
        command = _elided(clause, words, verb) or read_clause(words) or _elided(clause, words, verb, always=True)
        if isinstance(command, TypeText) and command.text is not None and _names_copied(command.text, parts):
            command = replace(command, text=None)
        parts.append(Part(words.quoted, command, application))
        verb = _verb_of(words) or verb
        if command is not None and command.about():
            thing = command.about()[-1].phrase or thing
        if isinstance(command, Open) and command.target.kind not in ("item", "tree", "row", "dialog"):
            application = command.name
    return tuple(parts)


def read_words(words: str) -> tuple[Command, ...]:
    """Parse one clause, or an instruction of several; () if some of it cannot be parsed."""
    commands = tuple(part.command for part in read_instruction(words))
    if not commands or None in commands:
        commands = (read_clause(guard(words)),)
    return tuple(one for one in commands if one is not None) if None not in commands else ()


def read_clause(words: Phrase) -> Command | None:
    """Parse a clause into a command; None if it cannot be parsed."""
    return _read_quoted(words.quoted)


@lru_cache(maxsize=512)
def _read_quoted(clause: str) -> Command | None:
    return _read(guard(clause), _MAX_DEPTH)


def _read(words: Phrase, depth: int) -> Command | None:
    marked = re.sub(r"(?<=[\w\ue001)\"'])[.!?]+$", "", without_politeness(words.marked))
    if len(marked) > MAX_CLAUSE:
        text = marked.partition(" ")[2]
        return TypeText(str(words.part(text))) if first_verb(marked) in ("type", "write", "enter") else None
    literal = words.part(marked).literal
    if literal is not None and first_verb(literal) and depth:
        return _read(guard(literal), depth - 1)  # an instruction that is quoted as a whole
    rest = after_place(marked)
    if rest and marked.endswith(rest):  # "in the File menu choose Save As"
        marked = f"{marked.removesuffix(rest).rstrip(' ,:')}, {rest}"
    return _readers()[depth].read(words.part(marked)) if marked else None


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Return the table of sentence patterns."""
    loaded: dict[str, Any] = read_table("agent_s.offline", "sentences.yaml", typed=True)
    return loaded


@lru_cache(maxsize=1)
def _readers() -> tuple[Reader[Command | None], ...]:
    """Return a reader for each nesting depth of commands; the first one reads no nested commands."""
    rows = read_rows(table()["rows"])
    kinds = {row.kind: _kind(import_module(f"agent_s.offline.commands.{row.kind}").read) for row in rows}
    words = {name: group.split() for name, group in table()["words"].items()}

    def reader(depth: int) -> Reader[Command | None]:
        def command(text: Phrase) -> Command | None:
            return _read(text, depth - 1) if depth and (first_verb(text.marked) or ">" in text.marked) else None

        sorts = {
            "command": command,
            "command_text": _if(lambda text: command(text) is not None),
            "pressing": lambda text: do if isinstance(do := command(text), Press) else None,
            "pointing": lambda text: do if isinstance(do := command(text), Press | Click) else None,
        }
        return Reader(rows, kinds, words, {**_SORTS, **sorts})

    return tuple(reader(depth) for depth in range(_MAX_DEPTH + 1))


def _kind(read: Callable[..., Command | None]) -> Callable[..., Command | None]:
    """Return a function that reads the fields of a table row, except the slot `_` for ignored words."""
    return lambda **fields: read(**{name: value for name, value in fields.items() if name != "_"})


def _if(holds: Callable[[Phrase], bool]) -> Callable[[Phrase], Phrase | None]:
    return lambda text: text if holds(text) else None


def _kind_in(*kinds: str) -> Callable[[Phrase], Phrase | None]:
    return _if(lambda text: parse_target(text).kind in kinds)


def _keys_or_path(text: Phrase) -> Command | None:
    if (items := path_in(text)) is not None:
        return FollowPath(items)
    chords = parse_keys(text)
    return (
        Press(chords) if chords and any(len(chord) > 1 or re.fullmatch(r"F\d+", chord[0]) for chord in chords) else None
    )


def _chords(text: Phrase) -> Any:
    named = re.search(r"\S\s+(?:button|link|tab|icon)$", text)
    return None if named else parse_keys(re.sub(r"^(?:the\s+)?(?:keys?|shortcut)\s+", "", text))


def _field(text: Phrase) -> Target | None:
    target = parse_target(text)
    return target if target.kind in ("field", "area") and not target.state else None


_SORTS: dict[str, Callable[[Phrase], Any]] = {
    "target": parse_target,
    "field_target": _field,
    "condition": parse_condition,
    "keys": _chords,
    "keys_or_path": _keys_or_path,
    "modifier": lambda text: parse_keys(text) if is_modifier(text) else None,
    "menu_path": path_in,
    "shortcut": lambda text: press.chords if isinstance(press := _keys_or_path(text), Press) else None,
    "cell": lambda text: str(text).upper() if re.fullmatch(rf"{CELL}(?::{CELL})?", text, re.I) else None,
    "day": _if(lambda text: parse_day(text) is not None),
    "control": lambda text: parse_target(text) if parse_target(text).kind in ("slider", "spin", "date") else None,
    "state": lambda text: str(text) if on_or_off(text) is not None else None,
    "box_text": _kind_in("checkbox", "switch", "radio"),
    "button_text": _kind_in("tab", "link", "button", "menu", "column", "toggle"),
    "dialog_text": _kind_in("dialog", "window", "tab", "menu", "page"),
    "quoted_text": _if(lambda text: text.literal is not None),
    "quoted_word": _if(lambda text: text.literal is not None or _FILE.fullmatch(text) is not None),
    "quoted_start": _if(lambda text: text.marked.startswith(OPEN)),
    "file_name": _if(lambda text: _FILE.fullmatch(text) is not None and not _URL.fullmatch(text)),
    "folder": _if(lambda text: folder_path(text) is not None),
    "web_address": _if(lambda text: _URL.fullmatch(text) is not None and not text.startswith("~")),
}


# What a part has from those before it

_WITH_IT = re.compile(r"[\w-]+(?:\s+(?:on|off|in|into))?\s+(?P<it>it|them)(?=\s|$)", re.IGNORECASE)
_INTO_IT = re.compile(r"\b(?:in|into|inside|with)\s+(?P<it>it)\b", re.IGNORECASE)
_HAS_VERB = re.compile(
    r"(?!(?:the|an?|both|all|each|in|on|to|from|into|of)\b)[a-z-]+\s+(?:the|an?|my|your|all|it)\b", re.IGNORECASE
)
"""An instruction with a verb that is not in the tables."""
_CLOSING = re.compile(rf"{one_of(TABLE['closing'])}[.! ]*", re.IGNORECASE)


def _with_thing(words: Phrase, thing: str) -> Phrase:
    """Resolve "it" to the last element."""
    typing = first_verb(words.marked) in TABLE["without_object"].split()
    match = (_INTO_IT.search(words.marked) if typing else _WITH_IT.match(words.marked)) if thing else None
    if match is None:
        return words
    marked = f"{words.marked[: match.start('it')]}{OPEN}{len(words.literals)}\ue001{words.marked[match.end('it') :]}"
    return Phrase(marked, (*words.literals, thing))


def _elided(clause: Clause, words: Phrase, verb: str, always: bool = False) -> Command | None:
    """Parse "'B'" after "click 'A'" with the previous verb; also a title, such as "Save As" after "click"."""
    if not verb or clause.connector == ".":
        return None
    title = re.fullmatch(r"(?:[A-Z]\S*|and|&|to|of)(?:\s+(?:[A-Z]\S*|and|&|to|of)){0,3}", words.marked) is not None
    pointing = verb.casefold() in TABLE["pointing"]
    if not always and not (title and pointing):
        return None
    if (first_verb(words.marked) and not title) or _HAS_VERB.match(words.marked):
        return None
    if chords := parse_keys(words) if always and not words.quotes else None:
        return Press(chords)  # "type 'hello', followed by Enter"
    return read_clause(words.part(f"{verb} {words.marked}"))


def _verb_of(words: Phrase) -> str:
    if not first_verb(words.marked):
        return ""
    match = re.match(r"(?:go to|switch to|[A-Za-z-]+)(?:\s+on)?(?=\s|$)", words.marked, re.IGNORECASE)
    return match[0] if match else ""


def _names_copied(text: str, parts: Iterable[Part]) -> bool:
    """Return whether a text to be typed is "the code" after the confirmation code was copied."""
    match = re.fullmatch(r"(?:the|that|this)\s+(?P<name>[\w -]{2,60})|it|that|them", text.strip(), re.IGNORECASE)
    copied = [part.command.name.casefold() for part in parts if isinstance(part.command, Copy)]
    name = (match["name"] or "").casefold() if match else None
    return name is not None and any(not name or one.split()[-1:] == name.split()[-1:] for one in copied)
