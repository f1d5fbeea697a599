"""Parsing of sentences into intents by a table of sentence templates.

A row of a table names a kind of intent, its templates, and the values of fields that the sentence does not spell out:

```yaml
- kind: switch
  set: {state: "on"}
  say:
    - "turn on {object}"
    - "(make|keep) {object} (visible|enabled)"
- kind: click
  say: ["click [on] {object}", "click [on] {object} {count:number} times"]
```

In a template, words match literally, ``[on]`` is optional, ``(a|b)`` is an alternative, ``<choose>`` matches a word of
that group, and ``{field}`` takes any text. ``{field:sort}`` takes a text of a sort: ``number``,
``keys``, ``quoted``, ``word``, or one that the table's owner adds. Of all templates that match, the one with the most
words of its own wins, and among equals the first of the table. What is quoted in a sentence is never read as words of a
template. A verb at the beginning of a clause is brought to its base form first.

A new intent is a class, its rows, and nothing else: ``Reader([*core_rows(), *my_rows], {**KINDS, "scroll": Scroll})``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from intents.applications import mentioned, without_applications
from intents.clauses import without_politeness
from intents.conflicts import analyze
from intents.intent import INTENT, KINDS, Ask, BaseIntent, Do, Intent, Switch
from intents.keys import parse_keys
from intents.lexicon import base_form, first_verb, read_number
from intents.tables import pattern, table
from intents.templates import UNTYPED, Template
from intents.text import Phrase, guard

I_co = TypeVar("I_co", covariant=True)

Sort = Callable[[Phrase], Any]
"""Converts what a slot took; raises ValueError or returns None where the text is not of this sort."""

LONGEST_SENTENCE = 2_000  # characters; matching takes quadratic time
_TYPED = 0.5  # weight of a slot with a sort; a word of the template has weight 1
_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table of sentences."""

    kind: str  # the kind of intent, a key of the reader's `kinds`
    say: tuple[str, ...]  # templates
    # values of fields that the templates do not take from the sentence
    set: Mapping[str, Any] = field(default_factory=dict)


class Reader(Generic[I_co]):
    """Parses clauses into intents by the rows of a table.

    Where a kind is a `BaseIntent` whose `verb` neither the row nor a slot sets, it gets the template's words before its
    first slot.

    Args:
        rows: The table, in order of preference.
        kinds: What to call with the fields of a row, by its kind; usually the class of the intent. Where it returns
            None, the next row that matches is taken. A slot gives a
            `intents.text.Phrase`, a text that knows which parts of it were quoted; it takes no leading article unless
            its sort is ``raw``. ``{name:long}`` takes as much text as it can, other slots as little.
        words: Groups of words that templates refer to as ``<name>``, in addition to those of the core table.
        sorts: Sorts of slots, in addition to the built-in ones.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        kinds: Mapping[str, Callable[..., I_co | None]],
        words: Mapping[str, Iterable[str]] | None = None,
        sorts: Mapping[str, Sort] | None = None,
    ) -> None:
        self._kinds = dict(kinds)
        self._with_verb = {
            name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, BaseIntent)
        }
        self._sorts: dict[str, Sort] = {**_SORTS, **(sorts or {})}
        core_words = {name: listed.split() for name, listed in table("sentences")["words"].items()}
        self._templates = [(Template(text, {**core_words, **(words or {})}), row) for row in rows for text in row.say]
        self._by_word: dict[str, list[int]] = {}
        self._anywhere: list[int] = []
        for number, (template, row) in enumerate(self._templates):
            if row.kind not in self._kinds:
                raise ValueError(f"row {row.say[0]!r} names an unknown kind {row.kind!r}: add it to the kinds")
            for word in template.first_words or ():
                self._by_word.setdefault(word, []).append(number)
            if template.first_words is None:
                self._anywhere.append(number)

    def read(self, clause: str) -> I_co | None:
        """Parse a clause into an intent; None if no row matches."""
        phrase = clause if isinstance(clause, Phrase) else guard(clause)
        text = phrase.marked.strip()
        first, _, rest = text.partition(" ")
        base = base_form(first)
        text = f"{base} {rest}".strip() if base != first.casefold() else text
        found = []
        for number in sorted({*self._by_word.get(base, ()), *self._anywhere}):
            template, row = self._templates[number]
            if (match := template.pattern.fullmatch(text)) is not None:
                found.append((_specificity(template, match), -number, template, row, match))
        for _, _, template, row, match in sorted(found, key=lambda each: each[:2], reverse=True):
            fields = self._fields(template, row, match, phrase)
            if fields is not None and (intent := self._kinds[row.kind](**fields)) is not None:
                return intent
        return None

    def _fields(self, template: Template, row: Row, match: re.Match[str], phrase: Phrase) -> dict[str, Any] | None:
        """Return the fields of a match; None if a slot's text is not of its sort."""
        fields = dict(row.set)
        taken = [slot for slot in template.slots if match[slot.group] is not None]
        for slot in taken:
            value: Any = phrase.part(match[slot.group].strip())
            if slot.field == "object" and pattern("unfinished").search(value):
                return None  # "new from" in "New from visible"
            if (convert := self._sorts.get(slot.sort)) is not None:
                try:
                    value = convert(value)
                except ValueError:
                    return None
                if value is None:
                    return None
            fields[slot.field] = value
        if row.kind in self._with_verb:
            start = min((match.start(slot.group) for slot in taken), default=match.end())
            fields.setdefault("verb", " ".join(_WORD.findall(match.string[:start].casefold())).removesuffix(" the"))
        return fields


