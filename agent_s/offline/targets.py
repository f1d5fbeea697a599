"""Which element is meant: "the second 'OK' button below 'Name' in the dialog" as a query."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from agent_s.offline.lexicon import read_number, read_ordinal
from agent_s.offline.quoting import CLOSE, OPEN, PLACEHOLDER, Guarded
from agent_s.offline.roles import CONTAINERS, NOUNS, Kind, take_noun_at_end, take_noun_at_start

Relation = Literal["row", "beside", "left of", "right of", "below", "above", "inside", "labelled"]
Place = Literal["top", "bottom", "left", "right", "center"]


@dataclass(frozen=True, slots=True)
class TargetQuery:
    """An element as an instruction describes it.

    Attributes:
        phrase: The whole description as it was said; a name that fits all of it beats every other reading.
        name: What it is called; empty where only its kind or place is said.
        quoted: Whether the name was in quotes.
        kinds: Kinds it may be of; empty where none was said.
        ordinal: Which of those that fit, from 1 in reading order, -1 for the last; None where it was not said.
        places: Sides of the screen or container it is at.
        relation: How it lies to `anchor`.
        anchor: The element it is described by.
        within: The window, dialog or part of the window that it is in.
        every: Whether all that fit are meant.
        state: A state that it must have, such as "selected" or "unchecked".
    """

    phrase: str = ""
    name: str = ""
    quoted: bool = False
    kinds: tuple[Kind, ...] = ()
    ordinal: int | None = None
    places: frozenset[Place] = frozenset()
    relation: Relation | None = None
    anchor: TargetQuery | None = None
    within: TargetQuery | None = None
    every: bool = False
    state: str = ""

    @property
    def is_vague(self) -> bool:
        """Whether it says nothing that tells one element from another of its kind."""
        return not (self.name or self.kinds or self.ordinal or self.places or self.anchor or self.state)

    def describe(self) -> str:
        """Return the description for messages."""
        return self.phrase or self.name or "the element"


_ARTICLE = re.compile(
    r"(?:the|a|an|this|that|these|those|your|my|its|their|any|some|another|on|onto|at|to)\s+", re.IGNORECASE
)
_EVERY = re.compile(
    r"(?:(?:all|both|each|every)(?:\s+(?:of|one of))?)(?:\s+(?:the|these|those))?(?:\s+(?:two|three|four|five|six|\d+))?\s+",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:,?\s*(?:which|that)\s+(?:is|are|has|have|says?|reads?)\s+|\s*(?:with|having|by|under)\s+(?:the\s+|a\s+|an\s+)?(?:exact\s+)?(?:label|text|name|title|caption|words?|placeholder|tooltip|value)\s*(?:of\s+)?|"
    r"\s*\b(?:labell?ed|named|called|titled|marked|saying|reading|entitled|captioned)\b(?:\s+(?:as|with))?\s*)"
    r"(?:labell?ed|named|called|titled|marked)?\s*:?\s*(?=\S)",
    re.IGNORECASE,
)
_RELATIONS: tuple[tuple[str, Relation], ...] = (
    (r"(?:in|on|of) the (?:same )?(?:row|line) (?:of|with|for|containing|that (?:contains|has|says|shows)|where it says|as|labell?ed|named)", "row"),
    (r"(?:directly |just |right |immediately )?(?:to|on|at) the (?:immediate )?left(?:[- ]hand)?(?: side)? of|left of|in front of|(?:that |which )?(?:comes |is )?before", "left of"),
    (r"(?:directly |just |immediately )?(?:to|on|at) the (?:immediate )?right(?:[- ]hand)?(?: side)? of|right of|(?:that |which )?(?:comes |is )?after|following|behind", "right of"),
    (r"(?:directly |just |right |immediately )?(?:below|beneath|underneath|under)", "below"),
    (r"(?:directly |just |right |immediately )?(?:above|over)|on top of", "above"),
    (r"(?:right |directly |immediately )?(?:next to|beside|adjacent to|alongside|near(?: to)?|close to|by)|for|corresponding to|belonging to|associated with|with", "beside"),
    (r"in(?:side)?(?: of)?|within|on|of|from|under|into|at", "inside"),
)  # fmt: skip
_RELATION = re.compile(
    "|".join(rf"(?P<r{number}>(?:(?<=\s)|(?<={CLOSE}))(?:that is |which is |that's |located |found |shown |displayed |)(?:{pattern})(?=\s|{OPEN}))"
             for number, (pattern, _) in enumerate(_RELATIONS)),
    re.IGNORECASE,
)  # fmt: skip
_PLACE_WORDS: dict[str, frozenset[Place]] = {
    "top": frozenset({"top"}), "upper": frozenset({"top"}), "topmost": frozenset({"top"}), "bottom": frozenset({"bottom"}),
    "lower": frozenset({"bottom"}), "left": frozenset({"left"}), "leftmost": frozenset({"left"}), "left-most": frozenset({"left"}),
    "right": frozenset({"right"}), "rightmost": frozenset({"right"}), "right-most": frozenset({"right"}),
    "middle": frozenset({"center"}), "center": frozenset({"center"}), "central": frozenset({"center"}), "centre": frozenset({"center"}),
    "top-left": frozenset({"top", "left"}), "top-right": frozenset({"top", "right"}), "bottom-left": frozenset({"bottom", "left"}),
    "bottom-right": frozenset({"bottom", "right"}), "upper-left": frozenset({"top", "left"}), "upper-right": frozenset({"top", "right"}),
    "lower-left": frozenset({"bottom", "left"}), "lower-right": frozenset({"bottom", "right"}),
}  # fmt: skip
_AT_PLACE = re.compile(
    r"\s*,?\s*\b(?:at|in|on|to|near)\s+the\s+(?:very\s+|far\s+)?(?P<place>(?:top|bottom|upper|lower|left|right|middle|center|centre)(?:[- ](?:left|right|hand|most))*)"
    r"(?:\s+(?:corner|side|edge|part|half|end))?(?:\s+of\s+(?:the\s+)?(?:screen|window|page|display|desktop|app|application))?\s*$",
    re.IGNORECASE,
)
_STATES = {
    "selected", "checked", "unchecked", "focused", "highlighted", "active", "current", "ticked", "unticked", "disabled", "enabled", "empty", "blank", "pressed",
    "expanded", "collapsed", "open", "unselected",
}  # fmt: skip
_SCREENS = re.compile(
    r"(?:the\s+|this\s+|that\s+)?(?:screen|desktop|display|current (?:page|window|view)|(?:web\s*)?page|site|website|window|app|application|program|browser)",
    re.IGNORECASE,
)


def parse_target(words: Guarded) -> TargetQuery:
    """Read a description of an element; anything can be a name, so this never fails."""
    text = _clean(words.text)
    query = _parse(words.part(text))
    return replace(query, phrase=words.part(_without_article(text)).plain)


def named(name: str, *kinds: Kind) -> TargetQuery:
    """Return the query for a name and kinds."""
    return TargetQuery(phrase=name, name=name, kinds=kinds)


def split_list(words: Guarded) -> tuple[Guarded, ...]:
    """Split "A, B and C" into its parts; one part where there is no list."""
    parts = re.split(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|as well as|&|plus)\s+(?:also\s+)?", words.text.strip())
    return tuple(words.part(part.strip()) for part in parts if part.strip())


def _clean(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" \t\n,;")
    text = re.sub(r"(?<=[\w\ue001)])[.!?:]+$", "", text)
    return re.sub(r"^(?:on|onto|upon|over|at)\s+", "", text, flags=re.IGNORECASE)


def _without_article(text: str) -> str:
    while match := _ARTICLE.match(text):
        text = text[match.end() :]
    return text


def _parse(words: Guarded) -> TargetQuery:
    text = _without_article(words.text.strip(" ,"))
    every = _EVERY.match(text)
    if every:
        text = text[every.end() :]
    text, places = _take_place(text)
    head, relation, rest = _split_relation(text)
    query = _head(words.part(head))
    if relation == "labelled":
        query = _with_label(query, words.part(rest))
    elif relation is not None:
        query = _related(query, relation, words.part(rest))
    return replace(query, every=query.every or bool(every), places=query.places | places)


def _take_place(text: str) -> tuple[str, frozenset[Place]]:
    match = _AT_PLACE.search(text)
    if match is None or not match.start():
        return text, frozenset()
    found = frozenset(
        side for word in re.split(r"[- ]", match["place"].casefold()) for side in _PLACE_WORDS.get(word, ())
    )
    return text[: match.start()].strip(), found


def _split_relation(text: str) -> tuple[str, Relation | None, str]:
    """Split at the first word that relates the element to another one, or gives its name."""
    label = _LABELLED.search(text)
    relation = next((match for match in _RELATION.finditer(text) if match.start() > 0), None)
    if label and label.start() and (relation is None or label.start() <= relation.start()):
        return text[: label.start()].strip(), "labelled", text[label.end() :].strip()
    if relation is None:
        return text, None, ""
    kind = next(kind for number, (_, kind) in enumerate(_RELATIONS) if relation[f"r{number}"])
    return text[: relation.start()].strip(" ,"), kind, text[relation.end() :].strip()


def _with_label(query: TargetQuery, rest: Guarded) -> TargetQuery:
    """Use what follows "labelled" as the name, which may have a place or container behind it."""
    match = re.match(PLACEHOLDER, rest.text)
    label, more = (rest.text[: match.end()], rest.text[match.end() :].strip(" ,")) if match else (rest.text, "")
    named_query = replace(query, name=rest.part(label).plain, quoted=bool(match))
    if not more:
        return _with_unquoted_label(query, rest) if match is None else named_query
    _, relation, further = _split_relation(f"x {more}")
    if relation is None or relation == "labelled":
        return named_query
    return _related(named_query, relation, rest.part(further))


def _with_unquoted_label(query: TargetQuery, rest: Guarded) -> TargetQuery:
    """Read "labelled Save in the toolbar": what follows belongs to the name unless it ends in a container."""
    head, relation, further = _split_relation(rest.text)
    if relation == "inside" and is_container(_parse(rest.part(further))):
        return _related(replace(query, name=rest.part(head).plain), relation, rest.part(further))
    return replace(query, name=rest.plain)


def _related(query: TargetQuery, relation: Relation, rest: Guarded) -> TargetQuery:
    if relation == "inside":
        if _SCREENS.fullmatch(rest.text.strip()):
            return query
        return replace(query, within=_parse(rest))
    return replace(query, relation=relation, anchor=_parse(rest))


def _head(words: Guarded) -> TargetQuery:
    """Read the words before any relation: ordinal, place and state words, name and kind."""
    if (described := _named_behind(words)) is not None:
        return described
    query = TargetQuery()
    rest, noun, _ = take_noun_at_end(words.text)
    if noun and words.text.split()[-1][:1].isupper() and words.text[:1].islower():
        rest, noun = words.text, ""
    if noun and not rest and (words.text[:1].isupper() or not NOUNS[noun]):
        vague = noun in ("one", "element", "widget", "thing") and words.text.islower()
        return query if vague else replace(query, name=words.text)
    if noun and (kinds := NOUNS[noun]) and rest:
        rest = _drop_same_kind(rest, kinds)
    if not noun:
        rest, noun = _noun_first(words.text)
    query = replace(query, kinds=NOUNS.get(noun, ()), every=False)
    query, rest = _adjectives(query, _without_article(rest), bool(noun))
    query, rest = _number_behind(query, rest, bool(noun))
    return _named_head(query, words.part(rest), noun)


def _named_behind(words: Guarded) -> TargetQuery | None:
    """Read "the mode button 'Basic'": more words before the noun, and the name behind it."""
    match = re.fullmatch(rf"(?P<lead>.+?)\s+{PLACEHOLDER}", words.text)
    rest, noun, _ = take_noun_at_end(match["lead"]) if match else ("", "", "")
    if match is None or not noun or not rest or not NOUNS[noun] or len(words.quotes) != 1:
        return None
    query = TargetQuery(kinds=NOUNS[noun], name=words.quotes[0], quoted=True)
    return _adjectives(query, _without_article(rest), True)[0]


def _noun_first(text: str) -> tuple[str, str]:
    """Read "button Save" or "checkbox 'Remember me'", but not "Search results" or "Link to file"."""
    rest, noun, _ = take_noun_at_start(text)
    if not noun or not rest:
        return text, ""
    if rest.startswith((OPEN, "#")) or rest[:1].isupper() or rest[:1].isdigit():
        return rest, noun
    return (rest, noun) if text[:1].islower() and noun not in _NAME_WORDS else (text, "")


_NAME_WORDS = frozenset(
    {
        "select",
        "input",
        "box",
        "one",
        "text",
        "page",
        "file",
        "search box",
        "list",
        "image",
        "link",
        "label",
        "title",
        "table",
        "form",
        "document",
    }
)


def _drop_same_kind(text: str, kinds: tuple[Kind, ...]) -> str:
    """Turn "input textbox" into one noun: an earlier noun of the same kind adds nothing."""
    rest, noun, _ = take_noun_at_end(text)
    return rest if noun and set(NOUNS[noun]) & set(kinds) and noun not in ("menu", "select", "option") else text


def _adjectives(query: TargetQuery, text: str, has_noun: bool) -> tuple[TargetQuery, str]:
    """Take ordinals, places and states from the front."""
    while text:
        word, _, rest = text.partition(" ")
        word = word.strip(",")
        if (ordinal := read_ordinal(word)) is not None and (rest or has_noun):
            query = replace(query, ordinal=ordinal)
        elif word.casefold() in _PLACE_WORDS and (rest or has_noun):
            query = replace(query, places=query.places | _PLACE_WORDS[word.casefold()])
        elif word.islower() and word in _STATES and (query.kinds or rest.startswith(OPEN)):
            query = replace(query, state=word)
        elif word.casefold() in (
            "very",
            "most",
            "far",
            "hand",
            "same",
            "only",
            "single",
            "correct",
            "corresponding",
            "available",
        ) and rest + "".join(query.kinds):
            pass
        else:
            break
        text = rest.strip()
    return query, text


def _number_behind(query: TargetQuery, text: str, has_noun: bool) -> tuple[TargetQuery, str]:
    """Read the number in "tab #2", "button number 3"."""
    match = re.search(r"(?:^|\s)(?:#|no\.?\s|number\s)\s*(\d{1,4}|one|two|three|four|five|six)$", text, re.IGNORECASE)
    if match and has_noun and (number := read_number(match[1])):
        return replace(query, ordinal=number), text[: match.start()].strip()
    return query, text


def _named_head(query: TargetQuery, rest: Guarded, noun: str) -> TargetQuery:
    quotes = rest.quotes
    if len(quotes) == 1:
        outside = re.sub(PLACEHOLDER, " ", rest.text).strip(" -,:")
        if not outside or _DECORATION.fullmatch(outside):
            return _widget_kind(replace(query, name=quotes[0], quoted=True), noun)
    return replace(query, name=rest.plain.strip())


_DECORATION = re.compile(
    r"(?:(?:the|a|an|text|word|words|label|option|button|link|item|key|called|named|small|big|large|little)\s*)+",
    re.IGNORECASE,
)


def _widget_kind(query: TargetQuery, noun: str) -> TargetQuery:
    """Read 'a "checkbox" widget' as a kind: the quoted word is a noun, and "widget" says that it is one."""
    kinds = NOUNS["field"] if query.name.casefold() == "text" else NOUNS.get(query.name.casefold(), ())
    if noun in ("widget", "control", "element") and kinds:
        return replace(query, name="", quoted=False, kinds=kinds)
    return query


def is_container(query: TargetQuery) -> bool:
    """Tell whether the query describes something in which other elements lie."""
    return bool(set(query.kinds) & CONTAINERS)
