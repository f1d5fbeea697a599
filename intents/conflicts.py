"""What a sentence asks to be done and to what, and whether that is the opposite of, or other than, what another asks.

An embedding hardly tells "zoom in" from "zoom out" or "rename a file" from "sort the files". Two sentences are told
apart here by their words: verbs that ask for the same or the opposite, words that exclude each other such as left and
right, and the things they are about (`intents.vocabulary`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from intents.applications import without_applications
from intents.vocabulary import (
    EXCLUSIVE,
    KINDS_OF_THINGS,
    LIGHT,
    LIKE_THINGS,
    LIKE_VERBS,
    OFTEN_NOUNS,
    THINGS,
    VERBS,
)
from intents.wordlists import lines, word_set
from intents.words import stem
from memory_store.keys import FILLERS

Verbs = Literal["same", "other", "unclear", "unknown"]
"""In some family of the key's; in none; the query's says something and the key's nothing; the query's says nothing."""

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_NOMINAL = word_set(
    "a an the this that these those my your his her its our their each every some any no one of with from"
)
_CLAUSE_BEGINS = word_set("and then to by or please also , not never without")
_REMOVES = word_set("remove delete erase discard uninstall undo cancel clear get-rid rid unbookmark")
_ENDS = word_set(
    "turn-off switch-off disable deactivate stop end take-away take-off take-out unset revoke leave quit abort withdraw"
)
_PRESSES = frozenset(map(stem, word_set("click press push tap tick untick check uncheck choose answer")))
"""What stands behind these names a control, not a value."""
_NEGATIONS = word_set("not never without no-longer dont don't avoid prevent anymore")
_LONGER = word_set("any more longer anymore again")
_PARTICLES = word_set("on off in out up down back away forward over")
_NO_VERB = word_set("in on with using from for at of inside within via when while")
_NO_IMPERATIVE = word_set(
    "i we you he she they it there here what which who when where why how if nobody somebody everybody everything next"
    " last yesterday today tomorrow is are was were am don't only not oops and or but so because"
)
_BEGINS_OBJECT = word_set(
    "a an the my our your his her its their this that these those all every each another any both some two three in on"
    " to into out up down from for by with at of over between as"
)
_TURNS = word_set("to into")
_NEAR_TURN = 3
"""So many words before and behind "to" may be what is turned, and what it is turned into."""
_INTO = re.compile(r"(?<!\w)(?:in)?to (?:an? |the |my |another )?(\w+)(?!\w)")
_OUT_OF = re.compile(r"(?<!\w)(?:out of|from|off) (?:an? |the |my |another )?(\w+)(?!\w)")
_NO_LONGER = re.compile(r"(?<!\w)no longer(?!\w)")
_INSTEAD = re.compile(r"(?<!\w)(?:instead of|rather than)(?: an?| the)? [\w-]+")
_LEAD = re.compile(
    r"^(?:(?:how (?:to|do i|do you|can i|could i)|please|pls|i (?:want|need|have|would like) to|i'd like to"
    r"|let me|help me(?: to)?"
    r"|(?:can|could|would|will) you(?: please| kindly)?|(?:verify|check|make sure|ensure|test) (?:that|whether|if)"
    r"|i'd be (?:glad|grateful) if you could|go ahead and|just|now|tester|user|step \d+)[\s:,]+)+",
    re.IGNORECASE,
)

_Side = tuple[int, int]
"""Number of a family, and which of its two sides."""


def _read_verbs() -> dict[str, frozenset[_Side]]:
    found: dict[str, set[_Side]] = {}
    for number, line in enumerate((*lines(VERBS), *lines(LIKE_VERBS))):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(word, set()).add((number, side))
    return {word: frozenset(sides) for word, sides in found.items()}


def _read_lines(text: str) -> Iterator[list[str]]:
    for line in lines(text):
        for some in line.split("|"):
            yield some.split()


def _read_others(text: str, stemmed: bool) -> dict[str, frozenset[str]]:
    """Return for each word those that stand in a line with it."""
    found: dict[str, set[str]] = {}
    for line in _read_lines(text):
        words = [stem(word) for word in line] if stemmed else line
        for word in words:
            found.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in found.items()}


_SIDES_OF = _read_verbs()
_SURE = sum(1 for _ in lines(VERBS))
_EXCLUDES = _read_others(EXCLUSIVE, stemmed=False)
_ALIKE = _read_others(f"{THINGS.strip()}\n{LIKE_THINGS}", stemmed=True)
_OTHER_KIND = _read_others(KINDS_OF_THINGS, stemmed=True)
_WITH_PARTICLE = frozenset(verb.split("-")[0] for verb in _SIDES_OF if "-" in verb)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a sentence asks for.

    Attributes:
        verbs: Its verbs that are in a family, the light ones left out.
        families: Their families.
        heads: The families of the first of them.
        head: Stem of the word that it begins with, where that may be a verb; empty otherwise.
        negated: Stems of what it wants not to be done, each with that of the word behind, which may be empty.
        words: All of its words.
        undoing: Those such as "unpin" and "disconnect".
        exclusive: Those that exclude others.
        turned: Its pairs "A to B".
        into: What something goes to.
        out_of: What something comes from.
        content: Its words without those that say nothing, in order.
        values: Those of them that are values: numbers, and what is written with capitals or like a file.
        things: Stems of the other words that say something, the applications left out.
    """

    verbs: tuple[str, ...]
    families: frozenset[_Side]
    heads: frozenset[_Side]
    head: str
    negated: frozenset[tuple[str, str]]
    words: frozenset[str]
    undoing: frozenset[str]
    exclusive: frozenset[str]
    turned: frozenset[tuple[str, str]]
    into: frozenset[str]
    out_of: frozenset[str]
    content: tuple[str, ...]
    values: frozenset[str]
    things: frozenset[str]

    @property
    def surely(self) -> frozenset[_Side]:
        """The families of the first verb, without those whose verbs may only be meant by each other."""
        return frozenset(side for side in self.heads if side[0] < _SURE)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What two sentences have in common.

    Attributes:
        verbs: Whether their verbs ask for the same.
        key_covered: Share of the things of the key that the query names, too, by whatever word.
        query_covered: Share of the things of the query that the key names, too, by whatever word.
        contrasted: Whether each names a thing of one kind that the other does not, such as a chart and a table.
        otherwise: Whether the query asks for something else with the same things: by another verb, or in the same words
            but for one, which is no value.
        longer: How many words that say something the query has more than the key.
    """

    verbs: Verbs
    key_covered: float
    query_covered: float
    contrasted: bool
    otherwise: bool
    longer: int


@lru_cache(maxsize=16_384)
def asked(text: str) -> Asked:
    """Read what a sentence asks for."""
    named = without_applications(text).lstrip(" .,:;-")
    plain = _INSTEAD.sub("", _NO_LONGER.sub("not", _LEAD.sub("", named).casefold()))
    words = _WORD.findall(plain)
    verbs: list[str] = []
    sides: list[frozenset[_Side]] = []
    spent: set[str] = set()
    negated = False
    for place, word in enumerate(words):
        negated = negated or _negates(words, place)
        verb = _verb(words, place)
        if verb is None or (verb == "stop" and _negates(words, place)):
            continue
        of_verb = _SIDES_OF[verb]
        spent.update(part for part in (word, *verb.split("-")))
        if negated and word not in _NEGATIONS:
            of_verb = frozenset((number, 1 - side) for number, side in of_verb)
            verb = f"not {verb}"
            negated = False
        verbs.append(verb)
        sides.append(of_verb)
    parts = frozenset(words) | frozenset(part for word in words if "-" in word for part in word.split("-"))
    return Asked(
        tuple(verbs),
        frozenset().union(*sides),
        sides[0] if sides else frozenset(),
        stem(_base(words[0])) if _begins_with_verb(words) else "",
        frozenset(_negations(words)),
        frozenset(words),
        frozenset(word for word in words if word.startswith(("un", "dis"))),
        frozenset(word for word in parts if word in _EXCLUDES),
        frozenset(_turned_pairs(words)),
        frozenset(map(stem, _INTO.findall(plain))),
        frozenset(map(stem, _OUT_OF.findall(plain))),
        tuple(word for word in words if word not in FILLERS | _NOMINAL),
        _values(named),
        frozenset(stem(word) for word in words if word not in spent and word not in FILLERS | LIGHT | _PARTICLES),
    )


def _begins_with_verb(words: list[str]) -> bool:
    """Tell whether a sentence begins with a verb that says something: one that is known, or what has an object."""
    if not words or words[0] in _NO_VERB | _NOMINAL | LIGHT | _NO_IMPERATIVE:
        return False
    return _base(words[0]) in _SIDES_OF or len(words) == 1 or words[1] in _BEGINS_OBJECT


def _base(word: str) -> str:
    """Return the verb of an -ing form, else the word."""
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        if stem[-1] == stem[-2] and stem[-1] not in "ls":
            stem = stem[:-1]
        if stem in _SIDES_OF or stem in _WITH_PARTICLE:
            return stem
        return stem + "e" if stem + "e" in _SIDES_OF or stem + "e" in _WITH_PARTICLE else word
    return word


def _values(text: str) -> frozenset[str]:
    first, *others = _WORD.findall(text) or [""]
    return frozenset(word.casefold() for word in (first, *others) if any(map(str.isdigit, word))) | frozenset(
        word.casefold() for word in others if word != word.casefold()
    )


def _turned_pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what may be turned into what: "an EPUB book to MOBI" gives epub and mobi, and book and mobi."""
    for place, word in enumerate(words):
        if word in _TURNS:
            before = words[max(0, place - _NEAR_TURN) : place]
            behind = words[place + 1 : place + 1 + _NEAR_TURN]
            for one in before:
                yield from ((stem(one), stem(other)) for other in behind if not {one, other} & (FILLERS | _NOMINAL))


