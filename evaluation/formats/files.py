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
from evaluation.state.getters import Getter, file_reading
from evaluation.state.metrics import (
    Expected,
    ExpectedList,
    ExpectUnexpect,
    IncludeExclude,
    Score,
    ValueRule,
    differing_values,
    expect_each,
    metrics_by_name,
    score_of,
    score_unless,
    without_differences,
)
from evaluation.state.parameters import Unused, by_name
from evaluation.state.reading import Reading, as_format, excerpt, read_text

Threshold = Annotated[float, Field(ge=0, le=1)] | None
"""Least similarity for a score of 1; None makes the similarity itself the score."""


def list_directory(context: TaskContext, *, path: str) -> Reading:
    """Files and folders (with `/` at the end) below a folder, in alphabetical order."""
    folder = context.path(path)
    if not folder.is_dir():
        return Reading(None, f"{context.shown(folder)} is not a folder")
    found = sorted(f"{entry.relative_to(folder)}{'/' if entry.is_dir() else ''}" for entry in folder.rglob("*"))
    return Reading(found, f"{context.shown(folder)} holds {excerpt(', '.join(found))}")


def pdf_text(context: TaskContext, *, path: str, dest: Unused = None) -> Reading:
    """Text of a PDF, as `pdftotext` (poppler-utils) reads it, with a form feed after each page."""
    found = file_reading(context.path(path), context)
    if found.value is None:
        return found
    if shutil.which("pdftotext", path=context.desktop.environment.get("PATH")) is None:
        raise CheckFailed("PDF files need pdftotext: sudo apt-get install -y poppler-utils")
    ended = context.run(["pdftotext", "-layout", str(found.value), "-"])
    shown = context.shown(found.value)
    if ended.returncode != 0:
        return Reading(None, f"{shown} is not a PDF: {excerpt(ended.stderr.strip())}")
    return Reading(ended.stdout, f"{shown}: {excerpt(ended.stdout)}")


GETTERS: dict[str, Getter] = by_name(list_directory, pdf_text)


class DirectJson(Expected[dict[str, Any]]):
    """Values by key; `expect_in_result`: whether a text or list need only hold the expected one."""

    expect_in_result: bool = False


def literal_match(
    result: Any, expected: Expected[Any], *, type: Literal["str", "list"] = "str", ignore_case: bool = False
) -> Score:
    """A text, or each text of a list, is the expected one."""
    found, wanted = result, expected.expected
    found, wanted = (list(map(str, value)) if type == "list" else [str(value)] for value in (found, wanted))
    same = [without_differences(part, False, ignore_case) for part in found] == [
        without_differences(part, False, ignore_case) for part in wanted
    ]
    return score_of(same, f"expected {wanted}, found {found}")


def is_in_list(result: Any, expected: Expected[Any]) -> Score:
    """The expected value is in a list, or the text in a text."""
    return score_of(expected.expected in result, f"expected {expected.expected!r} in {excerpt(str(result))}")


def fuzzy_match(result: str, expected: Expected[Any], *, threshold: Threshold = None) -> Score:
    """The similarity of two texts (edit distance), from 0 to 1."""
    return _similarity(result, str(expected.expected), threshold)


def diff_text_file(result: Path, expected: Path, *, threshold: Threshold = None) -> Score:
    """The similarity of the texts of two files, from 0 to 1."""
    return _similarity(read_text(result), read_text(expected), threshold)


def check_list(result: Path | str, expected: ExpectUnexpect[str]) -> Score:
    """Every expression of `expect` fits some line of a text or file, and none of `unexpect` does."""
    lines = (read_text(result) if isinstance(result, Path) else result).splitlines()

    def fits(rule: str) -> bool:
        try:
            return any(re.search(rule, line) for line in lines)
        except re.error as error:
            raise CheckFailed(f"{rule!r} is not a regular expression: {error}") from error

    problems = expect_each(expected.expect, expected.unexpect, fits, "no line fits", "a line fits")
    return score_unless(problems, "all lines are as expected")


def file_contains(result: Path, expected: ExpectedList[str]) -> Score:
    """A file holds every expected text."""
    text = read_text(result)
    missing = [part for part in expected.expected if part not in text]
    return score_of(not missing, f"{result.name} lacks {missing}" if missing else f"{result.name} holds all texts")


