"""Matching of a requested intent with known ones.

Both must be about the same things, and the known intent must be a possible meaning of the sentence: "show the options"
may switch something on or open a window. Words are weighted by their rarity in known names: "scientific" is more
specific than "number". A request for the opposite, for another value, or for more than is known does not match.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from intents.conflicts import Request, analyze, conflict
from intents.intent import Choose, Intent, Open, Press, SetValue, Switch, Type
from intents.lexicon import fillers, stem
from intents.reader import read
from intents.tables import groups, pattern, related, table, words

_ASKED, _NAMED = 0.6, 0.4  # weights of the covered shares of the request and of the known intent
_UNKNOWN, _SOFT, _SOFT_IN_NAMES = 0.55, 0.12, 0.3  # weights of a word in no known name, and of one that says little
_CONTRAST = 0.6  # factor if each side names something that the other does not
_OTHER_VERB = 0.5  # factor if the verbs ask for different things
_ONLY_LIKE = 0.75  # factor if nothing is named by its own name, and more is named: "toolbar" and "formula bar"
_OTHER_WAY = 0.93  # factor if the sentence may mean the way of the known intent, but more likely means another
_SHARED_FAMILIES = 2  # Two verbs with this many common families ask for the same; most verbs have several senses.
_BY_VERB = 0.7  # score of a dialog that is called by the verb alone: "Find" for "find a word"
_MADE_WORDS = 2  # the most words of what "New" alone is taken to make: "create a new mind map"
_LEAST_ASKED = 0.45  # minimum share of the request that is covered
_SAME_MEANING, _FORM = 0.85, 0.95  # likeness of words that mean the same, and of forms of one word

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_MARKS = frozenset(".,;:!?'\"“”‘’`-/&|>…*")
_VALUE = "§"  # stands for a typed text, which may be any other one


@dataclass(frozen=True, slots=True)
class Match:
    """The match of a known intent with the requested one."""

    score: float  # from 0 to 1; 1 for the same words
    known: Intent  # the best matching known intent


@dataclass(frozen=True, slots=True)
class _View:
    """An intent in a form for comparison."""

    intent: Intent
    sentence: str  # of the intent
    request: Request  # the analysis of the sentence
    way: str  # what it does: "on", "off", "choose", "open", or "do" for anything else
    ways: frozenset[str]  # the possible meanings of its verb
    verb: str  # the first word of its verb
    words: tuple[str, ...]  # its content words, in order, without verbs that only say the way
    pairs: tuple[str, ...]  # the words, and each with its neighbour as one, since "menu bar" is "menubar"
    is_thing: bool  # whether the sentence has no verb: "original size"
    owner: str  # what the thing belongs to, such as "picture" in "the size of the picture"; may be empty


@lru_cache(maxsize=2)
def _meanings(key: str) -> dict[str, frozenset[str]]:
    return {verb: frozenset(row["kinds"]) for row in table("verbs")[key] for verb in row["verbs"].split()}


@lru_cache(maxsize=16_384)
def _view(intent: Intent) -> _View:
    sure = _meanings("meanings")
    verb = intent.verb.partition(" ")[0].casefold()
    keys = " ".join(intent.keys) if isinstance(intent, Press) else ""
    about = _content(" ".join(part for part in (intent.object, intent.value, keys, intent.place) if part))
    way, ways = "do", _meanings("loose_meanings").get(verb, frozenset({"on", "choose", "open", "do"}))
    match intent:
        case Switch(state="off"):
            way, ways, verb = "off", frozenset({"off"}), ""
        case Switch(state="on"):
            way = "on"
            if verb not in sure or intent.verb.endswith(" on"):
                ways, verb = frozenset({"on", "choose", "do"}), ""
        case Choose() | SetValue():
            way = "choose"
        case Open():
            way, verb = "open", verb if verb in sure else "open"
    if verb in sure:
        ways = sure[verb]
    elif not verb and way == "do":
        verb = about[0] if about else ""
    elif verb and verb not in words("verbs", "empty"):
        about = (verb, *about)
    sentence = intent.sentence
    of = pattern("owner").search(intent.object.casefold())
    owner = of[1] if of else ""
    request = analyze(sentence)
    is_thing = not (intent.verb or request.verbs)
    return _View(intent, sentence, request, way, ways, verb, about, (*about, *_joined(about)), is_thing, owner)


def _joined(listed: Sequence[str]) -> list[str]:
    return ["".join(pair) for pair in itertools.pairwise(listed)]


def _content(text: str) -> tuple[str, ...]:
    plain = pattern("about_itself").sub("about", " ".join(words_of(text)))
    plain = pattern("about_others").sub("", plain)
    plain = _phrases().sub(lambda found: table("things")["phrases"][found[0]], plain)
    return tuple(word for word in plain.split() if word not in fillers() and word not in words("words", "stop"))


@lru_cache(maxsize=1)
def _phrases() -> re.Pattern[str]:
    longest_first = sorted(table("things")["phrases"], key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, in lower case."""
    return [word for word in _TOKEN.findall(text.casefold()) if word not in _MARKS]