def _negates(words: list[str], place: int) -> bool:
    if words[place] in _NEGATIONS:
        return True
    # "Stop looping" is to do it no longer; "stop the recording" is a verb like others.
    return words[place] == "stop" and place + 1 < len(words) and words[place + 1].endswith("ing")


def _negations(words: list[str]) -> Iterator[tuple[str, str]]:
    for place in range(len(words)):
        if _negates(words, place):
            behind = [stem(word) for word in words[place + 1 :] if word not in FILLERS | _NOMINAL | _LONGER]
            if behind:
                yield behind[0], behind[1] if len(behind) > 1 else ""


def _verb(words: list[str], place: int) -> str | None:
    """Return the verb at a place, with its particle; None for what is a noun or in no family."""
    word = _base(words[place])
    if place and words[place - 1] in _NOMINAL:
        return None
    if word in _WITH_PARTICLE and (phrase := _with_particle(word, words[place + 1 : place + 6])):
        return phrase
    if word in LIGHT or word not in _SIDES_OF:
        return None
    if place and words[place] in OFTEN_NOUNS and words[place - 1] not in _CLAUSE_BEGINS:
        return None
    return word


def _with_particle(verb: str, following: list[str]) -> str | None:
    # The particle may stand behind the object, "switch line wrapping on"; "in" and "to" there begin something else.
    near = following[:1] + [word for word in following[1:] if word not in ("in", "to")]
    phrases = (f"{verb}-{word}" for word in near if word in _PARTICLES)
    return next((phrase for phrase in phrases if phrase in _SIDES_OF), None)


