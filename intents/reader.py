"""Reads sentences into intents by a table of sentence templates.

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

In a template, words stand for themselves, ``[on]`` may be left out, ``(a|b)`` is one of several, ``<choose>`` is one of
the words of that group, and ``{field}`` takes any text. ``{field:sort}`` takes a text of a sort: ``number``, ``keys``,
``quoted``, ``word``, or one that the table's owner adds. Of all templates that match, the one with the most words of its
own wins, and among equals the first of the table. What is quoted in a sentence is never read as words of a template.

A new intent is a class, its rows, and nothing else: ``Reader([*core_rows(), *my_rows], {**KINDS, "scroll": Scroll})``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from intents.intent import Do, Intent

I_co = TypeVar("I_co", covariant=True)

Sort = Callable[[str], Any]
"""Converts what a slot took; raises ValueError or returns None where the text is not of this sort."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table of sentences.

    Attributes:
        kind: The kind of intent, a key of the reader's `kinds`.
        say: Templates.
        set: Values of fields that the templates do not take from the sentence.
    """

    kind: str
    say: tuple[str, ...]
    set: Mapping[str, Any] = field(default_factory=dict)


class Reader(Generic[I_co]):
    """Reads a clause into an intent by the rows of a table.

    Args:
        rows: The table, in order of preference.
        kinds: What to call with the fields of a row, by its kind; usually the class of the intent. A slot gives a
            `intents.text.Phrase`, a text that knows which parts of it were quoted.
        words: Groups of words that templates refer to as ``<name>``.
        sorts: Sorts of slots, in addition to the built-in ones.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        kinds: Mapping[str, Callable[..., I_co]],
        words: Mapping[str, Iterable[str]] | None = None,
        sorts: Mapping[str, Sort] | None = None,
    ) -> None:
        self._rows, self._kinds = tuple(rows), dict(kinds)

    def read(self, clause: str) -> I_co | None:
        """Return what a clause asks for; None where no row matches."""
        raise NotImplementedError


def core_rows() -> tuple[Row, ...]:
    """Return the rows of ``intents/data/sentences.yaml``."""
    return ()


def read_rows(table: Iterable[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Return the rows of a table that was loaded from YAML."""
    return tuple(Row(row["kind"], tuple(row["say"]), row.get("set", {})) for row in table)


def read(sentence: str) -> Intent:
    """Read a sentence that asks for one thing; `Do` is what has no other reading. Never raises."""
    return Do(object=sentence)


def read_all(instruction: str) -> tuple[Intent, ...]:
    """Read an instruction that may ask for several things, in the order in which they are done. Never raises."""
    return (read(instruction),)
