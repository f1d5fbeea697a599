"""Metrics judge what getters read; task files name them as `func`.

A metric is a public function `judge(result, expected, *, option=...)` that returns a `Score`. Its signature says what a
task file may give it: `expected` is a model for rules, and any other type for the value of a getter; parameters in its
place are the fields of rules, and keyword-only parameters are options. Names, rules and options are OSWorld's
(`desktop_env/evaluators/metrics`) where it has an equivalent. An invalid rule is an error, not a score.
"""

from __future__ import annotations

import inspect
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from evaluation.errors import CheckFailed
from evaluation.state.parameters import Parameters, keywords, new_model, parameters_of, public_functions
from evaluation.state.reading import WrongFormat, as_format, excerpt, read_text

Json = Any
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a metric."""

    value: float  # from 0.0 (not done) to 1.0 (done)
    why: str  # the reason, for a report


def score_of(holds: bool, why: str) -> Score:
    """Return 1 where something holds and 0 where it does not."""
    return Score(1.0 if holds else 0.0, why)


def score_unless(problems: Iterable[str], otherwise: str) -> Score:
    """Return 0 with all problems as the reason, or 1 where there is none."""
    why = "; ".join(problems)
    return score_of(not why, why or otherwise)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its function, and the keys that a task file may give it."""

    # called as `judge(result, expected, **options)`, or with the fields of rules if it has no parameter `expected`
    judge: Callable[..., Score]
    # what `expected` of type `rule` holds; None for a metric that compares with a file, or with nothing
    rules: type[Parameters] | None
    options: type[Parameters]  # what `options` may hold
    needs_expected: bool  # whether `expected` must be given
    takes_expected: bool  # whether the function has that parameter
    takes_any: bool = False  # whether `expected` may be any value, rules too
    needs_context: bool = False  # whether the function runs something on the desktop, and is given its context first

    @classmethod
    def of(
        cls, judge: Callable[..., Score], rules: type[Parameters] | None = None, options: type[Parameters] | None = None
    ) -> Metric:
        """Return the metric of a function; `rules` and `options` override its signature."""
        parameters = inspect.signature(judge).parameters
        expected = parameters.get("expected")
        if expected is None:
            fields = parameters_of(judge, inspect.Parameter.POSITIONAL_OR_KEYWORD, ("context", "result"))
            rules = fields if fields.model_fields else None
        hint = rules or get_type_hints(judge).get("expected")
        kind = hint if isinstance(hint, type) and issubclass(hint, Parameters) else None
        if kind is not None:
            needed = any(field.is_required() for field in kind.model_fields.values())
        else:
            needed = expected is not None and expected.default is expected.empty
        return cls(
            judge=judge,
            rules=kind,
            options=options or parameters_of(judge),
            needs_expected=needed,
            takes_expected=expected is not None,
            takes_any=hint is Any,
            needs_context="context" in parameters,
        )

    def score(self, result: Any, expected: Any, options: Parameters, context: Any = None) -> Score:
        """Judge a result.

        Args:
            result: What a getter read.
            expected: Rules, or what a getter read: for a metric with rules, they are made of it.
            options: Options of the metric.
            context: The context of the task, for a metric that needs it.

        Raises:
            CheckFailed: The state cannot be judged.
        """
        if self.rules is not None and not isinstance(expected, self.rules):
            try:
                expected = self.rules.model_validate(with_key({} if expected is None else expected))
            except ValidationError as error:
                raise CheckFailed(f"this is not a rule of the metric: {error.errors()[0]['msg']}") from error
        given = (result, expected) if self.takes_expected else (result,)
        if self.needs_context:
            given = (context, *given)
        fields = keywords(expected) if self.rules is not None and not self.takes_expected else {}
        try:
            return self.judge(*given, **fields, **keywords(options))
        except WrongFormat as problem:
            if problem.path == expected or (isinstance(expected, list) and problem.path in expected):
                raise CheckFailed(f"the expected {problem}") from problem
            return Score(0.0, str(problem))


def with_key(rules: Any) -> Any:
    """Return rules as an object; a bare list stands for the key `rules`, and a bare text for `expected`."""
    if isinstance(rules, str):
        return {"expected": rules}
    return {"rules": rules} if isinstance(rules, list) else rules


