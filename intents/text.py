"""Text of instructions: what is quoted in it, and its words, numbers, files and other tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import CoreSchema, core_schema

# A quotation opens where no word character precedes it and closes where none follows, so that the apostrophe of
# "don't" opens nothing.
QUOTED = r"""(?<!\w)(?:"[^"]*"|'(?:[^']|(?<=\w)'(?=\w))*'|`[^`]*`|“[^”]*”|‘[^’]*’|«[^»]*»)(?!\w)"""
"""Pattern of a quotation that has no escapes."""

OPEN, CLOSE = "\ue000", "\ue001"
PLACEHOLDER = f"{OPEN}\\d+{CLOSE}"
"""Pattern of the placeholder of one quotation, in private-use characters."""

_PLACEHOLDER = re.compile(f"{OPEN}(\\d+){CLOSE}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ESCAPES = {"n": "\n", "t": "\t"}
_PAIRS = ('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("`", "`"), ("「", "」")
_QUOTATION = re.compile(
    rf"(?:(?<=[\s(\[{{<=:,;\-–—>+/|{CLOSE}])|^)(?:```(?P<fence>.*?)```|"
    + "|".join(rf"{a}(?:\\.|[^\\{b}])*{b}" for a, b in _PAIRS)
    + r"|'(?:\\.|[^'\\]|'(?=\w))*'(?!\w)|‘(?:\\.|[^’\\]|’(?=\w))*’(?!\w))",
    re.DOTALL,
)


class Phrase(str):
    """A text, without its quotation marks, that knows which parts of it were quoted."""

    __slots__ = ("literals", "marked")
    marked: str  # the text with a placeholder for each quotation, for patterns that must not look into quotations
    literals: tuple[str, ...]  # what was quoted, by the number of its placeholder; may hold more than this text uses

    def __new__(cls, marked: str, literals: tuple[str, ...] = ()) -> Phrase:
        """Create a phrase from its marked text."""
        phrase = super().__new__(cls, _PLACEHOLDER.sub(lambda match: literals[int(match[1])], marked))
        phrase.marked, phrase.literals = marked, literals
        return phrase

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        return self.marked, self.literals

    def part(self, marked: str) -> Phrase:
        """Return another phrase with the same quotations."""
        return Phrase(marked, self.literals)

    @property
    def quotes(self) -> tuple[str, ...]:
        """The quoted parts, in order."""
        return tuple(self.literals[int(match[1])] for match in _PLACEHOLDER.finditer(self.marked))

    @property
    def literal(self) -> str | None:
        """The quoted text, where the phrase is nothing but one quotation."""
        match = _PLACEHOLDER.fullmatch(self.marked.strip())
        return self.literals[int(match[1])] if match else None

    @property
    def quoted(self) -> str:
        """The text with its quotations in quotes again; `guard` reads it back."""
        return _PLACEHOLDER.sub(self._quote, self.marked)

    def _quote(self, match: re.Match[str]) -> str:
        following = self.marked[match.end() : match.end() + 1]
        return quote(self.literals[int(match[1])], double=following.isalnum() or following == "_")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Accept a phrase as it is and read any other text; JSON holds the text with its quotes."""
        return core_schema.no_info_after_validator_function(
            lambda text: text if isinstance(text, Phrase) else guard(text),
            core_schema.union_schema([core_schema.is_instance_schema(cls), core_schema.str_schema()]),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda phrase: phrase.quoted),
        )


def guard(text: str) -> Phrase:
    """Read which parts of a text are quoted; a quote that is never closed, or an apostrophe, stays as it is."""
    text = text.replace(OPEN, "").replace(CLOSE, "")
    literals: list[str] = []

    def replace(match: re.Match[str]) -> str:
        content = match[0][1:-1] if match["fence"] is None else match["fence"].strip("\n")
        literals.append(content if match["fence"] is not None else _unescaped(content))
        return f"{OPEN}{len(literals) - 1}{CLOSE}"

    return Phrase(_QUOTATION.sub(replace, text), tuple(literals))


def split_camel_case(text: str) -> str:
    """Return a text with a space between the words of names such as showLineNumbers."""
    return _CAMEL.sub(" ", text)


def quote(text: str, double: bool = False) -> str:
    """Put a text in quotes that `guard` reads back; `double` where a letter follows them."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if "'" not in text and not double:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', '\\"') + '"'


def _unescaped(text: str) -> str:
    return re.sub(r"\\([nt\"'\\`])", lambda match: _ESCAPES.get(match[1], match[1]), text)


Sort = Literal["quoted", "secret", "url", "email", "path", "date", "file", "formula", "cell", "number", "word", "mark"]

SORTS: dict[Sort, str] = {
    "quoted": QUOTED,
    "secret": r"\{\{secret:\w+\}\}",
    "url": r"\bhttps?://[^\s'\",]*[^\s'\",.;:!?)]",
    "email": r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "path": r"(?<![\w/])~?/[\w.+@-]+(?:/[\w.+@-]+)*(?<!\.)",
    "date": r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])",
    "file": r"(?<![\w/.-])\w[\w-]*(?:\.[\w-]+)*\.(?=\w*[A-Za-z])\w{1,5}(?!\w)",
    "formula": r"(?<!\S)=(?:[^\s,;()]|\((?:[^()]|\([^()]*\))*\))+",
    "cell": r"(?<![\w$])\$?[A-Z]{1,3}\$?[1-9]\d{0,6}(?::\$?[A-Z]{1,3}\$?[1-9]\d{0,6})?(?!\w)",
    "number": r"(?<![\w.])[-+]?\d+(?:[.,:]\d+)*(?!\w)",
    "word": r"\w+(?:[’'-]\w+)*",
    "mark": r"[^\w\s]",
}
"""Patterns of the sorts of tokens, the most specific first."""

_TOKEN = re.compile("|".join(f"(?P<{sort}>{pattern})" for sort, pattern in SORTS.items()))


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text: a value such as a quotation or a number, a word, or a mark."""

    sort: Sort  # what it looks like
    value: str  # what it stands for; of a quotation, what is between the quotes
    start: int  # where it begins in the text
    end: int  # where it ends

    @property
    def literal(self) -> bool:
        """Whether its looks alone make it a value."""
        return self.sort not in ("word", "mark")

    @property
    def key(self) -> str:
        """What must be equal for two texts to ask for the same, values aside."""
        return "\0" if self.literal else self.value.casefold()


def tokens(text: str) -> list[Token]:
    """Split a text into tokens."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        sort: Sort = match.lastgroup  # type: ignore[assignment]  # the groups are named after the sorts
        value = match[0][1:-1] if sort == "quoted" else match[0]
        found.append(Token(sort, value, match.start(), match.end()))
    return found
