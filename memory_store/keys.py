"""Keys of experience, and validation of texts.

All code that writes or looks up a key builds it with `make_key`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from intents.lexicon import fillers
from intents.text import QUOTED
from memory_store.errors import InvalidExperience

MAX_TEXT_CHARS = 262_144  # A longer text is a screen dump or a mistake, not a query or a summary.
MAX_JSON_CHARS = 8_388_608  # of the steps of one experience

_WORD = re.compile(r"\S+")
_SPACES = re.compile(r"\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTATION = re.compile(QUOTED)


@dataclass(frozen=True, slots=True)
class Key:
    """The key by which an experience is found."""

    text: str  # what is embedded, with runs of white space collapsed
    digest: str  # SHA-256 (hex) of the exact-match form; equal digests mean the same words


def make_key(*parts: str) -> Key:
    """Build the key for a query, an instruction, or (task query, subtask, context).

    Raises:
        InvalidExperience: A part is not acceptable text, or all of them are blank.
    """
    for part in parts:
        check_text(part, "the key")
    text = "\n".join(collapsed for part in parts if (collapsed := collapse(part)))
    if not text:
        raise InvalidExperience("the key is blank: give a query, subtask or instruction with at least one word")
    exact = "\x1f".join(exact_form(part) for part in parts)
    return Key(text=text, digest=hashlib.sha256(exact.encode()).hexdigest())


def make_skill_key(name: str, description: str, aliases: Iterable[str]) -> Key:
    """Build the key of a skill: the digest covers name and description, and the text also includes the aliases.

    Raises:
        InvalidExperience: A part is not acceptable text, or name and description are blank.
    """
    said = description.casefold()
    others = [alias for alias in aliases if alias.casefold() not in said]
    digest = make_key(name, description).digest
    return Key(text=make_key(name, description, *others).text, digest=digest)


def collapse(text: str) -> str:
    """Trim a text and collapse each run of white space to one blank."""
    return _SPACES.sub(" ", text).strip()


def exact_form(text: str) -> str:
    """Return the normal form in which texts that mean the same task are equal.

    White space is collapsed outside quotations, and the case of the very first letter does not count. All
    other letters keep their case and quotations stay as they are: "type Hello" and "type hello" ask for two
    different results, and replaying one for the other would type the wrong text.
    """
    pieces: list[str] = []
    end = 0
    for quotation in _QUOTATION.finditer(text):
        pieces += (_SPACES.sub(" ", text[end : quotation.start()]), quotation.group())
        end = quotation.end()
    form = "".join((*pieces, _SPACES.sub(" ", text[end:]))).strip()
    return form[:1].lower() + form[1:]


def near_digest(key_text: str) -> str:
    """Return a digest that is equal for texts that differ only in stop words, punctuation and white space.

    Quotations, numbers, and the case and order of words count, as in `exact_form`.
    """
    words = _WORD.findall(exact_form(key_text))
    content = [word.strip(".,;:!?") for word in words if word.casefold() not in fillers()]
    return hashlib.sha256("\x1f".join(word for word in content if word).encode()).hexdigest()


def check_text(text: str, what: str) -> str:
    """Return the text if it can be stored and read back unchanged everywhere.

    Raises:
        InvalidExperience: The text contains NUL or a lone surrogate, or exceeds `MAX_TEXT_CHARS`.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidExperience(
            f"{what} has {len(text)} characters, more than {MAX_TEXT_CHARS}: store a summary instead"
        )
    if "\0" in text:
        raise InvalidExperience(f"{what} contains a NUL character at {text.index(chr(0))}: remove it")
    surrogate = _SURROGATE.search(text)
    if surrogate is not None:
        raise InvalidExperience(
            f"{what} contains a lone surrogate at {surrogate.start()}: decode the text with errors='replace'"
        )
    return text


def check_json(value: object, what: str) -> None:
    """Check that a value is JSON that can be stored and read back unchanged.

    Raises:
        InvalidExperience: The value is not JSON, contains NaN, infinity or unacceptable text, or is too large.
    """
    for leaf in _leaves(value):
        if isinstance(leaf, str):
            check_text(leaf, what)
        elif isinstance(leaf, float) and not math.isfinite(leaf):
            raise InvalidExperience(f"{what} contains {leaf}, which JSON cannot hold: use null")
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidExperience(f"{what} is not JSON ({error}): pass plain dicts, lists, texts and numbers") from error
    if size > MAX_JSON_CHARS:
        raise InvalidExperience(f"{what} takes {size} characters, more than {MAX_JSON_CHARS}: store fewer steps")


def _leaves(value: object) -> Iterable[object]:
    """Yield the keys and scalar values of nested dicts and lists, without recursion."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += (*item.keys(), *item.values())
        elif isinstance(item, list | tuple):
            pending += item
        else:
            yield item
