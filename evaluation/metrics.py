"""Metrics judge what getters found; a task file names them as `func`. Each is a plain function to a `Score`.

The names, rules and options are OSWorld's (`desktop_env/evaluators/metrics`) where it has an equivalent; where a rule
does not hold, the score says which. A rule that cannot be understood is an error, not a score.
"""

from __future__ import annotations

import operator
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from zipfile import BadZipFile

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.getters import Nothing, Parameters, excerpt, read_text

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.workbook.workbook import Workbook

Json = Any


@dataclass(frozen=True, slots=True)
class Score:
    """What a metric says.

    Attributes:
        value: From 0.0 (not done) to 1.0 (done).
        why: What holds or does not, in words for a report.
    """

    value: float
    why: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its function, and the keys that a task file may give it.

    Attributes:
        judge: Called as `judge(result, expected, **options)`.
        rules: What `expected` of type `rule` must hold; None where the metric compares with a file or with nothing.
        options: What `options` may hold.
    """

    judge: Callable[..., Score]
    rules: type[Parameters] | None
    options: type[Parameters]


METRICS: dict[str, Metric] = {}
"""Metric by the name that task files use."""

J = TypeVar("J", bound=Callable[..., Score])


def metric(rules: type[Parameters] | None = None, options: type[Parameters] = Nothing) -> Callable[[J], J]:
    """Enter a function into `METRICS` under its own name."""

    def enter(judge: J) -> J:
        METRICS[judge.__name__] = Metric(judge, rules, options)
        return judge

    return enter


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


class Minutes(Parameters):
    """A time in whole minutes."""

    minutes: Annotated[int, Field(ge=1)]


class ValueRule(Parameters):
    """How one value is compared: OSWorld's `method` and `ref`.

    `re` searches a regular expression, `approx:0.01` allows that much difference, the others compare.
    """

    method: str = Field(pattern=r"^(eq|ne|lt|le|gt|ge|re|approx:[0-9.]+)$")
    ref: Json

    def holds(self, value: Json) -> bool:
        """Tell whether a value fits; one of another kind, such as a text where a number is meant, does not."""
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


class CellRule(Parameters):
    """One cell of a workbook, and what its `value` or `formula` must be."""

    type: Literal["check_cell"]
    sheet_idx: int = 0
    coordinates: str = Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]*$")
    props: dict[Literal["value", "formula"], ValueRule]


class RegistryValue(Parameters):
    """A setting of a LibreOffice profile: component path, property name and its text."""

    path: str
    name: str
    value: str


class RegistryRules(Parameters):
    """The settings that a LibreOffice profile must have."""

    expected: Annotated[tuple[RegistryValue, ...], Field(min_length=1)]


@metric(rules=Expected)
def exact_match(result: Json, expected: Expected) -> Score:
    """The result is `expected`, and of the same kind."""
    wanted = expected.expected
    return _score(type(result) is type(wanted) and result == wanted, f"expected exactly {wanted!r}, found {result!r}")


@metric(rules=ExpectedList)
def match_in_list(result: Json, expected: ExpectedList) -> Score:
    """The result is one of the list `expected`."""
    return _score(result in expected.expected, f"expected one of {list(expected.expected)!r}, found {result!r}")


@metric(rules=IncludeExclude)
def check_include_exclude(result: str, expected: IncludeExclude) -> Score:
    """The result holds every text of `include` and none of `exclude`."""
    if not isinstance(result, str):
        raise CheckFailed(f"check_include_exclude judges a text, not {type(result).__name__}")
    missing = [part for part in expected.include if part not in result]
    unwanted = [part for part in expected.exclude if part in result]
    why = [f"missing {part!r}" for part in missing] + [f"should not hold {part!r}" for part in unwanted]
    return _score(not why, "; ".join(why) or "holds all that it should and nothing that it should not")


class TextOptions(Parameters):
    """How texts are compared.

    Attributes:
        ignore_blanks: Whether runs of blanks and line ends count as one blank, and those at both ends not at all.
        ignore_case: Whether capitals count as small letters.
    """

    ignore_blanks: bool = False
    ignore_case: bool = False


@metric(options=TextOptions)
def compare_text_file(result: Path, expected: Path, *, ignore_blanks: bool = False, ignore_case: bool = False) -> Score:
    """Two files hold the same text; the options are those of `TextOptions`."""
    found, wanted = read_text(result), read_text(expected)
    why = f"{result.name} holds {excerpt(found)}, expected {excerpt(wanted)}"
    if ignore_blanks:
        found, wanted = " ".join(found.split()), " ".join(wanted.split())
    if ignore_case:
        found, wanted = found.casefold(), wanted.casefold()
    return _score(found == wanted, why)


class TableOptions(Parameters):
    """What must hold for a workbook."""

    rules: Annotated[tuple[CellRule, ...], Field(min_length=1)]


@metric(options=TableOptions)
def compare_table(result: Path, expected: Path | None = None, *, rules: Sequence[CellRule]) -> Score:
    """Every rule holds for a workbook (`*.xlsx`).

    Args:
        result: The workbook.
        expected: Not needed by the rules there are.
        rules: `value` is what the application calculated and stored, `formula` the text
            behind it, compared without blanks and in capitals.
    """
    try:
        values, formulas = _workbook(result, data_only=True), _workbook(result, data_only=False)
    except (BadZipFile, KeyError, ValueError, ElementTree.ParseError) as error:
        return Score(0.0, f"{result.name} is not an xlsx workbook: {error}")
    wrong = [problem for cell in rules for problem in _cell_problems(cell, values, formulas)]
    holds = ", ".join(f"{cell.coordinates} {name} {rule}" for cell in rules for name, rule in cell.props.items())
    return Score(0.0, "; ".join(wrong)) if wrong else Score(1.0, f"{result.name}: {holds}")


@metric(rules=JsonRules)
def check_json(result: Json, expected: JsonRules) -> Score:
    """Every rule of `expect` holds for a JSON value, and none of `unexpect`."""
    wrong = [f"{_dotted(rule.key)} should be {rule}" for rule in expected.expect if not _holds_at(rule, result)]
    wrong += [f"{_dotted(rule.key)} should not be {rule}" for rule in expected.unexpect if _holds_at(rule, result)]
    return _score(not wrong, "; ".join(wrong) or "all fields are as expected")


@metric(rules=Minutes)
def check_auto_saving_time(result: Path, expected: Minutes) -> Score:
    """A LibreOffice profile (`registrymodifications.xcu`) has the auto-save interval `minutes`."""
    wanted = RegistryValue(path=_SAVE_DOCUMENT, name="AutoSaveTimeIntervall", value=str(expected.minutes))
    return _registry_score(result, [wanted])


@metric(rules=RegistryRules)
def check_registry_value(result: Path, expected: RegistryRules) -> Score:
    """A LibreOffice profile (`registrymodifications.xcu`) has every setting of the list `expected`.

    The file holds only what differs from the application's defaults: a setting that is not in it does not hold.
    """
    return _registry_score(result, expected.expected)


_SAVE_DOCUMENT = "/org.openoffice.Office.Common/Save/Document"
_OOR = "{http://openoffice.org/2001/registry}"


def _registry_score(result: Path, wanted: Sequence[RegistryValue]) -> Score:
    try:
        items = ElementTree.fromstring(read_text(result))
    except ElementTree.ParseError as error:
        raise CheckFailed(f"{result.name} is not a LibreOffice profile: {error}") from error
    found = {
        (item.get(f"{_OOR}path"), prop.get(f"{_OOR}name")): prop.findtext("value")
        for item in items.iter("item")
        for prop in item.iter("prop")
    }
    told = [f"{setting.name} = {found.get((setting.path, setting.name), 'not set')}" for setting in wanted]
    holds = all(found.get((setting.path, setting.name)) == setting.value for setting in wanted)
    expected = ", ".join(f"{setting.name} = {setting.value}" for setting in wanted)
    return (
        Score(1.0, f"{result.name}: {', '.join(told)}")
        if holds
        else Score(0.0, f"{result.name}: {', '.join(told)}; expected {expected}")
    )


def _workbook(path: Path, *, data_only: bool) -> Workbook:
    from openpyxl import load_workbook

    return load_workbook(path, data_only=data_only)


def _cell_problems(rule: CellRule, values: Workbook, formulas: Workbook) -> list[str]:
    if not 0 <= rule.sheet_idx < len(values.worksheets):
        return [f"there is no sheet {rule.sheet_idx}"]
    problems = []
    for name, wanted in rule.props.items():
        book = values if name == "value" else formulas
        cell: Cell = book.worksheets[rule.sheet_idx][rule.coordinates]
        found, expected = cell.value, wanted
        if name == "formula":
            found = _plain_formula(found)
            expected = wanted.model_copy(update={"ref": _plain_formula(wanted.ref)})
        if not expected.holds(found):
            problems.append(f"{name} of {rule.coordinates} is {found!r}, expected {expected}")
    return problems


def _plain_formula(text: Json) -> Json:
    return re.sub(r"\s", "", text).upper() if isinstance(text, str) else text


def _holds_at(rule: KeyRule, value: Json) -> bool:
    for part in rule.key:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return rule.holds(value)


def _dotted(key: tuple[str | int, ...]) -> str:
    return ".".join(map(str, key))


def _score(holds: bool, why: str) -> Score:
    return Score(1.0 if holds else 0.0, why)