def _specificity(template: Template, match: re.Match[str]) -> float:
    """Count the words of a match that belong to the template itself."""
    text = match.string
    count = float(len(_WORD.findall(text)))
    for slot in template.slots:
        if match[slot.group] is not None:
            count -= len(_WORD.findall(match[slot.group]))
            if slot.sort in ("", "long"):  # the article before the slot's text is no word of the template
                count -= len(_WORD.findall(match[f"a{slot.group}"]))
            count += _TYPED * (slot.sort not in UNTYPED)
    return count


def _read_chords(phrase: Phrase) -> tuple[str, ...] | None:
    chords = parse_keys(phrase)
    return tuple("+".join(chord) for chord in chords) if chords else None


def _read_amount(phrase: Phrase) -> str | None:
    number = read_number(phrase)
    return str(number) if number is not None else phrase if pattern("amount").fullmatch(phrase) else None


_SORTS: dict[str, Sort] = {"keys": _read_chords, "number": read_number, "amount": _read_amount}


def read_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Return the rows of a table that was loaded from YAML."""
    return tuple(Row(row["kind"], tuple(row["say"]), row.get("set", {})) for row in rows)


@lru_cache(maxsize=1)
def core_rows() -> tuple[Row, ...]:
    """Return the rows of ``intents/data/sentences.yaml``."""
    return read_rows(table("sentences")["rows"])


@lru_cache(maxsize=1)
def _core_reader() -> Reader[BaseIntent]:
    return Reader(core_rows(), KINDS)


@lru_cache(maxsize=16_384)
def read(sentence: str, find_application: bool = True) -> Intent:
    """Parse a sentence with a single request; `Do` is the fallback, so this never fails.

    Args:
        sentence: The sentence.
        find_application: Whether to recognize names of applications.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return Do(object=sentence)
    phrase = guard(" ".join(sentence.split()))
    bare = without_politeness(phrase.marked).strip(" .!?:,;")
    if pattern("question").match(bare):
        return Ask(object=phrase.part(bare))
    negated = False
    while match := pattern("negated").match(bare):
        bare, negated = without_politeness(bare[match.end() :]), not negated
    applications = mentioned(bare) if find_application else frozenset()
    plain = without_applications(bare) if len(applications) == 1 else bare
    text = plain if " " in plain.strip(" .,") else bare
    place = ""
    if match := pattern("place_first").fullmatch(text) or pattern("place_last").fullmatch(text):
        place, text = _without_article(phrase.part(match["place"])), match["rest"]
    intent = _core_reader().read(phrase.part(without_politeness(text) if match else text))
    if intent is None:
        verb = first_verb(text)
        about = _without_article(phrase.part(text.partition(" ")[2] if verb else text))
        quoted = about.literal if verb else None  # "find 'alpha'" names a value, and no thing that is called so
        intent = Do(verb=verb, value=quoted) if quoted else Do(verb=verb, object=about)
    if negated:
        intent = _negate(intent)
    found = {"place": place, "application": next(iter(applications)) if len(applications) == 1 else ""}
    return INTENT.validate_python(intent.model_dump() | {name: value for name, value in found.items() if value})


def parts_of(instruction: str) -> list[str]:
    """Split an instruction with several requests into its parts, in order.

    A part without a verb takes the previous one: "turn on line numbers and word wrap". A place at the beginning belongs
    to the first part: "In Mousepad, turn on line numbers".
    """
    phrase = guard(instruction)
    pieces = (piece.strip(" .!?") for piece in pattern("part").split(phrase.marked))
    parts: list[str] = []
    place = verb = ""
    for piece in filter(None, pieces):
        text = phrase.part(piece).quoted
        bare = without_politeness(text)
        has_verb = first_verb(bare) or (analyze(bare).verbs and analyze(bare).head) or _core_reader().read(bare)
        if parts and not has_verb:
            text = f"{verb} {text}"
        elif not has_verb and pattern("place_alone").match(bare):
            place += f"{text}, "
            continue
        parts.append(text if parts else place + text)
        intent = read(text)
        verb = f"turn {intent.state}" if isinstance(intent, Switch) and not intent.verb else intent.verb
    return parts or [instruction] * bool(place)


def _negate(intent: BaseIntent) -> Switch:
    if isinstance(intent, Switch) and intent.state != "toggle":
        return Switch(object=intent.object, state="off" if intent.state == "on" else "on")
    return Switch(object=intent.sentence, state="off")


def _without_article(phrase: Phrase) -> Phrase:
    return phrase.part(pattern("article").sub("", phrase.marked, count=1))