def metrics_in(module: str) -> dict[str, Metric]:
    """Return the metrics of a module by name: its public functions that return a `Score`."""
    return {judge.__name__: Metric.of(judge) for judge in public_functions(module, Score, ("result", "context"))}


def rules_with(**fields: Any) -> type[Parameters]:
    """Return the class of rules with required fields, for metrics that come from a table."""
    rules: type[Parameters] = new_model("Rules", **{name: (kind, ...) for name, kind in fields.items()})
    return rules


class Expected(Parameters, Generic[T]):
    """One value."""

    expected: T


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ExpectedList(Parameters, Generic[T]):
    """One value or more; a single text stands for a list of it."""

    expected: Annotated[tuple[T, ...], BeforeValidator(_listed), Field(min_length=1)]


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

    `re` searches a regular expression, with flags as in `re.S`; `approx:0.01` allows that much difference; `range.te`
    lies between two numbers, each excluded (`t`) or included (`e`); `str_list_eq` and `str_set_eq` compare a text such
    as `"a,b"` with a list; `spreadsheet_range` holds for cells that include the first range and lie in the second.
    The others compare.
    """

    method: str = Field(
        pattern=r"^(eq|ne|lt|le|gt|ge|re(\.[A-Z]+)*|approx:[0-9.]+|range\.[te][te]|str_(list|set)_eq|spreadsheet_range)$"
    )
    ref: Json

    def holds(self, value: Json) -> bool:
        """Return whether a value fits; one of another kind, such as a text where a number is meant, does not."""
        kind, _, detail = self.method.replace(":", ".", 1).partition(".")
        try:
            match kind:
                case "re":
                    flags = [re.RegexFlag[flag] for flag in detail.split(".") if flag]
                    return re.search(self.ref, str(value), reduce(operator.or_, flags, re.NOFLAG)) is not None
                case "approx":
                    return abs(float(value) - float(self.ref)) <= float(detail)
                case "range":
                    least, largest = (operator.lt if sign == "t" else operator.le for sign in detail)
                    return bool(least(self.ref[0], value) and largest(value, self.ref[1]))
                case "str_list_eq" | "str_set_eq":
                    found, wanted = value.strip("\"'").split(","), list(self.ref)
                    return found == wanted if kind == "str_list_eq" else set(found) == set(wanted)
                case "spreadsheet_range":
                    return _covers(str(value), self.ref[0]) and _covers(self.ref[1], str(value))
                case _:
                    return bool(getattr(operator, kind)(value, self.ref))
        except (TypeError, ValueError, AttributeError, KeyError):
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


def _covers(outer: str, inner: str) -> bool:
    """Return whether each range of cells, such as `A1:B2 D1`, lies in one of others."""
    from openpyxl.worksheet.cell_range import MultiCellRange

    covering = MultiCellRange(outer)
    return all(one in covering for one in MultiCellRange(inner))


def exact_match(result: Json, expected: Expected[Json]) -> Score:
    """The result is `expected`; true and 1 are not the same."""
    wanted = expected.expected
    same = result == wanted and isinstance(result, bool) == isinstance(wanted, bool)
    return score_of(same, f"expected exactly {wanted!r}, found {result!r}")


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


def check_json(result: Path | Json, expected: ExpectUnexpect[KeyRule], *, is_yaml: bool = False) -> Score:
    """Every rule of `expect` holds for a value, or for that of a JSON or YAML file, and none of `unexpect`."""
    value = parsed_file(result, is_yaml) if isinstance(result, Path) else result
    wrong = [rule.described("should be") for rule in expected.expect if not rule.holds(value)]
    wrong += [rule.described("should not be") for rule in expected.unexpect if rule.holds(value)]
    return score_unless(wrong, "all fields are as expected")


def parsed_file(path: Path, is_yaml: bool = False) -> Json:
    """Return the value of a JSON or YAML file.

    Raises:
        WrongFormat: It is not one.
    """
    text = read_text(path)
    with as_format(path, "a YAML file" if is_yaml else "a JSON file", yaml.YAMLError):
        return yaml.safe_load(text) if is_yaml else json.loads(text)
