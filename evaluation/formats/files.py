"""Texts, JSON, CSV, archives, PDF and folders: values and files compared, as OSWorld's general metrics do."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from evaluation.state.getters import FileOnDesktop, FilePath, Getter, Parameters, Reading, excerpt, read_text
from evaluation.state.metrics import (
    Expected,
    ExpectedList,
    Metric,
    Score,
    TextOptions,
    ValueRule,
    WrongFormat,
    by_name,
    rules_of,
    score_of,
)


def list_directory(parameters: FilePath, context: TaskContext) -> Reading:
    """Files and folders (with `/` at the end) below a folder, in alphabetical order."""
    folder = context.path(parameters.path)
    if not folder.is_dir():
        return Reading(None, f"{context.shown(folder)} is not a folder")
    found = sorted(f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}" for path in folder.rglob("*"))
    return Reading(found, f"{context.shown(folder)} holds {excerpt(', '.join(found))}")


def pdf_text(parameters: FileOnDesktop, context: TaskContext) -> Reading:
    """Text of a PDF, as `pdftotext` (poppler-utils) reads it, with a form feed after each page."""
    path = context.path(parameters.path)
    if not path.is_file():
        return Reading(None, f"{context.shown(path)} does not exist")
    if shutil.which("pdftotext", path=context.desktop.environment.get("PATH")) is None:
        raise CheckFailed("PDF files need pdftotext: sudo apt-get install -y poppler-utils")
    ended = context.run(["pdftotext", "-layout", str(path), "-"])
    if ended.returncode != 0:
        return Reading(None, f"{context.shown(path)} is not a PDF: {excerpt(ended.stderr.strip())}")
    return Reading(ended.stdout, f"{context.shown(path)}: {excerpt(ended.stdout)}")


class ListRules(Parameters):
    """Regular expressions for the lines of a text."""

    expect: tuple[str, ...] = ()
    unexpect: tuple[str, ...] = ()


class CsvRules(Parameters):
    """Rows of a table that must be there, and rows that must not: values by column."""

    expect: tuple[dict[str, str], ...] = ()
    unexpect: tuple[dict[str, str], ...] = ()


class FuzzyOptions(Parameters):
    """Least similarity, from 0 to 1, for a score of 1; None makes the similarity itself the score."""

    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class ArchiveRules(Parameters):
    """Patterns (`*.txt`) for members of an archive: each must fit one, or none."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class DirectJson(Parameters):
    """Values by key; `expect_in_result`: whether a text or list need only hold the expected one."""

    expected: dict[str, Any]
    expect_in_result: bool = False


class LiteralOptions(Parameters):
    """Type of the compared values, `str` or `list`, and whether to ignore case."""

    type: Literal["str", "list"] = "str"
    ignore_case: bool = False


def literal_match(result: Any, expected: Expected, *, type: str = "str", ignore_case: bool = False) -> Score:
    """A text, or each text of a list, is the expected one."""
    found = [str(part) for part in result] if type == "list" else [str(result)]
    wanted = [str(part) for part in expected.expected] if type == "list" else [str(expected.expected)]
    same = (
        [part.casefold() for part in found] == [part.casefold() for part in wanted] if ignore_case else found == wanted
    )
    return score_of(same, f"expected {wanted}, found {found}")


def is_in_list(result: Any, expected: Expected) -> Score:
    """The expected value is in a list, or the text in a text."""
    return score_of(expected.expected in result, f"expected {expected.expected!r} in {excerpt(str(result))}")


def fuzzy_match(result: str, expected: Expected, *, threshold: float | None = None) -> Score:
    """The similarity of two texts (edit distance), from 0 to 1."""
    return _similarity(result, str(expected.expected), threshold)


def diff_text_file(result: Path, expected: Path, *, threshold: float | None = None) -> Score:
    """The similarity of the texts of two files, from 0 to 1."""
    return _similarity(read_text(result), read_text(expected), threshold)


