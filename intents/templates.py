"""Compilation of sentence templates (see `intents.reader`) to regular expressions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from intents.tables import pattern
from intents.text import PLACEHOLDER, SORTS, Sort

UNTYPED = frozenset({"", "long", "raw"})
"""Sorts of slots that take any text."""

_Atoms = list[re.Match[str]]
_ATOM = re.compile(
    r"\{(?P<slot>\w+)(?::(?P<sort>\w+))?\}|<(?P<group>\w+)>|(?P<open>[\[(])|(?P<close>[\])])|(?P<or>\|)"
    r"|(?P<space>\s+)|(?P<word>[^\s{}<>\[\]()|]+)"
)


@lru_cache(maxsize=1)
def _slot_patterns() -> dict[str, str]:
    article = pattern("article").pattern
    literals: tuple[Sort, ...] = ("url", "email", "path", "date", "file", "cell", "formula")
    return {
        "": rf"(?P<aNAME>{article})(?P<NAME>.+?)",
        "long": rf"(?P<aNAME>{article})(?P<NAME>.+)",
        "raw": r"(?P<NAME>.+?)",
        "word": r"(?P<NAME>[^\s,;]+)",
        "quoted": rf"(?P<NAME>{PLACEHOLDER})",
        **{sort: rf"(?P<NAME>{PLACEHOLDER}|{SORTS[sort]})" for sort in literals},
    }


class TemplateError(ValueError):
    """A template is malformed."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a template: its group in the pattern, its field, and its sort."""

    group: str
    field: str
    sort: str


@dataclass
class Template:
    """One compiled template.

    Args:
        text: The template.
        words: Groups of words by name.
    """

    text: str
    words: Mapping[str, Iterable[str]] = field(default_factory=dict)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots, in order."""
        found = (match for match in _ATOM.finditer(self.text) if match["slot"])
        return tuple(Slot(f"s{n}", match["slot"], match["sort"] or "") for n, match in enumerate(found))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression for a whole sentence.

        Raises:
            TemplateError: The template is malformed.
        """
        return re.compile(self.source, re.IGNORECASE | re.DOTALL)

    @cached_property
    def source(self) -> str:
        """The source of the regular expression."""
        atoms = list(_ATOM.finditer(self.text))
        if "".join(match[0] for match in atoms) != self.text:
            raise TemplateError(f"template {self.text!r} is malformed: check its brackets and braces")
        pattern, rest = self._alternatives(atoms, itertools.count())
        if rest:
            raise TemplateError(f"template {self.text!r} closes a bracket that it does not open")
        return pattern

    @cached_property
    def first_words(self) -> frozenset[str] | None:
        """The lower-case words that a sentence may begin with; None if it may begin with anything."""
        head = self.text
        while head.startswith("[") and (end := head.find("]")) >= 0 and "[" not in head[1:end]:
            inner, head = head[1:end], head[end + 1 :].lstrip()
            if not re.fullmatch(r"[\w|'-]+", inner):
                return None
            found = Template(f"({inner}) {head}", self.words).first_words
            rest = Template(head, self.words).first_words
            return None if found is None or rest is None else found | rest
        match = re.match(r"(?:<\w+>|\(([^()\[\]{}]+)\))(?=\s|$)", head)
        if match is not None:
            branches = (match[1] or match[0]).split("|")
            starts = (self.words.get(each[1:-1], ()) if each.startswith("<") else [each] for each in branches)
            return frozenset(words.split()[0].casefold() for start in starts for words in start)
        match = re.match(r"([^\s{}<>\[\]()|]+)(?=\s|$)", head)
        return frozenset({match[1].casefold()}) if match else None

    def _alternatives(self, atoms: _Atoms, number: itertools.count[int]) -> tuple[str, _Atoms]:
        branches = []
        while True:
            branch, atoms = self._sequence(atoms, number)
            branches.append(branch)
            if not atoms or not atoms[0]["or"]:
                return "|".join(branches), atoms
            atoms = atoms[1:]

    def _sequence(self, atoms: _Atoms, number: itertools.count[int]) -> tuple[str, _Atoms]:
        """Compile up to the end of a branch; an optional part includes its separating space."""
        pattern, spaced, begun = "", False, False
        while atoms and not (atoms[0]["or"] or atoms[0]["close"]):
            atom, atoms = atoms[0], atoms[1:]
            if atom["space"]:
                spaced = begun or spaced
                continue
            optional = atom["open"] == "["
            if atom["open"]:
                inner, atoms = self._alternatives(atoms, number)
                if not atoms or atoms[0]["close"] != {"[": "]", "(": ")"}[atom["open"]]:
                    raise TemplateError(f"template {self.text!r} does not close a bracket")
                atoms = atoms[1:]
            else:
                inner = self._atom(atom, number)
            if optional and not begun:
                follows = bool(atoms) and bool(atoms[0]["space"])
                pattern += rf"(?:(?:{inner})\s+)?" if follows else f"(?:{inner})?"
                continue
            space = r"\s+" if spaced else ""
            pattern += f"(?:{space}(?:{inner}))?" if optional else f"{space}(?:{inner})"
            spaced, begun = False, True
        return pattern, atoms

    def _atom(self, atom: re.Match[str], number: itertools.count[int]) -> str:
        if atom["slot"]:
            patterns = _slot_patterns()
            return patterns.get(atom["sort"] or "", patterns["raw"]).replace("NAME", f"s{next(number)}")
        if atom["group"]:
            if atom["group"] not in self.words:
                raise TemplateError(f"template {self.text!r} names an unknown group of words <{atom['group']}>")
            return "|".join(_spaced(word) for word in sorted(self.words[atom["group"]], key=len, reverse=True))
        return re.escape(atom["word"])


def _spaced(words: str) -> str:
    return r"\s+".join(map(re.escape, words.split()))
