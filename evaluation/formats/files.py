"""Texts, JSON, CSV, pages, books, databases and folders: files compared, as OSWorld's general metrics do."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from datetime import datetime
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

from evaluation.errors import CheckFailed
from evaluation.formats.values import Threshold
from evaluation.state.context import TaskContext
from evaluation.state.downloads import digest
from evaluation.state.metrics import (
    Expected,
    ExpectedList,
    ExpectUnexpect,
    Score,
    differing_values,
    expect_each,
    score_of,
    score_unless,
)
from evaluation.state.reading import Reading, as_format, excerpt, read_text

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)")


def list_directory(context: TaskContext, *, path: str) -> Reading:
    """Files and folders (with `/` at the end) below a folder, in alphabetical order."""
    folder = context.path(path)
    if not folder.is_dir():
        return Reading(None, f"{context.shown(folder)} is not a folder")
    found = sorted(f"{entry.relative_to(folder)}{'/' if entry.is_dir() else ''}" for entry in folder.rglob("*"))
    return Reading(found, f"{context.shown(folder)} holds {excerpt(', '.join(found))}")


def diff_text_file(result: Path, expected: Path, *, threshold: Threshold = None) -> Score:
    """The similarity of the lines of two files, from 0 to 1."""
    similarity = lines_alike(read_text(result), read_text(expected))
    value = similarity if threshold is None else float(similarity >= threshold)
    return Score(value, f"the lines of {result.name} have a similarity of {similarity:.3f}")


def lines_alike(one: str, two: str) -> float:
    """Return twice the number of equal lines by that of all lines, from 0 to 1, as `difflib` matches them."""
    return SequenceMatcher(a=one.splitlines(), b=two.splitlines()).ratio()


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


def compare_csv(result: Path, expected: Path | list[Path], *, strict: bool = True, ignore_case: bool = False) -> Score:
    """The lines of a file are those of an expected one; blanks around them count if `strict`."""

    def lines(path: Path) -> list[str]:
        text = read_text(path).casefold() if ignore_case else read_text(path)
        return text.splitlines() if strict else [line.strip() for line in text.splitlines()]

    found = lines(result)
    for one in expected if isinstance(expected, list) else [expected]:
        if (wanted := lines(one)) == found:
            return Score(1.0, f"{result.name} has the lines of {one.name}")
    pairs = zip_longest(found, wanted)
    number, (line, other) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return Score(0.0, f"line {number} is {line!r}, expected {other!r}")


def check_json_settings(result: Path, expected: Expected[dict[str, Any]]) -> Score:
    """A JSON file (comment lines allowed) is an object with the expected values; others do not count."""
    content = _without_comments(result)
    if content is None:
        return Score(0.0, f"{result.name} is not JSON")
    found = content if isinstance(content, dict) else {}
    return score_unless(differing_values(found, expected.expected), f"{result.name} has the expected values")


def check_json_keybindings(result: Path, expected: Expected[dict[str, Any]]) -> Score:
    """A JSON file (comment lines allowed) is a list that has the expected entry."""
    content = _without_comments(result)
    found = isinstance(content, list) and expected.expected in content
    return score_of(found, f"{result.name} {'has' if found else 'lacks'} {expected.expected}")


def compare_config(result: Path, expected: Expected[str]) -> Score:
    """A file holds exactly the expected text."""
    found = read_text(result)
    return score_of(found == expected.expected, f"{result.name} holds {excerpt(found)}")


def compare_files_exactly(result: Path, expected: Path) -> Score:
    """Two files hold the same bytes."""
    same = digest(result) == digest(expected)
    return score_of(same, f"{result.name} {'is' if same else 'is not'} the expected file")


def compare_folders_exactly(result: Path, expected: Path) -> Score:
    """Two folders hold the same files with the same bytes, and the same folders."""
    found, wanted = _tree(result), _tree(expected)
    differing = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    return score_of(not differing, f"the folders differ in {differing}" if differing else "the folders hold the same")


def check_line_number(result: Path, expected: Expected[int | str]) -> Score:
    """So many lines of a file hold a time with seconds."""
    count = sum(_TIME.search(line) is not None for line in read_text(result).splitlines())
    return score_of(count == int(expected.expected), f"{count} lines hold a time, expected {expected.expected}")


def compare_python_pure_text(result: Path, expected: Path) -> Score:
    """Two Python files have the same lines, but for blanks at their ends, blank lines and first ones for the system."""
    found, wanted = (_python_lines(read_text(path)) for path in (result, expected))
    return score_of(found == wanted, f"{result.name} {'has' if found == wanted else 'has not'} the expected lines")


def compare_result_files(result: Path, expected: Path) -> Score:
    """A file holds the expected number, or one that differs by less than 0.0001; or the same text where it is none."""
    found, wanted = read_text(result).strip(), read_text(expected).strip()
    try:
        same = abs(float(wanted) - float(found)) < 1e-4 if wanted not in found else bool(float(wanted)) or True
    except ValueError:
        same = found == wanted
    return score_of(same, f"{result.name} holds {excerpt(found)}, expected {excerpt(wanted)}")


def compare_time_in_speedtest_results(result: Path, expected: int) -> Score:
    """The second field of the second line of a CSV file ends with a time less than `expected` minutes away."""
    fields = (read_text(result).splitlines() or [""])[1:2]
    written = (fields[0].split(",")[1:2] or [""])[0][-5:] if fields else ""
    try:
        time = datetime.strptime(written, "%H:%M")  # noqa: DTZ007 - a time of day
    except ValueError:
        return Score(0.0, f"{result.name} has no time of day in its second line")
    now = datetime.now().astimezone()
    minutes = abs(time.hour * 60 + time.minute - now.hour * 60 - now.minute)
    return score_of(minutes < expected, f"the time is {minutes} minutes away, expected less than {expected}")


def run_sqlite3(result: Path, sql: str) -> Score:
    """The first value that a query finds in a database, which is only read."""
    try:
        with closing(sqlite3.connect(f"{result.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.set_authorizer(_only_reading)
            row = database.execute(sql).fetchone()
    except sqlite3.Error as error:
        raise CheckFailed(f"{result.name} cannot be asked {excerpt(sql)}: {error}") from error
    value = float(row[0] or 0) if row else 0.0
    return Score(value, f"{sql} gives {value:g}")


def compare_htmls(result: Path, expected: Path, *, ignore_sdnum: bool = False) -> Score:
    """Two pages have the same elements, in order, with the same texts and attributes."""
    found, wanted = (_elements(path, ignore_sdnum) for path in (result, expected))
    number = next((n for n, (one, two) in enumerate(zip(found, wanted, strict=False), 1) if one != two), None)
    return score_of(number is None, f"part {number} of {result.name} differs" if number else "the pages are the same")


def check_html_background_image(result: Path, value: str) -> Score:
    """A style of a page has a background image of that address."""
    text = read_text(result)
    styles = re.findall(r"<style\b[^>]*>(.*?)</style>", text, re.DOTALL | re.IGNORECASE)
    found = any(f"background-image: url('{value}')" in style for style in styles)
    return score_of(found, f"the background image is {'' if found else 'not '}{value}")


def compare_epub(result: Path, expected: Path) -> Score:
    """The mean similarity of the lines of the contents, pages and metadata of two books."""
    found, wanted = _book(result), _book(expected)
    pairs = list(zip(found, wanted, strict=False))
    mean = sum(lines_alike(found[one], wanted[two]) for one, two in pairs) / max(len(found), 1)
    return Score(mean, f"the mean similarity of {len(found)} parts is {mean:.3f}")


def check_python_file_by_test_suite(
    context: TaskContext, result: Path | list[Path], expected: Path, *, test_function_name: str = "test"
) -> Score:
    """A function of the expected file says whether the result is right; it runs among the desktop's applications."""
    folder = context.cached("suite")
    folder.mkdir(exist_ok=True)
    for path in (*(result if isinstance(result, list) else [result]), expected):
        shutil.copyfile(path, folder / path.name)
    script = "import runpy, sys; print(float(runpy.run_path(sys.argv[1])[sys.argv[2]]()))"
    argv = context.command(["python3", "-c", script, expected.name, test_function_name])
    ended = context.run(["env", "-C", str(folder), *argv])
    lines = ended.stdout.split()
    if ended.returncode != 0 or not lines:
        return Score(0.0, f"the test broke: {excerpt(ended.stderr.strip()[-200:])}")
    return Score(min(1.0, max(0.0, float(lines[-1]))), f"the test gives {lines[-1]}")