def check_csv(result: Path, expected: ExpectUnexpect[dict[str, str]]) -> Score:
    """A CSV file with a header line has a row with all values of each of `expect`, and none of `unexpect`."""
    rows = list(csv.DictReader(read_text(result).splitlines()))

    def is_there(wanted: dict[str, str]) -> bool:
        return any(all(row.get(column) == value for column, value in wanted.items()) for row in rows)

    problems = expect_each(expected.expect, expected.unexpect, is_there, "no row has", "a row has")
    return score_unless(problems, f"{result.name} has the expected rows")


def compare_csv(result: Path, expected: Path, *, strict: bool = True) -> Score:
    """Two CSV files have the same fields; quotes around fields and line ends do not count."""
    found, wanted = (_table(path, strict) for path in (result, expected))
    for number, (row, other) in enumerate(zip(found, wanted, strict=False), 1):
        if row != other:
            return Score(0.0, f"line {number} is {row}, expected {other}")
    return score_of(len(found) == len(wanted), f"{result.name} has {len(found)} lines, expected {len(wanted)}")


def check_json_settings(result: Path, expected: Expected[dict[str, Any]]) -> Score:
    """A JSON file (comment lines allowed) is an object with the expected values; others do not count."""
    content = _parsed(re.sub(r"^\s*//.*$", "", read_text(result), flags=re.MULTILINE))
    found = content if isinstance(content, dict) else {}
    return score_unless(differing_values(found, expected.expected), f"{result.name} has the expected values")


def check_direct_json_object(result: Any, expected: DirectJson) -> Score:
    """A JSON object, as value or text, has the expected values."""
    content = _parsed(result) if isinstance(result, str) else result
    if not isinstance(content, Mapping):
        return Score(0.0, f"not a JSON object: {excerpt(str(result))}")
    wrong = (
        f"{key} is {content.get(key)!r}, expected {value!r}"
        for key, value in expected.expected.items()
        if not _same_or_in(value, content.get(key), expected.expect_in_result)
    )
    return score_unless(wrong, "all values are as expected")


def compare_pdfs(result: str, expected: str, *, ignore_blanks: bool = False, ignore_case: bool = False) -> Score:
    """The similarity of two texts of `pdf_text`, from 0 to 1."""
    found, wanted = (without_differences(text, ignore_blanks, ignore_case) for text in (result, expected))
    return _similarity(found, wanted, None)


def compare_archive(result: Path, expected: Path) -> Score:
    """Two archives (zip or tar) hold the same files with the same content; times and order do not count."""
    wanted, found = _members(expected), _members(result)
    differing = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    return score_of(not differing, f"the archives differ in {differing}" if differing else "the archives hold the same")


def check_archive(result: Path, expected: IncludeExclude) -> Score:
    """An archive (zip or tar) has a file for every pattern (`*.txt`) of `include`, and for none of `exclude`."""
    members = _members(result)
    problems = expect_each(
        expected.include,
        expected.exclude,
        lambda pattern: any(fnmatchcase(name, pattern) for name in members),
        "no file fits",
        "a file fits",
    )
    return score_unless(problems, f"{result.name} holds {sorted(members)}")


def check_directory(result: Sequence[str], expected: ExpectedList[Any]) -> Score:
    """`list_directory` found exactly these files and folders."""
    found, wanted = sorted(result), sorted(map(str, expected.expected))
    return score_of(found == wanted, f"found {found}, expected {wanted}")


def check_number(result: Any, expected: ExpectedList[ValueRule]) -> Score:
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


def _members(path: Path) -> dict[str, str]:
    """Return a digest for each file of an archive."""
    errors = (tarfile.TarError, OSError, RuntimeError, EOFError)
    with as_format(path, "a zip or tar archive", *errors):
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


METRICS = metrics_by_name(
    literal_match,
    is_in_list,
    fuzzy_match,
    diff_text_file,
    check_list,
    file_contains,
    check_csv,
    compare_csv,
    check_json_settings,
    check_direct_json_object,
    compare_pdfs,
    compare_archive,
    check_archive,
    check_directory,
    check_number,
)