class Rarity:
    """Weights of words by their rarity in the names of known things.

    Args:
        known: The names of each known thing.
    """

    def __init__(self, known: Iterable[Sequence[Intent]] = ()) -> None:
        self._counts: Counter[str] = Counter()
        things = list(known)
        for names in things:
            self._counts.update({stem(word) for name in names for word in _view(name).words})
        self._most = math.log(2 + len(things))

    def __contains__(self, word: str) -> bool:
        return stem(word) in self._counts

    def __call__(self, word: str) -> float:
        """Return the weight of a word, from 0 to 1."""
        if says_little(word):
            return _SOFT
        count = self._counts[stem(word)]
        return _UNKNOWN if not count else 0.35 + 0.65 * (1 - math.log(1 + count) / self._most)


def unify(asked: Intent, known: Intent, aliases: Sequence[Intent] = (), rarity: Rarity | None = None) -> Match | None:
    """Match a request with a known intent; None if it requests something else.

    Args:
        asked: The requested intent.
        known: The known intent, by its main name.
        aliases: Its other names.
        rarity: The weights of words; without it, all words that are not generic count the same.
    """
    original = (known, *aliases)
    if _types_into_field(asked) and _types_into_field(known):
        # Any text may be typed in place of another.
        asked, known = (each.model_copy(update={"value": _VALUE}) for each in (asked, known))
    query, main, names = _view(asked), _view(known), [_view(name) for name in (known, *aliases)]
    if _plain(query) == _plain(main):
        return Match(1.0, original[0])
    # What stays pressed while it shows something is switched on by its main name, and opened by another one.
    opens = main.way == "on" and query.way == "open" and any(name.way == "open" for name in names)
    may_mean = main.way in query.ways or opens or (main.verb == "use" and query.way != "off")
    if asked.kind == "ask" or not may_mean or conflict(query.sentence, main.sentence):
        return None
    if main.verb == "save" and _saves_apart(query) and not any(map(_saves_apart, names)):
        return None
    everything = tuple(dict.fromkeys(word for name in names for word in name.pairs))
    if asked.kind == "do" and asked.value and not _any_alike(_content(asked.value), everything):
        return None  # "find 'alpha'" is not done by what opens a dialog
    if _asks_for_more(query, names) or (main.way == "choose" and _sets_other(asked, everything)):
        return None
    rarity = rarity or Rarity()
    scored = zip((_score(query, name, main, everything, rarity) for name in names), original, strict=True)
    score, name = max(scored, key=lambda each: each[0])
    return Match(score, name) if score > 0 else None


def _saves_apart(view: _View) -> bool:
    """Return whether something is saved under another name; a plain "save" would overwrite it."""
    return pattern("saving_apart").search(view.sentence.casefold()) is not None


def _types_into_field(intent: Intent) -> bool:
    return isinstance(intent, Type) and intent.quoted and bool(intent.object)


