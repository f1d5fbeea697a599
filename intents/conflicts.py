"""Detection of requests that are opposites or about different things.

Embeddings hardly distinguish "zoom in" from "zoom out" or "rename a file" from "sort the files". Here, two sentences
are compared by families of verbs (``verbs.yaml``), mutually exclusive words, and the things they are about
(``things.yaml``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from intents.applications import without_applications
from intents.clauses import without_politeness
from intents.lexicon import fillers, stem
from intents.tables import pattern, related, table, words
from intents.templates import Template

# Whether two sentences have a family of verbs in common; "unclear" if only the first has a family.
Verbs = Literal["same", "other", "unclear", "unknown"]
_Side = tuple[int, int]  # the number of a family of verbs, and one of its two sides

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_NEAR_TURN = 3  # number of words before and after "to" that may be converted, or converted to
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a sentence by their role in the request."""

    verbs: tuple[str, ...]  # verbs that are in a family, the light ones left out
    families: frozenset[_Side]  # the families of all of them
    heads: frozenset[_Side]  # the families of the first
    sure_heads: frozenset[_Side]  # those of `heads` whose verbs mean the same wherever they stand
    head: str  # stem of the first word, where that may be a verb; empty otherwise
    # stems of what must not be done, each with the stem behind it, which may be empty
    negated: frozenset[tuple[str, str]]
    words: frozenset[str]
    stems: frozenset[str]  # of all words
    undoing: frozenset[str]  # words such as "unpin" and "disconnect"
    exclusive: frozenset[str]  # words that rule out others
    turned: frozenset[tuple[str, str]]  # pairs of stems "A to B"
    into: frozenset[str]  # stems of what something goes to
    out_of: frozenset[str]  # stems of what something comes from
    content: tuple[str, ...]  # the words that say something, in order
    values: frozenset[str]  # those that are values: numbers, and what is written with capitals
    things: frozenset[str]  # stems of what the sentence is about, without verbs and applications


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two sentences."""

    verbs: Verbs  # whether their verbs agree
    key_covered: float  # share of the things in the key that the query names too, by any word
    query_covered: float  # share of the things in the query that the key names too, by any word
    otherwise: bool  # whether the query requests something else with the same things
    longer: int  # how many more content words the query has than the key


# Analysis of one sentence


@lru_cache(maxsize=1)
def _families() -> dict[str, frozenset[_Side]]:
    """Return the families of each verb."""
    found: dict[str, set[_Side]] = {}
    for number, line in enumerate((*table("verbs")["families"], *table("verbs")["loose_families"])):
        for side, listed in enumerate(line.split("|")):
            for verb in listed.split():
                found.setdefault(verb, set()).add((number, side))
    return {verb: frozenset(sides) for verb, sides in found.items()}


@lru_cache(maxsize=1)
def _with_particle() -> frozenset[str]:
    return frozenset(verb.split("-")[0] for verb in _families() if "-" in verb)


@lru_cache(maxsize=1)
def _reports() -> re.Pattern[str]:
    reports = "|".join(Template(each).source for each in table("words")["reports"])
    return re.compile(rf"(?:{reports})[\s:,]+", re.IGNORECASE)


@lru_cache(maxsize=1)
def _small() -> frozenset[str]:
    return fillers() | words("words", "determiners")


@lru_cache(maxsize=16_384)
def analyze(text: str) -> Request:
    """Classify the words of a sentence by their role in the request."""
    named = _reports().sub("", without_politeness(without_applications(text).lstrip(" .,:;-")), count=1)
    plain = pattern("instead").sub("", pattern("no_longer").sub("not", named.casefold()))
    found = _WORD.findall(plain)
    verbs: list[str] = []
    sides: list[frozenset[_Side]] = []
    spent: set[str] = set()
    negated = False
    for place, word in enumerate(found):
        negates = _negates(found, place)
        negated = negated or negates
        verb = _verb(found, place)
        if verb is None or (negates and verb in words("words", "stopping")):
            continue
        of_verb = _families()[verb]
        spent.update((word, *verb.split("-")))
        if negated and word not in words("words", "negations"):
            of_verb = frozenset((number, 1 - side) for number, side in of_verb)
            verb, negated = f"not {verb}", False
        verbs.append(verb)
        sides.append(of_verb)
    heads = sides[0] if sides else frozenset()
    parts = frozenset(found) | frozenset(part for word in found if "-" in word for part in word.split("-"))
    no_things = spent | fillers() | words("verbs", "light") | words("words", "particles")
    return Request(
        verbs=tuple(verbs),
        families=frozenset().union(*sides),
        heads=heads,
        sure_heads=frozenset(side for side in heads if side[0] < len(table("verbs")["families"])),
        head=stem(_base(found[0])) if _begins_with_verb(found) else "",
        negated=frozenset(_negations(found)),
        words=frozenset(found),
        stems=frozenset(map(stem, found)),
        undoing=frozenset(word for word in found if word.startswith(("un", "dis"))),
        exclusive=parts.intersection(related("things", "exclusive")),
        turned=frozenset(_turned_pairs(found)),
        into=frozenset(map(stem, pattern("into").findall(plain))),
        out_of=frozenset(map(stem, pattern("out_of").findall(plain))),
        content=tuple(word for word in found if word not in _small()),
        values=_values(named),
        things=frozenset(stem(word) for word in found if word not in no_things),
    )


def _begins_with_verb(found: list[str]) -> bool:
    """Return whether a sentence begins with a meaningful verb: a known one, or one with an object."""
    no_verbs = ("no_verbs", "determiners", "no_imperatives")
    if not found or found[0] in words("verbs", "light") or any(found[0] in words("words", key) for key in no_verbs):
        return False
    return _base(found[0]) in _families() or len(found) == 1 or found[1] in words("words", "object_starts")


def _base(word: str) -> str:
    """Return the verb of an -ing form; any other word unchanged."""
    if not word.endswith("ing") or len(word) <= 5:
        return word
    base = word[:-3]
    if base[-1] == base[-2] and base[-1] not in "ls":
        base = base[:-1]
    return next((form for form in (base, f"{base}e") if form in _families() or form in _with_particle()), word)


def _values(text: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for found in _value_words(text))


def _value_words(text: str) -> list[re.Match[str]]:
    """Return the words with a digit, and those with a capital letter that do not begin the text."""
    return [
        found
        for place, found in enumerate(_WORD.finditer(text))
        if any(map(str.isdigit, found[0])) or (place and found[0] != found[0].casefold())
    ]


def with_values_of(query: str, key: str) -> str:
    """Return a key with its own values replaced, in order, by those that only the query has.

    "Zoom to 50 percent" becomes "Zoom to 80 percent" for the query "make it 80 percent". If the query has more or fewer
    values of its own, the key is returned unchanged, because it is not known which belong together.
    """
    of_query, of_key = (
        [found for found in _value_words(text) if found[0].partition("'")[0] != "I"] for text in (query, key)
    )
    new = [found[0] for found in of_query if found[0].casefold() not in _values(key)]
    old = [found for found in of_key if found[0].casefold() not in _values(query)]
    if len(new) != len(old):
        return key
    for found, value in zip(reversed(old), reversed(new), strict=True):
        key = key[: found.start()] + value + key[found.end() :]
    return key


def _turned_pairs(found: list[str]) -> Iterator[tuple[str, str]]:
    """Yield possible conversions: "an EPUB book to MOBI" gives (epub, mobi) and (book, mobi)."""
    for place, word in enumerate(found):
        if word in words("words", "turning"):
            before = [one for one in found[max(0, place - _NEAR_TURN) : place] if one not in _small()]
            behind = [one for one in found[place + 1 : place + 1 + _NEAR_TURN] if one not in _small()]
            yield from ((stem(one), stem(other)) for one in before for other in behind)


def _negates(found: list[str], place: int) -> bool:
    if found[place] in words("words", "negations"):
        return True
    # "Stop looping" is to do it no longer; "stop the recording" is a verb like others.
    following = found[place + 1 : place + 2]
    return found[place] in words("words", "stopping") and any(word.endswith("ing") for word in following)


def _negations(found: list[str]) -> Iterator[tuple[str, str]]:
    small = _small() | words("words", "longer")
    for place in range(len(found)):
        if _negates(found, place) and (behind := [stem(word) for word in found[place + 1 :] if word not in small]):
            yield behind[0], behind[1] if len(behind) > 1 else ""


def _verb(found: list[str], place: int) -> str | None:
    """Return the verb at a place, with its particle; None for what is a noun or in no family."""
    word = _base(found[place])
    before = found[place - 1] if place else ""
    if before in words("words", "determiners"):
        return None
    if word in _with_particle():
        # The particle may stand behind the object, "switch line wrapping on"; "in" and "to" there begin something else.
        later = [one for one in found[place + 2 : place + 6] if one not in words("words", "parting")]
        particles = (one for one in (*found[place + 1 : place + 2], *later) if one in words("words", "particles"))
        for particle in particles:
            if (phrase := f"{word}-{particle}") in _families():
                return phrase
    if word in words("verbs", "light") or word not in _families():
        return None
    is_noun = before and found[place] in words("verbs", "often_nouns") and before not in words("words", "clause_starts")
    return None if is_noun else word


# Comparison of two sentences


def conflict(query: str, key: str) -> tuple[str, str] | None:
    """Return a word of the query and one of the key that are opposites; None if there are none."""
    one, other = analyze(query), analyze(key)
    return (
        _excluded(one, other)
        or _turned(one, other)
        or _opposite_heads(one, other)
        or _undone(one, other)
        or _undone(other, one)
        or _removed(one, other)
        or _ended(one, other)
        or ((pair := _ended(other, one)) and pair[::-1])
        or None
    )


def _excluded(one: Request, other: Request) -> tuple[str, str] | None:
    for word in sorted(one.exclusive - other.exclusive):
        for excluded in sorted(related("things", "exclusive")[word] & other.exclusive - one.exclusive):
            return word, excluded
    return None


def _turned(one: Request, other: Request) -> tuple[str, str] | None:
    for a, b in sorted(one.turned):
        if (b, a) in other.turned and (a, b) not in other.turned:
            return f"{a} to {b}", f"{b} to {a}"
    for thing in sorted((one.into & other.out_of) - one.out_of - other.into):
        return f"to {thing}", f"from {thing}"
    for thing in sorted((one.out_of & other.into) - one.into - other.out_of):
        return f"from {thing}", f"to {thing}"
    return None


def _opposite_heads(one: Request, other: Request) -> tuple[str, str] | None:
    if one.heads & other.heads or not any((number, 1 - side) in other.heads for number, side in one.heads):
        return None
    return one.verbs[0], other.verbs[0]


def _undone(one: Request, other: Request) -> tuple[str, str] | None:
    if any(verb in words("verbs", "ending") for verb in other.verbs[:1]):
        return None  # "stop the recording" does what "stop recording" does
    for word, behind in sorted(one.negated - other.negated):
        if word in other.stems and (not behind or behind in other.stems):
            return f"not {word}", word
    for word in sorted(one.undoing - other.words):
        if {word[2:], word[3:]} & other.words:
            return word, word[2:]
    return None


def _removed(one: Request, other: Request) -> tuple[str, str] | None:
    """Return verbs if one sentence removes the thing that the other one is about."""
    near = len(one.things - other.stems) <= 1 and len(other.things - one.stems) <= 1
    for removing, kept in ((one, other), (other, one)):
        verb = next((verb for verb in removing.verbs[:1] if verb in words("verbs", "removing")), None)
        if verb is None or removing.heads & kept.families:
            continue
        if near or (not kept.families and removing is one):
            found = (verb, kept.verbs[0] if kept.verbs else "(no such word)")
            return found if removing is one else found[::-1]
    return None


def _ended(one: Request, other: Request) -> tuple[str, str] | None:
    """Return words where one ends, as a thing, what the other does: "remove the tag" and "tag the photo"."""
    ends = next((verb for verb in one.verbs[:1] if _takes_away(verb)), None)
    if ends is None or other.heads & one.heads or any(map(_takes_away, other.verbs)):
        return None
    done = other.head
    return (f"{ends} {done}", done) if done in map(stem, one.content[1:]) and done and stem(ends) != done else None


def _takes_away(verb: str) -> bool:
    return verb in words("verbs", "removing") or verb in words("verbs", "ending")


def compare(query: str, key: str) -> Comparison:
    """Compare the verbs and the things of two sentences."""
    one, other = analyze(query), analyze(key)
    left, right = _unmatched(one, other), _unmatched(other, one)
    verbs = _compare_verbs(one, other)
    # All things of the query are those of the key, while the verbs differ: "rename" and "create a folder".
    other_verb = verbs == "other" and not left and one.things and one.head and other.head
    return Comparison(
        verbs=verbs,
        key_covered=1 - len(right) / max(1, len(other.things)),
        query_covered=1 - len(left) / max(1, len(one.things)),
        otherwise=bool(other_verb and one.head not in other.stems and other.head not in one.stems)
        or _differs_in_one_word(one, other)
        or _only_one_ends(one, other)
        or _only_one_ends(other, one),
        longer=len(one.content) - len(other.content),
    )


def _compare_verbs(one: Request, other: Request) -> Verbs:
    if one.head and one.head == other.head:
        return "same"
    if one.families and other.families:
        return "same" if one.families & other.families else "other"
    if one.head and other.head:
        return "other"  # at least one of them is a verb of no family
    return "unclear" if one.families else "unknown"


def _only_one_ends(one: Request, other: Request) -> bool:
    """Return whether one begins with a verb that takes away or ends something, and no verb of the other does so."""
    asks = bool(other.head or other.verbs)  # "set up" begins with a verb that says little by itself
    return any(map(_takes_away, one.verbs[:1])) and asks and not one.heads & other.families


def _differs_in_one_word(one: Request, other: Request) -> bool:
    """Return whether two sentences are equal except for one thing that is not a value."""
    if len(one.content) != len(other.content):
        return False
    pairs = [(a, b) for a, b in zip(one.content, other.content, strict=True) if stem(a) != stem(b)]
    if len(pairs) != 1 or stem(pairs[0][0]) not in one.things or stem(pairs[0][1]) not in other.things:
        return False
    a, b = pairs[0]
    presses = one.head in map(stem, words("verbs", "pressing"))  # these are followed by the name of a control
    values = {word for word in {a, b} & (one.values | other.values) if not (presses and word.isalpha())}
    return not values and stem(b) not in _alike(stem(a))


def _unmatched(one: Request, other: Request) -> frozenset[str]:
    """Return the things of one sentence that the other does not name by any word."""
    return frozenset(thing for thing in one.things - other.stems if not _alike(thing) & other.stems)


def _alike(thing: str) -> frozenset[str]:
    return related("things", "same", "alike", form=stem).get(thing, _NONE)
