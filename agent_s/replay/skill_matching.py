"""How well skills fit what is asked for, for doing them without anybody looking.

A skill fits when the way of one of its names is one that the sentence may mean (`intents.wishes`), and both are about
the same. Words count by how rare they are among the skills of the application: "scientific" tells more than "number".
What asks for the opposite, for another value, or for more than the skill does, does not fit at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent_s.replay.skill_names import THEN, names_of
from intents.applications import without_applications
from intents.conflicts import asked as asked_for
from intents.conflicts import conflict
from intents.wishes import (
    EMPTY_VERBS,
    FORM,
    PARTS,
    TYPING,
    Wish,
    is_question,
    likeness,
    parts_of,
    read,
    says_more,
    says_way,
    with_pairs,
    words_of,
)
from intents.wordlists import word_set
from intents.words import stem
from memory_store import SkillExperience

FITS = 0.55
"""From here on a skill is done for what was asked; below, nothing is tried."""
CLEARLY = 0.06
"""So much better than every skill that does something else it must fit."""

_ASKED, _NAMED = 0.6, 0.4
"""How much it counts that what is asked for is done, and that what is done was asked for."""
_UNKNOWN, _SOFT, _SOFT_IN_NAMES = 0.55, 0.12, 0.3
"""Weight of a word that no skill has, and of one that says little."""
_CONTRAST = 0.6
"""What is left where each side names something that the other does not."""
_OTHER_VERB = 0.5
"""What is left where the verbs ask for different things."""
_ONLY_LIKE = 0.75
"""What is left where nothing is named by its own name, and more is named: a "toolbar" is no "formula bar"."""
_SHARED_FAMILIES = 2
"""In so many families of verbs two must stand together to ask for the same: most verbs have several senses."""
_OTHER_WAY = 0.93
"""What is left where the way is one that the sentence may mean, and not the one that it says."""
_LEAST_ASKED = 0.45
"""Of what is asked for, so much must be done at least."""

_MAKING = word_set("insert add create make put new")
_ALL = word_set("all everything every each whole entire both")
_GENERIC = word_set("""
    mode view option setting preference dialog window box button menu item app application program software feature
    way style format layout type kind key sign symbol character always only own display show use set
    """)
"""Words that tell no thing from another."""
_LITTLE = _GENERIC | word_set("""
    field entry tab page functionality text document file content selection selected current currently cell value thing
    name panel pane screen editor other one following when while then really using used mark list
    """)
"""Words that say little, such as what something is done to."""
_CATEGORIES = tuple(
    frozenset(line.split())
    for line in (
        "mode view layout",
        "format notation representation",
        "unit measure measurement",
        "theme scheme skin palette appearance color colour",
        "size width height length spacing",
        "language locale",
        "encoding charset",
    )
)
"""Of what something is chosen: a mode is no format."""
_SORTS = frozenset().union(*_CATEGORIES)
_ARTICLES = frozenset({"the", "a", "an"})


@dataclass(frozen=True, slots=True)
class Fit:
    """How a skill fits.

    Attributes:
        score: From 0 to 1.
        name: The name of the skill that fits best.
    """

    score: float
    name: str = ""


class Fitter:
    """Tells which of some skills fit best; words count by how rare they are among these.

    Args:
        skills: Those that come into question.
    """

    def __init__(self, skills: Sequence[SkillExperience]) -> None:
        self._names = {skill.id: _names(skill) for skill in skills}
        counts: Counter[str] = Counter()
        for names in self._names.values():
            counts.update({stem(word) for name in names for word in read(name).words})
        self._counts = counts
        self._most = math.log(2 + len(skills))

    def fit(self, query: str, skill: SkillExperience) -> Fit:
        """Return how well a skill fits what is asked for."""
        query = self._without_application(query)
        names = self._names[skill.id]
        if _plain(query) == _plain(names[0]):
            return Fit(1.0, names[0])
        if is_question(query):
            return Fit(0.0)
        fits = [self._fit(query, name.split(THEN), names) for name in names]
        return max(fits, key=lambda fit: fit.score)

    def _fit(self, query: str, named: Sequence[str], names: Sequence[str]) -> Fit:
        """Return how well what is done in turn fits the parts of what is asked for."""
        if len(named) == 1:
            return Fit(self._score(query, named[0], names), named[0])
        parts = parts_of(query)
        if len(parts) != len(named):
            return Fit(0.0)
        scores = [self._score(part, name, (name,)) for part, name in zip(parts, named, strict=True)]
        return Fit(min(scores), THEN.join(named))

    def are_same(self, one: SkillExperience, other: SkillExperience) -> bool:
        """Tell whether two skills do the same in different places: they share a name."""
        left, right = ({_form(name) for name in self._names[skill.id]} for skill in (one, other))
        return bool(left & right)

    def _without_application(self, query: str) -> str:
        """Leave out the application that a sentence names, unless its name is that of something in it, too."""
        plain = without_applications(query)
        named = set(words_of(query)) - set(words_of(plain))
        return query if any(self._counts[stem(word)] for word in named) else plain

    def _score(self, query: str, name: str, names: Sequence[str]) -> float:
        """Return how well one name of a skill fits."""
        asked, named, main = read(query), read(name), read(names[0])
        if not _may_be_meant(asked, main) or (main.way == "choose" != named.way) or conflict(query, names[0]):
            return 0.0
        everything = [word for each in names for word in with_pairs(read(each).words)]
        done, missing = self._covered(asked, everything)
        meant, extra = self._covered(named, with_pairs(asked.words), strict=True)
        if done < _LEAST_ASKED or not named.words or _is_other(asked, named, main, everything):
            return 0.0
        if _asks_for_more(query, " ".join(names)) or (main.way == "choose" and _sets_other(query, everything)):
            return 0.0
        score = _ASKED * done + _NAMED * meant
        chosen = main.way == "choose" and main.verb != "use"
        if missing and not chosen and (extra or not _things(asked)):
            score *= _CONTRAST
        elif extra and not (_is_named(asked, everything) and (_things(asked) or not _things(named))):
            score *= _ONLY_LIKE
        # "Line down" alone does not say that lines are moved; "make it uppercase" leaves the verb to what it becomes.
        called = name if asked_for(name).surely or asked.verb in EMPTY_VERBS else names[0]
        if _other_verb(asked, main, everything, query, called):
            score *= _OTHER_VERB
        return score if main.way == asked.way or asked.way == "do" else score * _OTHER_WAY

    def _covered(self, wish: Wish, others: Sequence[str], strict: bool = False) -> tuple[float, bool]:
        """Return the share of a wish's words that others say too, and whether one that names a thing is not among them.

        Args:
            wish: What is asked for, or a name.
            others: The words of the other side.
            strict: Whether a word that tells no thing from another counts as one where it is missing.
        """
        words = wish.words
        total = found = 0.0
        missing = False
        for place, word in enumerate(words):
            weight = max(self._weight(word), _SOFT_IN_NAMES if strict else 0.0)
            near = max((likeness(word, other) for other in others), default=0.0)
            if near < FORM and any(pair in others for pair in _pairs_at(place, words)):
                near = FORM
            if not near and word in _GENERIC and not strict:
                continue
            if not near and word == wish.verb:
                weight *= 0.5  # verbs are many for the same
            elif not near and word not in _GENERIC:
                missing = True
            total += weight
            found += weight * near
        return (found / total if total else 0.0), missing

    def _weight(self, word: str) -> float:
        if word in _LITTLE or word.removesuffix("s") in _LITTLE:
            return _SOFT
        count = self._counts[stem(word)]
        return _UNKNOWN if not count else 0.35 + 0.65 * (1 - math.log(1 + count) / self._most)


def _names(skill: SkillExperience) -> tuple[str, ...]:
    """Return the name of a skill and its other names, which may stand in its description."""
    return tuple(dict.fromkeys((*names_of(skill.name, skill.description), *skill.aliases)))


def _pairs_at(place: int, words: Sequence[str]) -> list[str]:
    """Return a word and its neighbours as one, as in "menubar" for "menu bar"."""
    return [words[at] + words[at + 1] for at in (place - 1, place) if 0 <= at < len(words) - 1]


def _may_be_meant(asked: Wish, main: Wish) -> bool:
    """Tell whether a sentence may mean what a skill does; what is called "use ..." has no way of its own."""
    return main.way in asked.ways or (main.verb == "use" and asked.way != "off")


def _form(name: str) -> tuple[bool, tuple[str, ...]]:
    """Return the same for names that say the same: whether something is switched off, and what it is about."""
    wish = read(name)
    return wish.way == "off", wish.words


def _plain(text: str) -> list[str]:
    return [word for word in words_of(text) if word not in _ARTICLES]


def _is_named(asked: Wish, known: Sequence[str]) -> bool:
    """Tell whether something that is asked for has its own name on the other side, and not only one that is like it."""
    words = _things(asked) or list(asked.words)
    return any(likeness(word, other) >= FORM for word in with_pairs(words) for other in known)


def _things(wish: Wish) -> list[str]:
    """Return the words that tell one thing from another."""
    return [word for word in wish.words if word != wish.verb and not {word, word.removesuffix("s")} & _LITTLE]


def _is_other(asked: Wish, named: Wish, main: Wish, known: Sequence[str]) -> bool:
    """Tell whether another value is asked for, one of another sort, or all of something that a skill does to one."""
    if _ALL & set(asked.words) and not _ALL & set(known):
        return True
    if main.verb == "enter" and any(word.isdigit() and word not in known for word in asked.words):
        return True
    if named.way != "choose":
        return False
    value = next((word for word in reversed(named.words) if word not in _GENERIC | _SORTS), "")
    sorts = _sorts(named) | _sorts(main)
    differs = bool(_sorts(asked)) and bool(sorts) and not _sorts(asked) & sorts
    return differs or not any(likeness(word, value) for word in asked.words)


def _sets_other(query: str, known: Sequence[str]) -> bool:
    """Tell whether a sentence sets something else "to" a value than a skill does."""
    before, to, _ = query.casefold().rpartition(" to ")
    things = _things(read(before)) if to else []
    return bool(things) and not any(likeness(word, other) for word in things for other in known)


def _sorts(wish: Wish) -> set[int]:
    words = {form for word in wish.words for form in (word, word.removesuffix("s"))}
    return {number for number, sort in enumerate(_CATEGORIES) if words & sort}


def _other_verb(asked: Wish, main: Wish, known: Sequence[str], query: str, name: str) -> bool:
    """Tell whether the verbs of a sentence and of a name ask for different things."""
    verb = asked.verb
    if main.verb == "enter":
        return bool(verb) and verb not in TYPING
    made = verb in _MAKING and _MAKING & set(known)
    if not verb or made or says_way(verb) or any(likeness(verb, word) for word in known):
        strong = False
    else:
        # What is chosen tells enough by itself, "measure angles in radians", but not where something is made.
        strong = main.way != "choose" or says_more(verb)
    if main.way != "do":
        return strong
    if not verb:
        return False
    heads = asked_for(name).surely
    if len(heads & asked_for(query).surely) >= _SHARED_FAMILIES:
        return False
    if (says_way(verb) or says_more(verb)) and verb not in known:
        first = read(name).words[:1]
        return bool(heads) and not any(likeness(one, word) for one in first for word in asked.words)
    return verb not in known and not any(likeness(verb, word) == 1 for word in known)


def _asks_for_more(query: str, text: str) -> bool:
    """Tell whether a part of a query of several parts is mostly about what a skill does not speak of."""
    known = words_of(text)
    parts = [[word for word in read(part).words if word not in _GENERIC] for part in PARTS.split(query)]
    parts = [part for part in parts if part]
    return len(parts) > 1 and any(
        2 * sum(not any(likeness(word, other) for other in known) for word in part) > len(part) for part in parts
    )
