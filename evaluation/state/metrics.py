"""Metrics judge what getters read; task files name them as `func`. Each is a function that returns a `Score`.

Names, rules and options are OSWorld's (`desktop_env/evaluators/metrics`) where it has an equivalent. An invalid rule is
an error, not a score.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.getters import Nothing, Parameters, excerpt, new_model, read_text

Json = Any


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a metric.

    Attributes:
        value: From 0.0 (not done) to 1.0 (done).
        why: The reason, for a report.
    """

    value: float
    why: str


class WrongFormat(Exception):
    """A file of the result is not of the format that a metric judges, which scores 0."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its function, and the keys that a task file may give it.

    Attributes:
        judge: Called as `judge(result, expected, **options)`.
        rules: What `expected` of type `rule` holds; None for a metric that compares with a file, or with nothing.
        options: What `options` may hold.
    """

    judge: Callable[..., Score]
    rules: type[Parameters] | None = None
    options: type[Parameters] = Nothing

    def score(self, result: Any, expected: Any, options: Parameters) -> Score:
        """Judge a result.

        Raises:
            CheckFailed: The state cannot be judged.
        """
        try:
            return self.judge(result, expected, **{name: getattr(options, name) for name in type(options).model_fields})
        except WrongFormat as problem:
            return Score(0.0, str(problem))


def by_name(*metrics: Metric) -> dict[str, Metric]:
    """Return metrics by the names of their functions."""
    return {metric.judge.__name__: metric for metric in metrics}


def rules_of(name: str, **fields: Any) -> type[Parameters]:
    """Return the class of rules with these fields, each a type for a required one, or a type and a default."""
    given = {key: field if isinstance(field, tuple) else (field, ...) for key, field in fields.items()}
    rules: type[Parameters] = new_model(name, **given)
    return rules


class Expected(Parameters):
    """One value of any kind."""

    expected: Json


class ExpectedList(Parameters):
    """The values that are right."""

    expected: Annotated[tuple[Json, ...], Field(min_length=1)]


class IncludeExclude(Parameters):
    """Texts that must be there, and texts that must not."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class ValueRule(Parameters):
    """How one value is compared: OSWorld's `method` and `ref`.

    `re` searches a regular expression, `approx:0.01` allows that much difference, the others compare.
    """

    method: str = Field(pattern=r"^(eq|ne|lt|le|gt|ge|re|approx:[0-9.]+)$")
    ref: Json

    def holds(self, value: Json) -> bool:
        """Return whether a value fits; one of another kind, such as a text where a number is meant, does not."""
        try:
            if self.method == "re":
                return re.search(self.ref, str(value)) is not None
            if self.method.startswith("approx:"):
                return abs(float(value) - float(self.ref)) <= float(self.method.partition(":")[2])
            return bool(getattr(operator, self.method)(value, self.ref))
        except (TypeError, ValueError):
            return False

    def __str__(self) -> str:
        return f"{self.method} {self.ref!r}"


class KeyRule(ValueRule):
    """A value rule for what lies at `key`, a path of names and positions into JSON."""

    key: tuple[str | int, ...]


class JsonRules(Parameters):
    """What must hold, and what must not."""

    expect: tuple[KeyRule, ...] = ()
    unexpect: tuple[KeyRule, ...] = ()


def exact_match(result: Json, expected: Expected) -> Score:
    """The result is `expected`, and of the same kind."""
    wanted = expected.expected
    return score_of(type(result) is type(wanted) and result == wanted, f"expected exactly {wanted!r}, found {result!r}")


def match_in_list(result: Json, expected: ExpectedList) -> Score:
    """The result is one of the list `expected`."""
    return score_of(result in expected.expected, f"expected one of {list(expected.expected)!r}, found {result!r}")


def check_include_exclude(result: str, expected: IncludeExclude) -> Score:
    """The result holds every text of `include` and none of `exclude`."""
    if not isinstance(result, str):
        raise CheckFailed(f"check_include_exclude judges a text, not {type(result).__name__}")
    missing = [part for part in expected.include if part not in result]
    unwanted = [part for part in expected.exclude if part in result]
    why = [f"missing {part!r}" for part in missing] + [f"should not hold {part!r}" for part in unwanted]
    return score_of(not why, "; ".join(why) or "holds all that it should and nothing that it should not")


class TextOptions(Parameters):
    """How texts are compared.

    Attributes:
        ignore_blanks: Whether runs of blanks and line ends count as one blank, and those at both ends not at all.
        ignore_case: Whether capitals count as small letters.
    """

    ignore_blanks: bool = False
    ignore_case: bool = False


def compare_text_file(result: Path, expected: Path, *, ignore_blanks: bool = False, ignore_case: bool = False) -> Score:
    """Two files hold the same text; the options are those of `TextOptions`."""
    found, wanted = read_text(result), read_text(expected)
    why = f"{result.name} holds {excerpt(found)}, expected {excerpt(wanted)}"
    if ignore_blanks:
        found, wanted = " ".join(found.split()), " ".join(wanted.split())
    if ignore_case:
        found, wanted = found.casefold(), wanted.casefold()
    return score_of(found == wanted, why)


def check_json(result: Json, expected: JsonRules) -> Score:
    """Every rule of `expect` holds for a JSON value, and none of `unexpect`."""
    wrong = [f"{_dotted(rule.key)} should be {rule}" for rule in expected.expect if not _holds_at(rule, result)]
    wrong += [f"{_dotted(rule.key)} should not be {rule}" for rule in expected.unexpect if _holds_at(rule, result)]
    return score_of(not wrong, "; ".join(wrong) or "all fields are as expected")


def _holds_at(rule: KeyRule, value: Json) -> bool:
    for part in rule.key:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return rule.holds(value)


def _dotted(key: tuple[str | int, ...]) -> str:
    return ".".join(map(str, key))


def score_of(holds: bool, why: str) -> Score:
    """Return 1 where something holds and 0 where it does not."""
    return Score(1.0 if holds else 0.0, why)


METRICS = by_name(
    Metric(exact_match, rules=Expected),
    Metric(match_in_list, rules=ExpectedList),
    Metric(check_include_exclude, rules=IncludeExclude),
    Metric(compare_text_file, options=TextOptions),
    Metric(check_json, rules=JsonRules),
)