def _without_comments(path: Path) -> Any:
    try:
        return json.loads(re.sub(r"^\s*//.*$", "", read_text(path), flags=re.MULTILINE))
    except json.JSONDecodeError:
        return None


def _tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): digest(path) if path.is_file() else "" for path in folder.rglob("*")}


def _python_lines(text: str) -> list[str]:
    lines = text.splitlines()
    while lines and lines[0].strip().startswith(("#!", "# -*- coding:", "# coding:", "# coding=")):
        lines = lines[1:]
    return [line.expandtabs(4).rstrip() for line in lines if line.strip()]


def _only_reading(action: int, *_: Any) -> int:
    reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if action in reading else sqlite3.SQLITE_DENY


def _elements(path: Path, ignore_sdnum: bool) -> list[Any]:
    """Return the elements of a page with their texts and attributes, and the texts between them, in order."""
    from lxml import etree, html

    with as_format(path, "an HTML page", etree.ParserError):
        root = html.fromstring(read_text(path) or "<html/>")
    parts: list[Any] = []
    for node in root.iter():
        named = isinstance(node.tag, str)
        attributes = {k: v for k, v in node.attrib.items() if k != "sdnum" or not ignore_sdnum} if named else {}
        parts.append((node.tag if named else "comment", "".join(node.itertext()).strip(), attributes))
    return parts


def _book(path: Path) -> dict[str, str]:
    """Return the texts of a book's parts by name, sorted; what identifies the file itself is left out."""
    from lxml import html

    unread = {"toc.ncx": "navPoint", "content.opf": "dc:identifier"}
    parts = {}
    with as_format(path, "an epub book"), zipfile.ZipFile(path) as book:
        for name in sorted(book.namelist()):
            text = book.read(name).decode("utf-8", errors="replace") if name in unread or name.endswith(".html") else ""
            if name in unread:
                parts[name] = "\n".join(line for line in text.splitlines() if unread[name] not in line)
            elif name.endswith(".html"):
                root = html.fromstring(re.sub(r"[\r\n]", "", text).encode())
                parts[name] = html.tostring(root, pretty_print=True, encoding="unicode")
    return parts