def check_list(result: Path | str, expected: ListRules) -> Score:
    """Every expression of `expect` fits some line of a text or file, and none of `unexpect` does."""
    lines = (read_text(result) if isinstance(result, Path) else result).splitlines()
    missing = [rule for rule in expected.expect if not any(_search(rule, line) for line in lines)]
    unwanted = [rule for rule in expected.unexpect if any(_search(rule, line) for line in lines)]
    why = [f"no line fits {rule!r}" for rule in missing] + [f"a line fits {rule!r}" for rule in unwanted]
    return score_of(not why, "; ".join(why) or "all lines are as expected")


def file_contains(result: Path, expected: Any) -> Score:
    """A file holds every expected text."""
    text = read_text(result)
    missing = [part for part in expected.expected if part not in text]
    return score_of(not missing, f"{result.name} lacks {missing}" if missing else f"{result.name} holds all texts")


def check_csv(result: Path, expected: CsvRules) -> Score:
    """A CSV file with a header line has every row of `expect`, and none of `unexpect`."""
    rows = list(csv.DictReader(read_text(result).splitlines()))
    missing = [wanted for wanted in expected.expect if not any(_fits(wanted, row) for row in rows)]
    unwanted = [rule for rule in expected.unexpect if any(_fits(rule, row) for row in rows)]
    why = [f"no row has {row}" for row in missing] + [f"a row has {row}" for row in unwanted]
    return score_of(not why, "; ".join(why) or f"{result.name} has the expected rows")


def compare_csv(result: Path, expected: Path, *, strict: bool = True) -> Score:
    """Two CSV files have the same fields; quotes around fields and line ends do not count."""
    found, wanted = (_table(path, strict) for path in (result, expected))
    place = next(
        (number for number, pair in enumerate(zip(found, wanted, strict=False), 1) if pair[0] != pair[1]), None
    )
    if place is not None:
        return Score(0.0, f"line {place} is {found[place - 1]}, expected {wanted[place - 1]}")
    return score_of(len(found) == len(wanted), f"{result.name} has {len(found)} lines, expected {len(wanted)}")


def check_json_settings(result: Path, expected: Any) -> Score:
    """A JSON file (comment lines allowed) is an object with the expected values; others do not count."""
    content = _json(result)
    wrong = [
        f"{key} is {content.get(key)!r}, expected {value!r}"
        for key, value in expected.expected.items()
        if key not in content or content[key] != value
    ]
    return score_of(not wrong, "; ".join(wrong) or f"{result.name} has the expected values")


def check_direct_json_object(result: Any, expected: DirectJson) -> Score:
    """A JSON object, as value or text, has the expected values."""
    content = _parsed(result) if isinstance(result, str) else result
    if not isinstance(content, Mapping):
        return Score(0.0, f"not a JSON object: {excerpt(str(result))}")
    wrong = [
        f"{key} is {content.get(key)!r}, expected {value!r}"
        for key, value in expected.expected.items()
        if not _same_or_in(value, content.get(key), expected.expect_in_result)
    ]
    return score_of(not wrong, "; ".join(wrong) or "all values are as expected")


def compare_pdfs(result: str, expected: str, *, ignore_blanks: bool = False, ignore_case: bool = False) -> Score:
    """The similarity of two texts of `pdf_text`, from 0 to 1."""
    if ignore_blanks:
        result, expected = " ".join(result.split()), " ".join(expected.split())
    if ignore_case:
        result, expected = result.casefold(), expected.casefold()
    return _similarity(result, expected, None)


def compare_archive(result: Path, expected: Path) -> Score:
    """Two archives (zip or tar) hold the same files with the same content; times and order do not count."""
    try:
        wanted = _members(expected)
    except WrongFormat as error:
        raise CheckFailed(f"the expected {error}") from error
    found = _members(result)
    differing = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    return score_of(not differing, f"the archives differ in {differing}" if differing else "the archives hold the same")


def check_archive(result: Path, expected: ArchiveRules) -> Score:
    """An archive (zip or tar) has a file for every pattern of `include`, and for none of `exclude`."""
    members = _members(result)
    why = [f"no file fits {rule}" for rule in expected.include if not any(fnmatchcase(name, rule) for name in members)]
    why += [f"a file fits {rule}" for rule in expected.exclude if any(fnmatchcase(name, rule) for name in members)]
    return score_of(not why, "; ".join(why) or f"{result.name} holds {sorted(members)}")


