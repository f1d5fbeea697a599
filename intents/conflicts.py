"""Detection of sentences that ask for opposites or for other things.

An embedding hardly distinguishes "zoom in" from "zoom out" or "rename a file" from "sort the files". Here, two
sentences are compared by families of verbs (``verbs.yaml``), words that exclude each other, and the things they are
about (``things.yaml``).
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
from intents.tables import groups, table, words
from intents.templates import Template

# Whether two sentences have a family of verbs in common; "unclear" if only the first has a family.
Verbs = Literal["same", "other", "unclear", "unknown"]
_Side = tuple[int, int]  # the number of a family of verbs, and one of its two sides

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_INTO = re.compile(r"(?<!\w)(?:in)?to (?:an? |the |my |another )?(\w+)(?!\w)")
_OUT_OF = re.compile(r"(?<!\w)(?:out of|from|off) (?:an? |the |my |another )?(\w+)(?!\w)")
_NO_LONGER = re.compile(r"(?<!\w)no longer(?!\w)")
_INSTEAD = re.compile(r"(?<!\w)(?:instead of|rather than)(?: an?| the)? [\w-]+")
_NEAR_TURN = 3  # number of words before and after "to" that may be converted, or converted to


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a sentence by their role in the request.

    Attributes:
        verbs: Verbs that are in a family, the light ones left out.
        families: The families of all of them.
        heads: The families of the first.
        sure_heads: Those of `heads` whose verbs mean the same wherever they stand.
        head: Stem of the first word, where that may be a verb; empty otherwise.
        negated: Stems of what must not be done, each with the stem behind it, which may be empty.
        words: All words.
        stems: Their stems.
        undoing: Words such as "unpin" and "disconnect".
        exclusive: Words that rule out others.
        turned: Pairs of stems "A to B".
        into: Stems of what something goes to.
        out_of: Stems of what something comes from.
        content: The words that say something, in order.
        values: Those that are values: numbers, and what is written with capitals.
        things: Stems of what the sentence is about, without verbs and applications.
    """

    verbs: tuple[str, ...]
    families: frozenset[_Side]
    heads: frozenset[_Side]
    sure_heads: frozenset[_Side]
    head: str
    negated: frozenset[tuple[str, str]]
    words: frozenset[str]
    stems: frozenset[str]
    undoing: frozenset[str]
    exclusive: frozenset[str]
    turned: frozenset[tuple[str, str]]
    into: frozenset[str]
    out_of: frozenset[str]
    content: tuple[str, ...]
    values: frozenset[str]
    things: frozenset[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two sentences.

    Attributes:
        verbs: Whether their verbs ask for the same.
        key_covered: Share of the things of the key that the query names too, by whatever word.
        query_covered: Share of the things of the query that the key names too, by whatever word.
        contrasted: Whether each names a thing of one kind that the other does not, such as a chart and a table.
        otherwise: Whether the query asks for something else with the same things.
        longer: How many more content words the query has than the key.
    """

    verbs: Verbs
    key_covered: float
    query_covered: float
    contrasted: bool
    otherwise: bool
    longer: int


@dataclass(frozen=True, slots=True)
class _Tables:
    sides: dict[str, frozenset[_Side]]
    sure: int
    with_particle: frozenset[str]
    excludes: dict[str, frozenset[str]]
    alike: dict[str, frozenset[str]]
    other_kind: dict[str, frozenset[str]]
    fillers: frozenset[str]
    determiners: frozenset[str]
    takes_away: frozenset[str]
    pressing: frozenset[str]
    reports: re.Pattern[str]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    verbs = table("verbs")
    sides: dict[str, set[_Side]] = {}
    for number, line in enumerate((*verbs["families"], *verbs["loose_families"])):
        for side, listed in enumerate(line.split("|")):
            for word in listed.split():
                sides.setdefault(word, set()).add((number, side))
    reports = "|".join(Template(each).source for each in table("words")["reports"])
    return _Tables(
        sides={word: frozenset(found) for word, found in sides.items()},
        sure=len(verbs["families"]),
        with_particle=frozenset(verb.split("-")[0] for verb in sides if "-" in verb),
        excludes=_others(groups("things", "exclusive")),
        alike=_others(tuple(map(stem, group)) for group in groups("things", "same", "alike")),
        other_kind=_others(tuple(map(stem, group)) for group in groups("things", "kinds")),
        fillers=fillers(),
        determiners=words("words", "determiners"),
        takes_away=words("verbs", "removing") | words("verbs", "ending"),
        pressing=frozenset(map(stem, words("verbs", "pressing"))),
        reports=re.compile(rf"(?:{reports})[\s:,]+", re.IGNORECASE),
    )


def _others(listed: Iterator[tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """Return for each word the others of its groups."""
    found: dict[str, set[str]] = {}
    for group in listed:
        for word in group:
            found.setdefault(word, set()).update(other for other in group if other != word)
    return {word: frozenset(others) for word, others in found.items()}


# Analysis of one sentence


@lru_cache(maxsize=16_384)
def analyze(text: str) -> Request:
    """Classify the words of a sentence by their role in the request."""
    tables = _tables()
    named = tables.reports.sub("", without_politeness(without_applications(text).lstrip(" .,:;-")), count=1)
    plain = _INSTEAD.sub("", _NO_LONGER.sub("not", named.casefold()))
    found = _WORD.findall(plain)
    verbs: list[str] = []
    sides: list[frozenset[_Side]] = []
    spent: set[str] = set()
    negated = False
    for place, word in enumerate(found):
        negated = negated or _negates(found, place)
        verb = _verb(found, place)
        if verb is None or (verb == "stop" and _negates(found, place)):
            continue
        of_verb = tables.sides[verb]
        spent.update((word, *verb.split("-")))
        if negated and word not in words("words", "negations"):
            of_verb = frozenset((number, 1 - side) for number, side in of_verb)
            verb, negated = f"not {verb}", False
        verbs.append(verb)
        sides.append(of_verb)
    heads = sides[0] if sides else frozenset()
    parts = frozenset(found) | frozenset(part for word in found if "-" in word for part in word.split("-"))
    no_things = spent | tables.fillers | words("verbs", "light") | words("words", "particles")
    return Request(
        verbs=tuple(verbs),
        families=frozenset().union(*sides),
        heads=heads,
        sure_heads=frozenset(side for side in heads if side[0] < tables.sure),
        head=stem(_base(found[0])) if _begins_with_verb(found) else "",
        negated=frozenset(_negations(found)),
        words=frozenset(found),
        stems=frozenset(map(stem, found)),
        undoing=frozenset(word for word in found if word.startswith(("un", "dis"))),
        exclusive=frozenset(word for word in parts if word in tables.excludes),
        turned=frozenset(_turned_pairs(found)),
        into=frozenset(map(stem, _INTO.findall(plain))),
        out_of=frozenset(map(stem, _OUT_OF.findall(plain))),
        content=tuple(word for word in found if word not in tables.fillers and word not in tables.determiners),
        values=_values(named),
        things=frozenset(stem(word) for word in found if word not in no_things),
    )


def _begins_with_verb(found: list[str]) -> bool:
    """Return whether a sentence begins with a verb that says something: a known one, or one that has an object."""
    if not found or any(found[0] in words("words", key) for key in ("no_verbs", "determiners", "no_imperatives")):
        return False
    if found[0] in words("verbs", "light"):
        return False
    known = _base(found[0]) in _tables().sides
    return known or len(found) == 1 or found[1] in words("words", "object_starts")


def _base(word: str) -> str:
    """Return the verb of an -ing form; any other word as it is."""
    if not word.endswith("ing") or len(word) <= 5:
        return word
    tables, base = _tables(), word[:-3]
    if base[-1] == base[-2] and base[-1] not in "ls":
        base = base[:-1]
    forms = (base, f"{base}e")
    return next((form for form in forms if form in tables.sides or form in tables.with_particle), word)


def _values(text: str) -> frozenset[str]:
    first, *others = _WORD.findall(text) or [""]
    numbers = (word for word in (first, *others) if any(map(str.isdigit, word)))
    names = (word for word in others if word != word.casefold())
    return frozenset(word.casefold() for word in (*numbers, *names))


def _turned_pairs(found: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what may be turned into what: "an EPUB book to MOBI" gives epub and mobi, and book and mobi."""
    small = _tables().fillers | _tables().determiners
    for place, word in enumerate(found):
        if word in ("to", "into"):
            before = [one for one in found[max(0, place - _NEAR_TURN) : place] if one not in small]
            behind = [one for one in found[place + 1 : place + 1 + _NEAR_TURN] if one not in small]
            yield from ((stem(one), stem(other)) for one in before for other in behind)


def _negates(found: list[str], place: int) -> bool:
    if found[place] in words("words", "negations"):
        return True
    # "Stop looping" is to do it no longer; "stop the recording" is a verb like others.
    return found[place] == "stop" and place + 1 < len(found) and found[place + 1].endswith("ing")


def _negations(found: list[str]) -> Iterator[tuple[str, str]]:
    small = _tables().fillers | _tables().determiners | words("words", "longer")
    for place in range(len(found)):
        if _negates(found, place):
            behind = [stem(word) for word in found[place + 1 :] if word not in small]
            if behind:
                yield behind[0], behind[1] if len(behind) > 1 else ""


def _verb(found: list[str], place: int) -> str | None:
    """Return the verb at a place, with its particle; None for what is a noun or in no family."""
    tables, word = _tables(), _base(found[place])
    before = found[place - 1] if place else ""
    if before in tables.determiners:
        return None
    if word in tables.with_particle:
        # The particle may stand behind the object, "switch line wrapping on"; "in" and "to" there begin something else.
        near = found[place + 1 : place + 2] + [one for one in found[place + 2 : place + 6] if one not in ("in", "to")]
        phrases = (f"{word}-{one}" for one in near if one in words("words", "particles"))
        if (phrase := next((phrase for phrase in phrases if phrase in tables.sides), None)) is not None:
            return phrase
    if word in words("verbs", "light") or word not in tables.sides:
        return None
    is_noun = before and found[place] in words("verbs", "often_nouns") and before not in words("words", "clause_starts")
    return None if is_noun else word


# Comparison of two sentences


def conflict(query: str, key: str) -> tuple[str, str] | None:
    """Return a word of the query and one of the key that ask for opposites; None where there are none."""
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
        for excluded in sorted(_tables().excludes[word] & other.exclusive - one.exclusive):
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
    """Return verbs where one sentence removes what the other is about without removing it."""
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
    takes_away = _tables().takes_away
    ends = next((verb for verb in one.verbs[:1] if verb in takes_away), None)
    if ends is None or other.heads & one.heads or takes_away.intersection(other.verbs):
        return None
    done = other.head
    return (f"{ends} {done}", done) if done in map(stem, one.content[1:]) and done and stem(ends) != done else None


def compare_verbs(query: str, key: str) -> Verbs:
    """Return whether the verbs of two sentences ask for the same."""
    return _compare_verbs(analyze(query), analyze(key))


def _compare_verbs(one: Request, other: Request) -> Verbs:
    if one.head and one.head == other.head:
        return "same"
    if one.families and other.families:
        return "same" if one.families & other.families else "other"
    if one.head and other.head:
        return "other"  # at least one of them is a verb of no family
    return "unclear" if one.families else "unknown"


def compare(query: str, key: str) -> Comparison:
    """Compare the verbs and the things of two sentences."""
    one, other = analyze(query), analyze(key)
    left, right = _unmatched(one, other), _unmatched(other, one)
    verbs = _compare_verbs(one, other)
    other_kind = _tables().other_kind
    # All things of the query are those of the key, while the verbs differ: "rename" and "create a folder".
    other_verb = verbs == "other" and not left and one.things and one.head and other.head
    return Comparison(
        verbs=verbs,
        key_covered=1 - len(right) / max(1, len(other.things)),
        query_covered=1 - len(left) / max(1, len(one.things)),
        contrasted=any(other_kind.get(thing, frozenset()) & right for thing in left),
        otherwise=bool(other_verb and one.head not in other.stems and other.head not in one.stems)
        or _differs_in_one_word(one, other)
        or _only_one_ends(one, other)
        or _only_one_ends(other, one),
        longer=len(one.content) - len(other.content),
    )


def _only_one_ends(one: Request, other: Request) -> bool:
    """Return whether one begins with a verb that takes away or ends something, and no verb of the other does so."""
    return bool(_tables().takes_away.intersection(one.verbs[:1]) and other.head and not one.heads & other.families)


def _differs_in_one_word(one: Request, other: Request) -> bool:
    """Return whether two sentences are the same, word by word, but for a thing that is no value."""
    if len(one.content) != len(other.content):
        return False
    pairs = [(a, b) for a, b in zip(one.content, other.content, strict=True) if stem(a) != stem(b)]
    if len(pairs) != 1 or stem(pairs[0][0]) not in one.things or stem(pairs[0][1]) not in other.things:
        return False
    a, b = pairs[0]
    presses = one.head in _tables().pressing  # what stands behind these names a control, not a value
    values = {word for word in {a, b} & (one.values | other.values) if not (presses and word.isalpha())}
    return not values and stem(b) not in _tables().alike.get(stem(a), frozenset())


def _unmatched(one: Request, other: Request) -> frozenset[str]:
    """Return the things of one that the other does not name, by whatever word."""
    alike = _tables().alike
    return frozenset(thing for thing in one.things - other.stems if not alike.get(thing, frozenset()) & other.stems)
