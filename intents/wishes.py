"""What a sentence asks for, in words of graphical applications: to switch something on or off, choose, open or do it.

"Turn on line numbers", "show the line numbers" and "line numbers on" ask for the same; so do "set the theme to dark"
and "use the dark theme". Names of skills are read in the same way, so that both can be compared
(`agent_s.replay.skill_matching`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from intents.conflicts import asked as asked_for
from intents.parameters import tokens
from intents.vocabulary import THINGS
from intents.wordlists import word_set
from intents.words import stem

Way = Literal["on", "off", "choose", "open", "do"]
"""To switch on or off, to choose one of several, to open a window, and anything else."""

SAME_MEANING, FORM = 0.85, 0.95
"""How alike two words are that mean the same, and two that are forms of one."""
_QUOTED = "§"
"""Stands for a quoted text, which is a value."""

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_MARKS = frozenset(".,;:!?'\"“”‘’`-/&|>…*")
_LEAD = re.compile(
    r"^(?:please|kindly|can you|could you|would you|will you|i want to|i would like to|i d like to|i need to|let me|"
    r"help me|make sure that|make sure|be sure to|how do i|how to|how can i|just|now|then|and|also|first|finally|next|"
    r"go ahead and|go and|i want|i would like|i d like|i need)\s+"
)
_QUESTION = re.compile(
    r"(?:is|are|was|were|does|did|has|have|what|which|why|when|where|who|whose|how (?:many|much|old|long|far|big))\b"
)
_GERUND = re.compile(r"^(\w+)ing\b")
_NOT = re.compile(r"^(?:do not|don t|dont|never|no longer|stop|quit|without|no|not)\s+")

_STOP = word_set("""
    a an the this that these those my your its our their me i you it is are be so of in on at to for by with from into
    and or will would can could should do does please up now here there which what who some any each via using
    within under s t d am
    """)
_ENDINGS = word_set("""
    s es ed ing er or ers ation ations ion ions ment ments al ally ly matic matically ic ical ity ive able ability ness
    ful ize ise ized ised ization isation ary ator ying y ies ied e ent ence ance ant
    """)
_SYNONYMS = """
theme scheme palette
format notation representation
all everything whole entire every
different another other
radian rad | degree deg | gradian grad gon
fullscreen full-screen
wrap wordwrap linewrap
left opening | right closing
whitespace space blank
bracket brace parenthesis paren
dark night | light day
statusbar footer
multiply times product multiplication | divide over quotient division | minus subtract subtraction | plus add addition
power exponent | root radical | percent percentage
modulus modulo remainder
zero zeroe
separator delimiter grouping
decimal digit
uppercase capital upper-case | lowercase small lower-case
duplicate copy | indent indentation
gutter margin
spell spelling orthography
zoom magnification
shortcut keybinding hotkey accelerator
preference option setting configuration
about information version
"""
"""Words of graphical applications for one thing, beside those of `intents.vocabulary`."""

_SWITCHES = word_set("turn switch put set flip toggle make keep have")
_STATES: dict[str, Way] = {
    "on": "on",
    "off": "off",
    "visible": "on",
    "invisible": "off",
    "hidden": "off",
    "enabled": "on",
    "disabled": "off",
}
_ANY_WAY: frozenset[Way] = frozenset({"on", "choose", "open", "do"})
_MEANINGS: tuple[tuple[str, tuple[Way, ...]], ...] = (
    ("enable activate tick check", ("on", "choose", "do")),
    ("show display reveal unhide see view present", ("on", "open", "choose", "do")),
    ("switch set change use", ("choose", "on", "open", "do")),
    ("select choose pick", ("choose", "open", "do")),
    ("open launch access", ("open", "do")),
    ("disable deactivate hide conceal uncheck untick suppress", ("off",)),
)
"""Verbs that only say the way: what they mean, the first thing first."""
_LOOSE: tuple[tuple[str, tuple[Way, ...]], ...] = (
    ("make turn put keep get go apply", ("choose", "on", "open", "do")),
    ("start", ("on", "open", "do", "choose")),
    ("remove close leave exit stop quit end", ("off", "do")),
    ("enter type insert press write add input click push hit give", ("do", "open", "choose", "on")),
)
"""Verbs that may say more than the way, such as "insert", which menus are called."""
_MEANT = {verb: ways for verbs, ways in _MEANINGS for verb in verbs.split()}
_LOOSELY = {verb: ways for verbs, ways in _LOOSE for verb in verbs.split()}
_CHANGING = word_set(
    "increase decrease raise lower enlarge shrink reduce grow zoom delete rename move copy sort find search"
)
EMPTY_VERBS = word_set("make turn put keep get go enter type press push hit click input give")
TYPING = word_set("enter type insert press put write add input click push hit use give")
_PHRASES = (
    (re.compile(r"\b(?:bring|pull|pop|call) up\b"), "open"),
    (re.compile(r"\bget rid of\b"), "hide"),
    (re.compile(r"\bcase sensitiv(?:e|ity)\b"), "match case"),
    (re.compile(r"\bfull screen\b"), "fullscreen"),
    (re.compile(r"\bno longer\b"), "not"),
)
PARTS = re.compile(r"\band\b|\bthen\b|\bafter\b|\bbefore\b|\bbut\b|[,;]|[.!?]\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a sentence asks for, or what a name says that a skill does.

    Attributes:
        ways: What it may mean.
        way: What it means first.
        verb: The verb that it begins with; empty for none.
        words: What it is about, in order, without verbs that only say the way.
    """

    ways: frozenset[Way]
    way: Way
    verb: str
    words: tuple[str, ...]