def conflict(query: str, key: str) -> tuple[str, str] | None:
    """Return a word of the query and one of the key that ask for opposites; None where there are none."""
    one, other = asked(query), asked(key)
    found = _excluded(one, other) or _turned(one, other) or _opposite_heads(one, other)
    found = found or _undone(one, other) or _undone(other, one) or _removed(one, other)
    return found or _ended(one, other) or (pair[::-1] if (pair := _ended(other, one)) else None)


def _excluded(one: Asked, other: Asked) -> tuple[str, str] | None:
    for word in sorted(one.exclusive - other.exclusive):
        for excluded in sorted(_EXCLUDES[word] & other.exclusive - one.exclusive):
            return word, excluded
    return None


def _turned(one: Asked, other: Asked) -> tuple[str, str] | None:
    for a, b in sorted(one.turned):
        if (b, a) in other.turned and (a, b) not in other.turned:
            return f"{a} to {b}", f"{b} to {a}"
    for thing in sorted((one.into & other.out_of) - one.out_of - other.into):
        return f"to {thing}", f"from {thing}"
    for thing in sorted((one.out_of & other.into) - one.into - other.out_of):
        return f"from {thing}", f"to {thing}"
    return None


def _opposite_heads(one: Asked, other: Asked) -> tuple[str, str] | None:
    if not one.heads or not other.heads or one.heads & other.heads:
        return None
    if any((number, 1 - side) in other.heads for number, side in one.heads):
        return one.verbs[0], other.verbs[0]
    return None