def are_same(one: Iterable[Intent], other: Iterable[Intent]) -> bool:
    """Return whether two known things are equivalent, because they share a name.

    "About" opens "the about dialog", and "Create a new key" makes a "New key".
    """
    left, right = ({_essence(_view(name)) for name in names} for names in (one, other))
    return not left.isdisjoint(right)


def _essence(view: _View) -> tuple[bool, tuple[str, ...]]:
    unsaid = {"dialog"} | (words("verbs", "beginning") if "new" in view.words else frozenset())
    said = tuple(word for word in view.words if word not in unsaid) or view.words
    return view.way == "off", tuple(sorted(said)) if len(said) <= 2 else said  # "Download > New" is a new download


def _plain(view: _View) -> list[str]:
    return [word for word in words_of(view.sentence) if word not in words("words", "articles")]


def _score(query: _View, named: _View, main: _View, everything: Sequence[str], rarity: Rarity) -> float:
    """Return the score of one name of a known intent."""
    if main.way == "choose" != named.way:
        return 0.0
    meant, extra = _covered(named, query.pairs, rarity, strict=True)
    # In an application that knows no other sizes, that of the picture is the size.
    unsaid = query.owner if not extra and query.owner not in rarity else ""
    done, missing = _covered(query, everything, rarity, unsaid=unsaid)
    if not named.words or _is_other_value(query, named, main, everything):
        return 0.0
    if done < _LEAST_ASKED:
        return _BY_VERB if _makes_new(query, named) else 0.0
    score = _ASKED * done + _NAMED * meant
    things = _things(query)
    own = (*things, *_joined(things)) if things else query.pairs
    has_own_name = any(likeness(word, other) >= _FORM for word in own for other in everything)
    if _opens_for_verb(query, named, rarity):
        return max(score, _BY_VERB)
    # "Draw an ellipse" does not ask to open a drawing.
    in_vain = main.way == "open" and query.verb not in everything and things and not _any_alike(own, everything)
    unnamed = missing and not (main.way == "choose" and main.verb != "use") and (extra or not things)
    if in_vain or unnamed:
        score *= _CONTRAST
    elif extra and not (has_own_name and (things or not _things(named))):
        score *= _ONLY_LIKE
    if main.way == "on" and words("things", "habits").intersection(named.words).difference(query.words):
        score *= _CONTRAST
    unasked = named.request.exclusive - query.request.exclusive - words("things", "fresh")
    if _is_part_of(query, named) or (unasked and query.way != "do" and named.way == "do"):
        score *= _CONTRAST
    # "Line down" alone does not say that lines are moved; "make it uppercase" leaves the verb to what it becomes.
    called = named if named.request.sure_heads or query.verb in words("verbs", "empty") else main
    if _other_verb(query, main, everything, called):
        score *= _OTHER_VERB
    return score if query.way in (main.way, "do") else score * _OTHER_WAY


def _covered(
    view: _View, others: Sequence[str], rarity: Rarity, strict: bool = False, unsaid: str = ""
) -> tuple[float, bool]:
    """Return the share of one side's words that the other side has too, and whether a naming word is missing.

    Args:
        view: The one side.
        others: The words of the other side.
        rarity: The weights of words.
        strict: Whether a generic word counts where it is missing.
        unsaid: A word that need not be said.
    """
    generic, editing = words("things", "generic"), words("verbs", "editing")
    is_new = "new" in others and "new" in view.words
    # "Create" and "empty" say no more than "new".
    says_new = words("things", "fresh") | ({view.verb} & words("verbs", "beginning"))
    total = found = 0.0
    missing = False
    for place, word in enumerate(view.words):
        weight = max(rarity(word), _SOFT_IN_NAMES if strict else 0.0)
        near = max((likeness(word, other) for other in others), default=0.0)
        if word == view.verb and word in editing and not editing.isdisjoint(others):
            near = max(near, _SAME_MEANING)
        pairs = ("".join(view.words[at : at + 2]) for at in (place - 1, place) if at >= 0)
        if near < _FORM and any(pair != word and pair in others for pair in pairs):
            near = _FORM
        if not near and (word == unsaid or (word in generic and not strict) or (is_new and word in says_new)):
            continue
        if not near and word == view.verb and not (strict and view.is_thing):
            weight *= 0.5  # there are many verbs for the same
        elif not near and word not in generic:
            missing = True
        total += weight
        found += weight * near
    return (found / total if total else 0.0), missing


