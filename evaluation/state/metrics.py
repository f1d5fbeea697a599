"""Metrics judge what getters read; task files name them as `func`.

A metric is a function `judge(result, expected, *, option=...)` that returns a `Score`, listed in a table `METRICS`. Its
signature says what a task file may give it: `expected` is a model for rules, and any other type for the value of a
getter; keyword-only parameters are its options. Names, rules and options are OSWorld's
(`desktop_env/evaluators/metrics`) where it has an equivalent. An invalid rule is an error, not a score.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.parameters import Parameters, keywords, new_model, parameters_of
from evaluation.state.reading import WrongFormat, excerpt, read_text

Json = Any
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a metric.

    Attributes:
        value: From 0.0 (not done) to 1.0 (done).
        why: The reason, for a report.
    """

    value: float
    why: str


def score_of(holds: bool, why: str) -> Score:
    """Return 1 where something holds and 0 where it does not."""
    return Score(1.0 if holds else 0.0, why)


def score_unless(problems: Iterable[str], otherwise: str) -> Score:
    """Return 0 with all problems as the reason, or 1 where there is none."""
    why = "; ".join(problems)
    return score_of(not why, why or otherwise)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its function, and the keys that a task file may give it.

    Attributes:
        judge: Called as `judge(result, expected, **options)`, or without `expected` if it has no such parameter.
        rules: What `expected` of type `rule` holds; None for a metric that compares with a file, or with nothing.
        options: What `options` may hold.
        needs_expected: Whether `expected` must be given.
        takes_expected: Whether the function has that parameter.
    """

    judge: Callable[..., Score]
    rules: type[Parameters] | None
    options: type[Parameters]
    needs_expected: bool
    takes_expected: bool

    @classmethod
    def of(
        cls,
        judge: Callable[..., Score],
        rules: type[Parameters] | None = None,
        options: type[Parameters] | None = None,
    ) -> Metric:
        """Return the metric of a function; `rules` and `options` override its signature."""
        expected = inspect.signature(judge).parameters.get("expected")
        kind = rules or get_type_hints(judge).get("expected")
        if not (isinstance(kind, type) and issubclass(kind, Parameters)):
            kind = None
        needed = kind is not None or (expected is not None and expected.default is expected.empty)
        return cls(judge, kind, options or parameters_of(judge), needed, expected is not None)

    def score(self, result: Any, expected: Any, options: Parameters) -> Score:
        """Judge a result.

        Raises:
            CheckFailed: The state cannot be judged.
        """
        given = (result, expected) if self.takes_expected else (result,)
        try:
            return self.judge(*given, **keywords(options))
        except WrongFormat as problem:
            if problem.path == expected:
                raise CheckFailed(f"the expected {problem}") from problem
            return Score(0.0, str(problem))


def metrics_by_name(*judges: Callable[..., Score]) -> dict[str, Metric]:
    """Return the metrics of functions by their names."""
    return {judge.__name__: Metric.of(judge) for judge in judges}


def rules_with(**fields: Any) -> type[Parameters]:
    """Return the class of rules with required fields, for metrics that come from a table."""
    rules: type[Parameters] = new_model("Rules", **{name: (kind, ...) for name, kind in fields.items()})
    return rules


class Expected(Parameters, Generic[T]):
    """One value."""

    expected: T


class ExpectedList(Parameters, Generic[T]):
    """One value or more."""

    expected: Annotated[tuple[T, ...], Field(min_length=1)]


class IncludeExclude(Parameters):
    """Texts or patterns that must be there, and those that must not."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class ExpectUnexpect(Parameters, Generic[T]):
    """What must hold, and what must not."""

    expect: tuple[T, ...] = ()
    unexpect: tuple[T, ...] = ()


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

    def holds(self, value: Json) -> bool:
        """Return whether there is a value at the key, and it fits."""
        for part in self.key:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return False
        return ValueRule.holds(self, value)

    def described(self, verb: str) -> str:
        """Return the rule as a sentence with a verb, such as "should be"."""
        return f"{'.'.join(map(str, self.key))} {verb} {self}"


def expect_each(
    expected: Iterable[T], unexpected: Iterable[T], holds: Callable[[T], bool], lacking: str, unwanted: str
) -> list[str]:
    """Return the problems of a check that something holds for some rules and not for others.

    Args:
        expected: Rules that must hold.
        unexpected: Rules that must not.
        holds: Whether a rule holds.
        lacking: Beginning of the problem of a rule that should hold, such as "no line fits".
        unwanted: The same for one that should not.
    """
    return [f"{lacking} {rule!r}" for rule in expected if not holds(rule)] + [
        f"{unwanted} {rule!r}" for rule in unexpected if holds(rule)
    ]


def differing_values(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the problems of values by key; keys that are not wanted do not count."""
    return [
        f"{key} is {repr(found[key]) if key in found else 'not set'}, expected {value!r}"
        for key, value in wanted.items()
        if key not in found or found[key] != value
    ]


def without_differences(text: str, ignore_blanks: bool, ignore_case: bool) -> str:
    """Return a text to be compared, with runs of blanks as one blank, and without capitals, if they do not count."""
    text = " ".join(text.split()) if ignore_blanks else text
    return text.casefold() if ignore_case else text


def exact_match(result: Json, expected: Expected[Json]) -> Score:
    """The result is `expected`, and of the same kind."""
    wanted = expected.expected
    return score_of(type(result) is type(wanted) and result == wanted, f"expected exactly {wanted!r}, found {result!r}")


def match_in_list(result: Json, expected: ExpectedList[Json]) -> Score:
    """The result is one of the list `expected`."""
    return score_of(result in expected.expected, f"expected one of {list(expected.expected)!r}, found {result!r}")


def check_include_exclude(result: str, expected: IncludeExclude) -> Score:
    """The result holds every text of `include` and none of `exclude`."""
    if not isinstance(result, str):
        raise CheckFailed(f"check_include_exclude judges a text, not {type(result).__name__}")
    problems = expect_each(
        expected.include, expected.exclude, lambda part: part in result, "missing", "should not hold"
    )
    return score_unless(problems, "holds all that it should and nothing that it should not")


def compare_text_file(result: Path, expected: Path, *, ignore_blanks: bool = False, ignore_case: bool = False) -> Score:
    """Two files hold the same text, but for blanks and line ends or for case where these are ignored."""
    found, wanted = read_text(result), read_text(expected)
    same = without_differences(found, ignore_blanks, ignore_case) == without_differences(
        wanted, ignore_blanks, ignore_case
    )
    return score_of(same, f"{result.name} holds {excerpt(found)}, expected {excerpt(wanted)}")


def check_json(result: Json, expected: ExpectUnexpect[KeyRule]) -> Score:
    """Every rule of `expect` holds for a JSON value, and none of `unexpect`."""
    wrong = [rule.described("should be") for rule in expected.expect if not rule.holds(result)]
    wrong += [rule.described("should not be") for rule in expected.unexpect if rule.holds(result)]
    return score_unless(wrong, "all fields are as expected")


METRICS = metrics_by_name(exact_match, match_in_list, check_include_exclude, compare_text_file, check_json)
