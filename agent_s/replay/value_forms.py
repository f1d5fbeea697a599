"""Forms of values: how to find a value of the same form in a text, and how to convert it to the typed form.

A typed value may differ in form from the one on the screen: "4,368" typed as "4368", or the code inside "Your code is
8123". The conversion is inferred once from the learned value and applied to the current one. If it is ambiguous,
nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from intents.dates import month_number, parse_day, parse_time
from intents.lexicon import content_words
from intents.numbers import NUMBER, Reading, is_number, numbers_in, readings

AROUND_CHARS = 40
"""Number of characters kept before and after a value."""

_DIGITS = re.compile(r"(\d+(?:[.,:]\d+)*)")
_RUN = re.compile(r"[^\W_]+|[\W_]+")
_WORDS = r"[^\W\d_]+(?:[ '’.-]{1,2}[^\W\d_]+){0,5}"
_YEAR = re.compile(r"(?:19|20)\d\d")
_EXACT_DIGITS = 4  # longer runs of digits, as in years and codes, keep their length
_DISTINCTIVE_CHARS, _DISTINCTIVE_DIGITS, _DISTINCTIVE_WORDS, _DISTINCTIVE_LENGTH = 4, 3, 3, 16


def is_distinctive(value: str) -> bool:
    """Return whether a value is so distinctive that a screen is unlikely to show it by coincidence.

    Small numbers, years, dates, times, single words and default names such as "Sheet1" are not.
    """
    text = value.strip()
    if parse_day(text) or parse_time(text) or _YEAR.fullmatch(text) or any(map(month_number, text.split())):
        return False
    chars, digits = re.findall(r"[^\W_]", text), re.findall(r"\d", text)
    if digits:
        parts = re.findall(r"\d+", text)
        is_date = len(parts) > 1 and len(digits) == len(chars)
        return not is_date and len(chars) >= _DISTINCTIVE_CHARS and len(digits) >= _DISTINCTIVE_DIGITS
    return len(content_words(text)) >= _DISTINCTIVE_WORDS or len(chars) >= _DISTINCTIVE_LENGTH


def occurrences(text: str, typed: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each occurrence of a typed value in a text, as written there, with the text before and after it."""
    if is_number(typed):
        digits = _digits(typed)
        found = [
            match
            for match in numbers_in(text)
            if match[0] == typed or (_digits(match[0]) == digits and _conventions(match[0], typed))
        ]
    elif typed.strip().casefold() in text.casefold():
        found = list(re.finditer(rf"(?<!\w){re.escape(typed.strip())}(?!\w)", text, re.IGNORECASE))
    else:
        return
    for match in found:
        before, after = text[: match.start()], text[match.end() :]
        yield match[0], (before[-AROUND_CHARS:], after[:AROUND_CHARS])


def _digits(number: str) -> str:
    """Return the digits of a number without trailing zeros, which a decimal fraction may omit."""
    return "".join(char for char in number if char.isdecimal()).rstrip("0")


def index_keys(text: str) -> list[str]:
    """Return the words and numbers of a text in order, as index keys: a text that contains another has its keys."""
    numbers = {match.start(): _digits(match[0]) for match in numbers_in(text)}
    words = {match.start(): match[0].casefold() for match in re.finditer(r"\w+", text)}
    return [key for _, key in sorted([*numbers.items(), *words.items()])]


def has_context(around: tuple[str, str]) -> bool:
    """Return whether there are words around a value that identify it within its text."""
    return any(re.search(r"[^\W\d_]{2}", text) for text in around)


def values_like(text: str, value: str, around: tuple[str, str]) -> set[str]:
    """Return the strings in a text that have the form and the context of a learned value.

    Args:
        text: The current text.
        value: The learned value as it was shown.
        around: The text before and after it; numbers in it may differ now.
    """
    before, after = (_masked(part) for part in around)
    begins = "^" if len(around[0]) < AROUND_CHARS else ""
    ends = "$" if len(around[1]) < AROUND_CHARS else ""
    pattern = rf"{begins}\s*{before}(?P<value>{_shape(value)}){after}\s*{ends}"
    return {match["value"] for match in re.finditer(pattern, text) if _same_case(value, match["value"])}


def typed_form(value: str, typed: str, new: str) -> str | None:
    """Convert a new value to the typed form, by the example of a learned one; None if that is ambiguous."""
    if is_number(value) and is_number(typed):
        return _typed_number(value, typed, new)
    for form in (str, str.upper, str.lower, str.title):
        if form(value) == typed:
            return form(new)
    return None


def _typed_number(value: str, typed: str, new: str) -> str | None:
    shown, plain = value.replace("−", "-"), new.replace("−", "-")
    if shown == typed:
        return plain
    results = set()
    for before, after in _conventions(shown, typed):
        for reading in readings(plain):
            known = reading.group in ("", before.group) and reading.point in ("", before.point)
            if known and not (reading.point and not after.point):
                results.add(_written(plain, reading, after, trims=_trims(shown, before, typed, after)))
    return results.pop() if len(results) == 1 else None


def _conventions(shown: str, typed: str) -> list[tuple[Reading, Reading]]:
    """Return the pairs of readings under which two texts are the same number."""
    return [(one, other) for one in readings(shown) for other in readings(typed) if one.value == other.value]


def _trims(shown: str, before: Reading, typed: str, after: Reading) -> bool:
    """Return whether trailing zeros of a fraction were not typed."""
    decimals = [text.rpartition(one.point)[2] if one.point else "" for text, one in ((shown, before), (typed, after))]
    return len(decimals[0]) > len(decimals[1])


def _written(text: str, reading: Reading, form: Reading, trims: bool) -> str:
    """Return a number written in another form."""
    whole, _, part = text.partition(reading.point) if reading.point else (text, "", "")
    sign = "-" if whole.startswith("-") else ""
    digits = re.sub(r"[^0-9]", "", whole)
    if form.group:
        digits = f"{int(digits):,}".replace(",", form.group)
    part = part.rstrip("0") if trims else part
    return f"{sign}{digits}{form.point}{part}" if part else f"{sign}{digits}"


def _masked(text: str) -> str:
    """Return a pattern that matches a text with any numbers in place of its own."""
    parts = _DIGITS.split(text)
    return "".join(r"\d+(?:[.,:]\d+)*" if number % 2 else re.escape(part) for number, part in enumerate(parts))


def _shape(value: str) -> str:
    """Return a pattern for values of the same form: a number, words, or a code."""
    value = value.strip()
    if is_number(value):
        return NUMBER
    if re.fullmatch(_WORDS, value):
        return _WORDS
    return rf"(?<!\w){''.join(map(_run_shape, _RUN.findall(value)))}(?!\w)"


def _run_shape(run: str) -> str:
    length = len(run)
    if run.isdecimal():
        return rf"\d{{{length}}}" if length >= _EXACT_DIGITS else rf"\d{{{max(1, length - 1)},{length + 1}}}"
    if run.isalpha():
        return rf"[^\W\d_]{{{length}}}" if length <= _DISTINCTIVE_DIGITS else r"[^\W\d_]{3,}"
    return rf"[^\W_]{{{length}}}" if run.isalnum() else re.escape(run)


def _same_case(one: str, other: str) -> bool:
    """Return whether both or neither capitalize all their words, so that a message is not taken for a name."""
    if any(char.isdigit() for char in one) or not any(char.isalpha() for char in one):
        return True
    return _capitalized(one) == _capitalized(other)


def _capitalized(text: str) -> bool:
    return all(word[:1].isupper() for word in re.findall(r"[^\W\d_]+", text))
