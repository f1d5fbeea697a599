"""The description of an element, such as "the second 'OK' button below 'Name' in the dialog", as a `Target`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from agent_s.offline.finding.roles import CONTAINERS, NOUNS, Kind, split_first_noun, split_last_noun
from agent_s.offline.words import TABLE, meanings, one_of
from intents.lexicon import read_number, read_ordinal
from intents.text import CLOSE, OPEN, PLACEHOLDER, Phrase

Relation = Literal["row", "beside", "left of", "right of", "below", "above", "inside", "labelled"]
Side = Literal["top", "bottom", "left", "right", "center"]


@dataclass(frozen=True, slots=True)
class Target:
    """An element as an instruction describes it."""

    phrase: str = ""  # the whole description; an element with exactly this name beats any other interpretation
    name: str = ""  # its name; empty if only its kind or place is given
    quoted: bool = False  # whether the name was in quotes
    kinds: tuple[Kind, ...] = ()  # possible kinds; empty if none is given
    # its number among those that match, from 1 in reading order, -1 for the last; None where none was said
    ordinal: int | None = None
    sides: frozenset[Side] = frozenset()  # sides of the screen or container that it is at
    relation: Relation | None = None  # its position relative to `anchor`
    anchor: Target | None = None  # the element that it is described by
    within: Target | None = None  # the window, dialog or part of a window that contains it
    every: bool = False  # whether it refers to all matching elements
    state: str = ""  # a state that it must have, such as "selected" or "unchecked"

    @property
    def is_vague(self) -> bool:
        """Whether it does not distinguish one element from another."""
        return not (self.name or self.kinds or self.ordinal or self.sides or self.anchor or self.state)

    @property
    def kind(self) -> Kind:
        """The most likely kind; "" if none was given."""
        return self.kinds[0] if self.kinds else ""

    def is_a(self, *kinds: Kind) -> bool:
        """Return whether it may be of one of the given kinds."""
        return bool(set(self.kinds) & set(kinds))

    def describe(self) -> str:
        """Return the description for messages."""
        return self.phrase or self.name or "the element"

    def at(self, place: Target) -> Target:
        """Return the description restricted to a place, unless it names one itself."""
        return replace(self, within=place) if self.within is None else self


_ARTICLE = re.compile(rf"{one_of(TABLE['articles'])}\s+", re.IGNORECASE)
_EVERY = re.compile(rf"{one_of(TABLE['every'])}\s+", re.IGNORECASE)
_LABELLED = re.compile(rf"(?<=[\s{CLOSE}]){one_of(TABLE['labelled'])}(?!\w)\s*:?\s*(?=\S)", re.IGNORECASE)
_RELATIONS: dict[Relation, str] = {relation: one_of(phrases) for relation, phrases in TABLE["relations"].items()}
_RELATION = re.compile(
    "|".join(rf"(?P<r{n}>(?<=[\s{CLOSE}])(?:that is |which is )?{pattern}(?=\s|{OPEN}))"
             for n, pattern in enumerate(_RELATIONS.values())),
    re.IGNORECASE,
)  # fmt: skip
_SIDES: dict[str, Side] = meanings("sides")  # type: ignore[assignment]  # the groups are named after the sides
_SIDE = one_of(_SIDES)
_AT_SIDE = re.compile(
    rf"\s*,?\s*\b{one_of(TABLE['before_sides'])}\s+the\s+(?P<sides>{_SIDE}(?:[- ]{_SIDE})?)"
    rf"(?:\s+{one_of(TABLE['after_sides'])})?\s*$",
    re.IGNORECASE,
)
_ADJECTIVES = meanings("states").keys() - set(TABLE["never_adjectives"])
_SCREENS = re.compile(one_of(TABLE["screens"]), re.IGNORECASE)


def parse_target(words: Phrase) -> Target:
    """Parse the description of an element; this never fails, since anything can be a name."""
    text = re.sub(r"\s+", " ", words.marked).strip(" ,;")
    text = re.sub(rf"(?<=[\w{CLOSE})])[.!?:]+$", "", text)
    return replace(_parse(words.part(text)), phrase=str(words.part(_without_article(text))))


def named(name: str, *kinds: Kind) -> Target:
    """Return a description with a name and kinds."""
    return Target(phrase=name, name=name, kinds=kinds)


def split_list(words: Phrase) -> tuple[Phrase, ...]:
    """Split "A, B and C" into its parts; a text without a list is one part."""
    parts = re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|&)\s+(?:also\s+)?", words.marked.strip())
    return tuple(words.part(part.strip()) for part in parts if part.strip())


def _without_article(text: str) -> str:
    while match := _ARTICLE.match(text):
        text = text[match.end() :]
    return text


def _parse(words: Phrase) -> Target:
    text = _without_article(words.marked.strip(" ,"))
    every = _EVERY.match(text)
    if every:
        text = text[every.end() :]
    sides: frozenset[Side] = frozenset()
    if (match := _AT_SIDE.search(text)) and match.start():
        sides = frozenset(_SIDES[word] for word in re.split(r"[- ]", match["sides"].casefold()))
        text = text[: match.start()].strip()
    head, relation, rest = _split_relation(text)
    target = _parse_head(words.part(head))
    if relation == "labelled":
        target = _with_label(target, words.part(rest))
    elif relation is not None:
        target = _related(target, relation, words.part(rest))
    return replace(target, every=bool(every), sides=target.sides | sides)


def _split_relation(text: str) -> tuple[str, Relation | None, str]:
    """Split at the first word that relates the element to another one, or gives its name."""
    label = _LABELLED.search(text)
    relation = next((match for match in _RELATION.finditer(text) if match.start() > 0), None)
    if label and label.start() and (relation is None or label.start() <= relation.start()):
        return text[: label.start()].strip(), "labelled", text[label.end() :].strip()
    if relation is None:
        return text, None, ""
    kind = next(kind for number, kind in enumerate(_RELATIONS) if relation[f"r{number}"])
    return text[: relation.start()].strip(" ,"), kind, text[relation.end() :].strip()


def _with_label(target: Target, rest: Phrase) -> Target:
    """Use the words after "labelled" as the name, up to a container that follows."""
    head, relation, further = _split_relation(rest.marked)
    place = _parse(rest.part(further)) if relation == "inside" else None
    if place is not None and (rest.part(head).literal is not None or set(place.kinds) & CONTAINERS):
        named_target = replace(target, name=str(rest.part(head)), quoted=rest.part(head).literal is not None)
        return _related(named_target, "inside", rest.part(further))
    return replace(target, name=str(rest), quoted=rest.literal is not None)


def _related(target: Target, relation: Relation, rest: Phrase) -> Target:
    if relation != "inside":
        return replace(target, relation=relation, anchor=_parse(rest))
    return target if _SCREENS.fullmatch(rest.marked.strip()) else replace(target, within=_parse(rest))


def _parse_head(words: Phrase) -> Target:
    """Read the words before any relation: number, side and state, name and kind."""
    if match := re.fullmatch(rf"(?P<lead>.+?)\s+({PLACEHOLDER})", words.marked):
        rest, noun = split_last_noun(match["lead"])
        if noun and NOUNS[noun]:  # "the mode button 'Basic'"
            target = Target(kinds=NOUNS[noun], name=str(words.part(match[2])), quoted=True)
            return _adjectives(target, _without_article(rest), True)[0]
    rest, noun = split_last_noun(words.marked)
    if noun and words.marked.split()[-1][:1].isupper() and words.marked[:1].islower():
        rest, noun = words.marked, ""
    if noun and not rest and (words.marked[:1].isupper() or not NOUNS[noun]):
        return Target(name="" if words.marked in ("one", "element", "thing") else words.marked)
    if noun and NOUNS[noun]:
        again, same = split_last_noun(rest)  # "input textbox"
        rest = again if same and set(NOUNS[same]) & set(NOUNS[noun]) and same not in ("menu", "select") else rest
    if not noun:
        rest, noun = _noun_first(words.marked)
    target = Target(kinds=NOUNS.get(noun, ()))
    target, rest = _adjectives(target, _without_article(rest), bool(noun))
    match = re.search(r"(?:^|\s)(?:#|no\.?\s|number\s)\s*(\w{1,5})$", rest, re.IGNORECASE)
    if match and noun and (number := read_number(match[1])):
        target, rest = replace(target, ordinal=number), rest[: match.start()].strip()
    return _with_name(target, words.part(rest), noun)


def _noun_first(text: str) -> tuple[str, str]:
    """Read "button Save" or "checkbox 'Remember me'", but not "Search results" or "text to find"."""
    rest, noun = split_first_noun(text)
    if not noun or not rest or not (text[:1].islower() or rest.startswith((OPEN, "#"))):
        return text, ""
    return (rest, noun) if rest.startswith((OPEN, "#")) or rest[:1].isupper() or rest[:1].isdigit() else (text, "")


def _adjectives(target: Target, text: str, has_noun: bool) -> tuple[Target, str]:
    """Take numbers, sides and states from the front."""
    while text:
        word, _, rest = text.partition(" ")
        sides = [_SIDES.get(part) for part in word.casefold().strip(",").split("-")]
        if not (rest or has_noun):
            break
        if (ordinal := read_ordinal(word)) is not None:
            target = replace(target, ordinal=ordinal)
        elif all(sides):
            target = replace(target, sides=target.sides | {side for side in sides if side})
        elif word in _ADJECTIVES and (target.kinds or rest.startswith(OPEN)):
            target = replace(target, state=word)
        elif word not in TABLE["weak_adjectives"] or not (rest or target.kinds):
            break
        text = rest.strip()
    return target, text


def _with_name(target: Target, rest: Phrase, noun: str) -> Target:
    quotes = rest.quotes
    outside = re.sub(PLACEHOLDER, " ", rest.marked).strip(" -,:")
    if len(quotes) != 1 or (outside and split_last_noun(outside)[1] != outside.casefold()):
        return replace(target, name=rest.strip())
    kinds = NOUNS["field"] if quotes[0].casefold() == "text" else NOUNS.get(quotes[0].casefold(), ())
    if noun in ("widget", "control", "element") and kinds:  # 'a "checkbox" widget'
        return replace(target, kinds=kinds)
    return replace(target, name=quotes[0], quoted=True)