@lru_cache(maxsize=16_384)
def read(text: str) -> Wish:
    """Read a sentence that asks for one thing."""
    plain = _without_lead(" ".join(words_of(_without_quotations(text))))
    negated = _NOT.match(plain)
    if negated:
        plain = _GERUND.sub(_base_form, _without_lead(plain[negated.end() :]))
    for pattern, word in _PHRASES:
        plain = pattern.sub(word, plain)
    wish = _read(plain.split())
    if negated:
        way: Way = "on" if wish.way == "off" else "off"
        return Wish(frozenset({way}), way, wish.verb, wish.words)
    return wish


def _base_form(match: re.Match[str]) -> str:
    """Return the verb of "stop showing ..." where it is one that says the way."""
    stem_of = match[1]
    return next((verb for verb in (stem_of, f"{stem_of}e", stem_of[:-1]) if verb in _MEANT), match[0])


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, in small letters."""
    return [word for word in _TOKEN.findall(text.casefold()) if word not in _MARKS]


def is_question(text: str) -> bool:
    """Tell whether a sentence asks for an answer rather than for something to be done."""
    return _QUESTION.match(text.casefold()) is not None


def _without_quotations(text: str) -> str:
    for token in reversed(tokens(text)):
        if token.sort == "quoted":
            text = f"{text[: token.start]}{_QUOTED}{text[token.end :]}"
    return text


def _without_lead(text: str) -> str:
    while match := _LEAD.match(text):
        text = text[match.end() :]
    return text


def _read(words: list[str]) -> Wish:
    if not words:
        return Wish(_ANY_WAY, "do", "", ())
    verb = words[0]
    if (switched := _switched(words)) is not None:
        way, rest = switched
        return Wish(frozenset({"off"} if way == "off" else {"on", "choose", "do"}), way, "", _content(rest))
    if (ways := _MEANT.get(verb)) is not None:
        return Wish(frozenset(ways), ways[0], verb, _content(words[1:]))
    loosely = _LOOSELY.get(verb)
    kept = words[1:] if verb in EMPTY_VERBS else words
    return Wish(frozenset(loosely) if loosely else _ANY_WAY, "do", verb, _content(kept))


def _content(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _STOP)


def _switched(words: list[str]) -> tuple[Way, list[str]] | None:
    """Read "turn on ...", "make ... visible" and "... off"; None for anything else."""
    verb, last = words[0] in _SWITCHES, words[-1]
    if verb and len(words) > 2 and words[1] in ("on", "off"):
        return _STATES[words[1]], words[2:]
    if last in _STATES and len(words) > 1:
        return _STATES[last], words[1:-1] if verb else words[:-1]
    return None


def says_way(verb: str) -> bool:
    """Tell whether a verb says only how something is used, and not what it does."""
    return verb in _MEANT or verb in EMPTY_VERBS - TYPING or verb in ("apply", "start")


def says_more(verb: str) -> bool:
    """Tell whether a verb says what is done, too, such as "insert", "remove" and "increase"."""
    return (verb in _LOOSELY and not says_way(verb)) or verb in _CHANGING


def parts_of(instruction: str) -> list[str]:
    """Return the parts of an instruction that asks for several things, in order.

    A part without a verb has that of the one before: "turn on line numbers and word wrap".
    """
    quoted = [(token.start, token.end) for token in tokens(instruction) if token.sort == "quoted"]
    cuts = [each for each in PARTS.finditer(instruction) if not any(a <= each.start() < b for a, b in quoted)]
    ends = [*(each.start() for each in cuts), len(instruction)]
    pieces = [instruction[a:b].strip(" .!?") for a, b in zip([0, *(each.end() for each in cuts)], ends, strict=True)]
    parts: list[str] = []
    for piece in filter(None, pieces):
        parts.append(_with_verb(piece, parts[-1]) if parts else piece)
    return parts


def _with_verb(part: str, before: str) -> str:
    words, first = part.split(), before.split()
    if (
        says_way(read(part).verb)
        or read(part).verb in _LOOSELY
        or asked_for(part).surely
        or _switched(words_of(part)) is not None
    ):
        return part
    verb = first[:2] if first[0].casefold() in _SWITCHES and len(first) > 2 and first[1] in _STATES else first[:1]
    return " ".join((*verb, *words))


@lru_cache(maxsize=65_536)
def likeness(one: str, other: str) -> float:
    """Return how alike two words are: 1 for the same, less for forms of one and those that mean the same, else 0.

    Numbers are values: one may stand for another.
    """
    if one == other:
        return 1.0
    a, b = stem(one), stem(other)
    if a == b:
        return 1.0
    if _singular(other) in _ALIKE.get(_singular(one), frozenset()):
        return SAME_MEANING
    if one.isdigit() and other.isdigit():
        return SAME_MEANING
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long.startswith(short) and long[len(short) :] in _ENDINGS:
        return FORM
    short, long = sorted((a, b), key=len)
    if len(short) < 4 or not long.startswith(short):
        return 0.0
    tail = long[len(short) :]
    return FORM if tail in _ENDINGS or (tail[0] == short[-1] and tail[1:] in _ENDINGS) else 0.0


def _singular(word: str) -> str:
    return word if word.endswith("ss") else word.removesuffix("s")


def with_pairs(words: Sequence[str]) -> list[str]:
    """Return words, and each with its neighbour as one, since "menu bar" is "menubar"."""
    return [*words, *(one + other for one, other in itertools.pairwise(words))]


def _lines(text: str) -> Iterable[list[str]]:
    for line in text.strip().replace("\n ", " ").splitlines():
        yield from (some.split() for some in line.split("|"))


def _alike() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for words in (*_lines(THINGS), *_lines(_SYNONYMS)):
        for one in words:
            found.setdefault(one, set()).update(words)
    return {one: frozenset(others) for one, others in found.items()}


_ALIKE = _alike()