def _undone(one: Asked, other: Asked) -> tuple[str, str] | None:
    if any(verb in _ENDS for verb in other.verbs[:1]):
        # "Stop the recording" does what "stop recording" does.
        return None
    words = frozenset(map(stem, other.words))
    for word, behind in sorted(one.negated - other.negated):
        if word in words and (not behind or behind in words):
            return f"not {word}", word
    for word in sorted(one.undoing - other.words):
        if {word[2:], word[3:]} & other.words:
            return word, word[2:]
    return None


def _ended(one: Asked, other: Asked) -> tuple[str, str] | None:
    """Tell where one ends or takes away, as a thing, what the other does: "remove the tag" and "tag the photo"."""
    ends = next((verb for verb in one.verbs[:1] if verb in _REMOVES | _ENDS), None)
    if ends is None or other.heads & one.heads or any(verb in _REMOVES | _ENDS for verb in other.verbs):
        return None
    done = other.head if other.head in map(stem, one.content[1:]) else ""
    return (f"{ends} {done}", done) if done and stem(ends) != done else None


def _removed(one: Asked, other: Asked) -> tuple[str, str] | None:
    """Tell where one removes what the other is about without removing it."""
    for removing, kept in ((one, other), (other, one)):
        verb = next((verb for verb in removing.verbs[:1] if verb in _REMOVES), None)
        if verb is None or removing.heads & kept.families:
            continue
        if (not kept.families and removing is one) or _are_near(one, other):
            found = (verb, kept.verbs[0] if kept.verbs else "(no such word)")
            return found if removing is one else found[::-1]
    return None


def compare_verbs(query: str, key: str) -> Verbs:
    """Tell whether verbs of two sentences ask for the same."""
    return _compare_verbs(asked(query), asked(key))


def _compare_verbs(one: Asked, other: Asked) -> Verbs:
    if one.head and one.head == other.head:
        return "same"
    if one.families and other.families:
        return "same" if one.families & other.families else "other"
    if one.head and other.head:
        # One of them in no family: a verb that is not known.
        return "other"
    return "unclear" if one.families else "unknown"


def compare(query: str, key: str) -> Likeness:
    """Tell what two sentences have in common."""
    one, other = asked(query), asked(key)
    left, right = _unmatched(one, other), _unmatched(other, one)
    verbs = _compare_verbs(one, other)
    return Likeness(
        verbs,
        1 - len(right) / max(1, len(other.things)),
        1 - len(left) / max(1, len(one.things)),
        any(_OTHER_KIND.get(thing, frozenset()) & right for thing in left),
        _by_another_verb(one, other, verbs, left) or _but_for_one_word(one, other) or _only_one_ends(one, other),
        len(one.content) - len(other.content),
    )


def _by_another_verb(one: Asked, other: Asked, verbs: Verbs, left: frozenset[str]) -> bool:
    """Tell whether all things of a query are those of a key, while the verbs differ: "rename" and "create a folder"."""
    if verbs != "other" or left or not one.things or not one.head or not other.head:
        return False
    return one.head not in _stems(other) and other.head not in _stems(one)


def _only_one_ends(one: Asked, other: Asked) -> bool:
    """Tell whether one begins with a verb that takes something away or ends it, and no verb of the other does so."""
    for ending, going in ((one, other), (other, one)):
        ends = bool(ending.verbs) and ending.verbs[0] in _REMOVES | _ENDS
        if ends and going.head and not ending.heads & going.families:
            return True
    return False


def _but_for_one_word(one: Asked, other: Asked) -> bool:
    """Tell whether two sentences are the same, word by word, but for a thing that is no value and has another name."""
    if len(one.content) != len(other.content):
        return False
    pairs = [(a, b) for a, b in zip(one.content, other.content, strict=True) if stem(a) != stem(b)]
    if len(pairs) != 1 or stem(pairs[0][0]) not in one.things or stem(pairs[0][1]) not in other.things:
        return False
    a, b = pairs[0]
    values = {word for word in {a, b} & (one.values | other.values) if one.head not in _PRESSES or not word.isalpha()}
    return not (values or stem(b) in _ALIKE.get(stem(a), frozenset()))


def _are_near(one: Asked, other: Asked) -> bool:
    return len(one.things - _stems(other)) <= 1 and len(other.things - _stems(one)) <= 1


def _unmatched(one: Asked, other: Asked) -> frozenset[str]:
    """Return the things of one that the other does not name, by whatever word."""
    words = _stems(other)
    return frozenset(thing for thing in one.things - words if not _ALIKE.get(thing, frozenset()) & words)


def _stems(sentence: Asked) -> frozenset[str]:
    return frozenset(map(stem, sentence.words))