def _is_other_value(query: _View, named: _View, main: _View, everything: Sequence[str]) -> bool:
    """Return whether a different value is requested, one of another kind, or all instead of one."""
    every = words("things", "all").intersection(query.words)
    several = any(word != _singular(word) and word in everything for word in query.words)  # "all tabs" are the tabs
    if every and not (several or _any_alike(every, everything)):
        return True
    if main.verb == "enter" and any(word.isdigit() and word not in everything for word in query.words):
        return True
    if named.way != "choose":
        return False
    chosen = _content(named.intent.value) or named.words
    categories = list(groups("things", "categories"))
    no_values = words("things", "generic").union(*categories)
    value = next((word for word in reversed(chosen) if word not in no_values), "")
    of_query, of_known = (
        {number for number, group in enumerate(categories) if any(_in(word, group) for word in found)}
        for found in (query.words, (*named.words, *main.words))
    )
    differs = bool(of_query and of_known and not of_query & of_known)
    return differs or not any(likeness(word, value) for word in query.pairs)


def _sets_other(asked: Intent, everything: Sequence[str]) -> bool:
    """Return whether a sentence sets something else to a value."""
    things = [word for word in _content(asked.object) if not says_little(word)] if asked.value else []
    return bool(things) and not _any_alike(things, everything)


def _other_verb(query: _View, main: _View, everything: Sequence[str], called: _View) -> bool:
    """Return whether the verbs of a sentence and of a name disagree."""
    verb = query.verb
    everything = [word for word in everything if word not in (f"{verb}d", f"{verb}ed")]  # a saved game is not saved
    making = words("verbs", "making")
    if main.verb == "enter":
        return bool(verb) and verb not in words("verbs", "typing")
    if main.way != "do":
        # What is chosen says enough by itself, "measure angles in radians", but not where something is made.
        made = verb in making and making.intersection(everything)
        edited = main.way == "open" and verb in words("verbs", "editing")
        unsaid = not verb or made or edited or _says_way(verb) or any(likeness(verb, word) for word in everything)
        return not unsaid and (main.way != "choose" or _says_more(verb))
    if "open" in _meanings("meanings").get(verb, ()) and main.verb in making:  # who opens files makes none
        return words("things", "fresh").isdisjoint(words_of(query.sentence))
    editing = words("verbs", "editing")
    if not verb or (verb in editing and (main.verb in editing or main.is_thing)):
        return False
    if words_of(main.sentence)[:1] == ["new"]:  # "New Folder" makes one
        return verb not in making and words("things", "fresh").isdisjoint({*words_of(query.sentence)} - {verb})
    heads = called.request.sure_heads
    if len(heads & query.request.sure_heads) >= _SHARED_FAMILIES:
        return False
    if (_says_way(verb) or _says_more(verb)) and verb not in everything:
        return bool(heads) and not any(likeness(one, word) for one in called.words[:1] for word in query.words)
    return verb not in everything and not any(likeness(verb, word) == 1 for word in everything)


def _asks_for_more(query: _View, names: Sequence[_View]) -> bool:
    """Return whether a part of a sentence with several parts is mostly about unknown things."""
    known = [word for name in names for word in words_of(name.sentence)]
    views = (_view(read(part)) for part in pattern("part").split(query.sentence))
    parts = [[word for word in view.words if word not in words("things", "generic")] for view in views]
    parts = [part for part in parts if part]
    return len(parts) > 1 and any(
        2 * sum(not any(likeness(word, other) for other in known) for word in part) > len(part) for part in parts
    )


