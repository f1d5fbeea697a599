"""Parsing of statements about results into claims, which can be compared with evidence.

"The file notes.txt in Documents contains 'hello'" is a claim about a file, with the values "notes.txt" and "hello". An
instruction is parsed in the same way, as the claim that it was carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from mimetypes import guess_type

from intents.applications import without_applications
from intents.clauses import split, without_politeness
from intents.intent import Switch
from intents.lexicon import fillers, first_verb, stem
from intents.reader import parts_of, read
from intents.tables import pattern, words
from intents.text import PLACEHOLDER, SORTS, Phrase, guard, tokens

_WORD = re.compile(r"[^\W\d_]\w*")
_FILE = re.compile(SORTS["file"])
_CELL = re.compile(r"\$?[A-Z]{1,3}\$?[1-9]\d*")
_COMPOUND = re.compile(r"(?<=\w)-\w+ed\b")  # the end of "right-aligned", which its beginning says
_PARTICIPLES = ("ed", "ing", "wn", "tten")
_NO_VALUES = frozenset({"word", "mark"})


@dataclass(frozen=True, slots=True)
class Statement:
    """What a statement claims."""

    text: str
    # what must be found literally: quotations, files, cells, numbers, and values that an instruction sets
    values: tuple[str, ...]
    files: tuple[str, ...]  # those of them that name a file
    # addresses of cells with the values that they must have, where the statement gives one for each
    cells: tuple[tuple[str, str], ...]
    sheet: str  # the sheet that they are on, if it names one
    gone: tuple[str, ...]  # those of the values that others have replaced
    topics: tuple[frozenset[str], ...]  # stems of the words that each part of it is about, without values
    # stems of what it says of them, as far as these are no states or verbs: "dark" in "the theme is dark"
    predicate: frozenset[str]
    deeds: frozenset[str]  # stems of what it says was done to them, as far as that is more than being there: "booked"
    denies: bool  # whether it claims that something is not so, or not there
    undone: bool  # whether it claims that something was not done: "the file is not overwritten"
    unchanged: bool  # whether it claims that something is as it was
    exact: bool  # whether it rules out anything else
    saving: bool  # whether it says that something was saved
    saved: bool  # whether it claims something about a stored file, and not only about what is shown


@lru_cache(maxsize=1024)
def read_statement(text: str) -> Statement:
    """Parse a statement, or an instruction with a single request, into its claim."""
    phrase = guard(text)
    values = _values(phrase)
    plain = _without(phrase, values).replace("’", "'").replace("n't", " not").replace("'s ", " ")
    plain = _COMPOUND.sub("", pattern("as_before").sub("", pattern("nothing_else").sub(" only", plain)))
    found = set(_WORD.findall(plain.casefold()))
    files = tuple(value for value in values if _is_file(value))
    said, sheet = _said(plain), _sheet(phrase)
    absent = bool(found & (words("words", "absent") | words("verbs", "removing")))
    negated = bool(found & (words("words", "negations") | words("words", "denying")))
    saving, shows = bool(found & words("words", "saving")), bool(found & words("words", "showing"))
    deeds = frozenset(stem(word) for word in said if word.endswith(_PARTICIPLES))
    return Statement(
        text=text,
        values=values,
        files=files,
        cells=_cells(values, files, sheet),
        sheet=sheet,
        gone=_gone(phrase, values),
        topics=tuple(_topics(plain)),
        predicate=frozenset(stem(word) for word in said if not word.endswith(_PARTICIPLES)),
        deeds=deeds,
        denies=absent != negated,
        undone=negated and not absent and bool(deeds),
        unchanged=bool(found & words("words", "unchanged")),
        exact=bool(found & words("words", "exact")),
        saving=saving,
        saved=saving or (bool(files) and not shows),
    )


def split_statement(text: str) -> tuple[str, ...]:
    """Split a statement with several claims into single ones; a part without a subject is not split off.

    "The letter says 'x', without 'y'" claims that there is something and that there is not something else.
    """
    phrase = guard(text)
    parts: list[str] = []
    start = 0
    for match in pattern("claims_join").finditer(phrase.marked):
        if all(pattern("claim").match(part) for part in (phrase.marked[start : match.start()], match["next"])):
            parts.append(phrase.marked[start : match.start()])
            start = match.start("next")
    parts.append(phrase.marked[start:])
    found = (phrase.part(part.strip(" .;,")).quoted for part in parts if part.strip(" .;,"))
    return tuple(claim for part in found for claim in _split_lacking(part))


def _split_lacking(text: str) -> tuple[str, ...]:
    phrase = guard(text)
    lacking = pattern("claims_without").search(phrase.marked)
    claim = pattern("claim").match(phrase.marked[: lacking.start()]) if lacking else None
    if lacking is None or claim is None or read_statement(phrase.part(claim.string).quoted).denies:
        return (text,)
    subject = claim[0].rpartition(" ")[0]
    return phrase.part(claim.string).quoted, phrase.part(f"{subject} is {lacking['lacks']}").quoted


def split_instruction(text: str) -> tuple[str, ...]:
    """Split an instruction into single requests."""
    clauses = [clause.words.quoted for clause in split(text)]
    parts = (parts_of(clause) if isinstance(read(clause), Switch) else [clause] for clause in clauses)
    return tuple(part.strip() for several in parts for part in several) or (text,)


def _values(phrase: Phrase) -> tuple[str, ...]:
    text = phrase.quoted
    found = [token.value for token in tokens(text) if token.sort not in _NO_VALUES]
    bare = without_politeness(text)
    if first_verb(bare):
        intent = read(bare, find_application=False)
        value = "" if isinstance(intent, Switch) else intent.value
        if value and not any(one in value for one in found):
            found.append(value)
    return tuple(dict.fromkeys(filter(None, found)))


def _is_file(value: str) -> bool:
    if value.startswith(("~/", "/")):
        return True
    name = value.rpartition("/")[2]
    return bool(_FILE.fullmatch(name)) and guess_type(name)[0] is not None and not name.endswith(".com")


def _cells(values: Sequence[str], files: Sequence[str], sheet: str) -> tuple[tuple[str, str], ...]:
    cells = [value for value in values if _CELL.fullmatch(value)]
    others = [value for value in values if value not in (*cells, *files, sheet)]
    return tuple(zip(cells, others, strict=True)) if len(cells) == len(others) else ()


def _sheet(phrase: Phrase) -> str:
    for match in pattern("sheet_named").finditer(phrase.marked):
        name = match["behind"] or match["before"] or "".join(phrase.part(match[0]).quotes)
        if name.casefold() not in words("words", "determiners"):
            return name
    return ""


def _gone(phrase: Phrase, values: Sequence[str]) -> tuple[str, ...]:
    """Return the value that is replaced by another one: "a" in "every a of c.txt is replaced by b"."""
    match = pattern("replaces").search(phrase.marked)
    if match is None:
        return ()
    before = _values(phrase.part(phrase.marked[: match.start("named")])) + _values(phrase.part(match["named"]))
    behind = [value for value in _values(phrase.part(phrase.marked[match.end() :])) if value in values]
    alike = [value for value in before if value in values and behind and _is_file(value) == _is_file(behind[0])]
    return (alike[-1],) if alike and alike[-1] not in behind else ()


def _topics(plain: str) -> Iterator[frozenset[str]]:
    for part in re.split(r",|;|\band\b", without_applications(plain)):
        bare = without_politeness(part)
        found = set(_WORD.findall(bare.casefold())) - _silent() - words("words", "placing") - {first_verb(bare)}
        if found:
            yield frozenset(map(stem, found))


def _said(plain: str) -> list[str]:
    match = pattern("said_of").search(without_applications(plain))
    found = _WORD.findall(match["said"].casefold()) if match is not None else ()
    return [word for word in found if word not in _silent()]


def _without(phrase: Phrase, values: Iterable[str]) -> str:
    """Return a text with a mark in place of each quotation and value."""
    text = re.sub(PLACEHOLDER, " … ", phrase.marked)
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", " … ", text)
    return text


@lru_cache(maxsize=1)
def _silent() -> frozenset[str]:
    """Return the words that do not contribute to the topic of a statement."""
    of_lists = ("generic", "negations", "denying", "absent", "unchanged", "exact", "saving", "determiners", "particles",
                "states_on", "states_off", "turning", "longer", "claiming", "making")  # fmt: skip
    return fillers().union(words("verbs", "light"), *(words("words", name) for name in of_lists))