def check_directory(result: Sequence[str], expected: ExpectedList) -> Score:
    """`list_directory` found exactly these files and folders."""
    found, wanted = sorted(result), sorted(map(str, expected.expected))
    return score_of(found == wanted, f"found {found}, expected {wanted}")


def check_number(result: Any, expected: Any) -> Score:
    """The first number of a text, or a number, fits every rule."""
    number = re.search(r"-?\d+(?:\.\d+)?", str(result))
    if number is None:
        return Score(0.0, f"there is no number in {excerpt(str(result))}")
    value = float(number[0])
    wrong = [str(rule) for rule in expected.expected if not rule.holds(value)]
    return score_of(not wrong, f"{value:g} should be {', '.join(wrong)}" if wrong else f"{value:g} is as expected")


def _similarity(found: str, wanted: str, threshold: float | None) -> Score:
    from rapidfuzz.fuzz import ratio

    similarity = ratio(found, wanted) / 100
    value = similarity if threshold is None else float(similarity >= threshold)
    return Score(
        value, f"the texts have a similarity of {similarity:.3f}: {excerpt(found)}, expected {excerpt(wanted)}"
    )


def _search(rule: str, text: str) -> bool:
    try:
        return re.search(rule, text) is not None
    except re.error as error:
        raise CheckFailed(f"{rule!r} is not a regular expression: {error}") from error


def _fits(wanted: Mapping[str, str], row: Mapping[str, Any]) -> bool:
    return all(row.get(column) == value for column, value in wanted.items())


def _table(path: Path, strict: bool) -> list[list[str]]:
    rows = list(csv.reader(read_text(path).splitlines()))
    return rows if strict else [[field.strip().casefold() for field in row] for row in rows]


def _same_or_in(wanted: Any, found: Any, inside: bool) -> bool:
    if inside and isinstance(found, str | list):
        return all(part in found for part in wanted) if isinstance(wanted, list) else wanted in found
    return bool(found == wanted)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _json(path: Path) -> dict[str, Any]:
    text = re.sub(r"^\s*//.*$", "", read_text(path), flags=re.MULTILINE)
    content = _parsed(text)
    return content if isinstance(content, dict) else {}


def _members(path: Path) -> dict[str, str]:
    """Return a digest for each file of an archive."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
                return {name: sha256(archive.read(name)).hexdigest() for name in names}
        with tarfile.open(path) as tar:
            return {
                member.name.removeprefix("./"): sha256(file.read()).hexdigest()
                for member in tar
                if (file := tar.extractfile(member)) is not None
            }
    except (tarfile.TarError, zipfile.BadZipFile, OSError, RuntimeError, EOFError) as error:
        raise WrongFormat(f"{path.name} is not a zip or tar archive") from error


GETTERS: dict[str, Getter[Any]] = {
    "list_directory": Getter(FilePath, list_directory),
    "pdf_text": Getter(FileOnDesktop, pdf_text),
}


METRICS = by_name(
    Metric(literal_match, rules=Expected, options=LiteralOptions),
    Metric(is_in_list, rules=Expected),
    Metric(fuzzy_match, rules=Expected, options=FuzzyOptions),
    Metric(diff_text_file, options=FuzzyOptions),
    Metric(check_list, rules=ListRules),
    Metric(file_contains, rules=rules_of("Texts", expected=Annotated[tuple[str, ...], Field(min_length=1)])),
    Metric(check_csv, rules=CsvRules),
    Metric(compare_csv, options=rules_of("CsvOptions", strict=(bool, True))),
    Metric(check_json_settings, rules=rules_of("Values", expected=dict[str, Any])),
    Metric(check_direct_json_object, rules=DirectJson),
    Metric(compare_pdfs, options=TextOptions),
    Metric(compare_archive),
    Metric(check_archive, rules=ArchiveRules),
    Metric(check_directory, rules=ExpectedList),
    Metric(check_number, rules=rules_of("NumberRules", expected=Annotated[tuple[ValueRule, ...], Field(min_length=1)])),
)