def _opens_for_verb(query: _View, named: _View, rarity: Rarity) -> bool:
    """Return whether a dialog is called by the verb of a sentence, whose object no known name contains: "Find...".

    A sentence with a value asks for more than the dialog.
    """
    called = [word for word in named.words if word not in words("things", "generic")]
    if named.way != "open" or len(called) != 1 or not query.request.verbs:
        return False
    unknown = not any(word in rarity for word in _things(query))
    says_more = query.request.exclusive or query.request.values
    says_verb = called[0] == query.verb or likeness(called[0], query.verb) == _SAME_MEANING  # a drawing is not drawn
    return says_verb and unknown and not says_more


def _is_part_of(query: _View, named: _View) -> bool:
    """Return whether a name is that of a part of what a sentence is about: "grid color" for "show the grid"."""
    things = _things(query)
    called = [word for word in named.words if not says_little(word)]
    if not (named.is_thing and things and len(called) > 1) or "about" in called:
        return False
    return bool(likeness(things[-1], called[-2])) and not _any_alike(query.words, called[-1:])


def _makes_new(query: _View, named: _View) -> bool:
    """Return whether a name is "New" or "New File", and a sentence asks for a new thing of few words."""
    made = query.verb in words("verbs", "making") and "new" in query.words
    says_more = query.request.exclusive - {"new"} or query.request.values
    things = [word for word in _things(query) if word != "new"]
    is_new = "new" in named.words and set(named.words) <= {"new"} | words("things", "made")
    return made and is_new and len(things) <= _MADE_WORDS and not says_more


def _any_alike(some: Iterable[str], others: Sequence[str]) -> bool:
    return any(likeness(word, other) for word in some for other in others)


def _things(view: _View) -> list[str]:
    """Return the words that distinguish things."""
    return [word for word in view.words if word != view.verb and not says_little(word)]


def says_little(word: str) -> bool:
    """Return whether a word hardly tells one thing from another, such as "option" and "file"."""
    return _in(word, words("things", "generic")) or _in(word, words("things", "vague"))


def _in(word: str, listed: Container[str]) -> bool:
    return word in listed or word.removesuffix("s") in listed


def _says_way(verb: str) -> bool:
    """Return whether a verb says only how something is used, but not what it does."""
    return verb in _meanings("meanings") or verb in words("verbs", "ways")


def _says_more(verb: str) -> bool:
    """Return whether a verb also says what is done, such as "insert", "remove" and "increase"."""
    return (verb in _meanings("loose_meanings") and not _says_way(verb)) or verb in words("verbs", "changing")


@lru_cache(maxsize=65_536)
def likeness(one: str, other: str) -> float:
    """Return the similarity of two words: 1 if equal, less for inflections and synonyms, otherwise 0.

    Numbers are values, so any number matches another.
    """
    if one == other or (stems := (stem(one), stem(other)))[0] == stems[1]:
        return 1.0
    left, right = map(_singular, (one, other))
    synonyms = related("things", "same", "same_in_names")
    if (left == right and left in synonyms) or right in synonyms.get(left, ()) or (one.isdigit() and other.isdigit()):
        return _SAME_MEANING
    if {one, other} & words("words", "apart"):
        return 0.0
    for short, long in (sorted((one, other), key=len), sorted(stems, key=len)):
        tail = long[len(short) :]
        if len(short) >= 4 and tail and long.startswith(short) and (_is_ending(tail) or _is_ending(tail, short[-1])):
            return _FORM
    return 0.0


def _is_ending(tail: str, doubled: str = "") -> bool:
    """Return whether a word may end in this, behind its last letter doubled if given: "programm-er"."""
    tail = tail.removeprefix(doubled) if tail.startswith(doubled) else "-"
    return tail in words("words", "endings") or bool(doubled and not tail)


def _singular(word: str) -> str:
    return word if word.endswith("ss") else word.removesuffix("s")
