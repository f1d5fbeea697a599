"""PDF files: texts, pages and pictures, as the tools of poppler-utils read them."""

from __future__ import annotations

import operator
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from evaluation.errors import CheckFailed
from evaluation.formats.pictures import LIKE_HASH, hash_distance, load_picture, perceptual_hash
from evaluation.state.context import TaskContext
from evaluation.state.getters import file_reading
from evaluation.state.metrics import Expected, Score, score_of, score_unless, without_differences
from evaluation.state.parameters import Parameters, Unused
from evaluation.state.reading import Reading, WrongFormat, excerpt

LIMIT_S = 60.0


class Requirements(Parameters):
    """The whole text, blanks left out; the largest number of pages; and the margin below the first page's text, pt."""

    text: str
    max_pages: int
    max_margin: float


def pdf_text(context: TaskContext, *, path: str, dest: Unused = None) -> Reading:
    """Text of a PDF, with a form feed after each page."""
    found = file_reading(context.path(path), context)
    if found.value is None:
        return found
    try:
        text = pdf_text_of(found.value, "-layout")
    except WrongFormat as problem:
        return Reading(None, str(problem))
    return Reading(text, f"{context.shown(found.value)}: {excerpt(text)}")


def compare_pdfs(
    result: Path | str | list[Path],
    expected: Path | str | list[Path],
    *,
    ignore_blanks: bool = False,
    ignore_case: bool = False,
) -> Score:
    """The similarity of the texts of two PDF files, from 0 to 1; the mean where there are several of each."""
    from rapidfuzz.fuzz import ratio

    if isinstance(expected, list):
        pairs = zip(result if isinstance(result, list) else [result], expected, strict=False)
        scores = [compare_pdfs(one, two, ignore_blanks=ignore_blanks, ignore_case=ignore_case) for one, two in pairs]
        return Score(sum(score.value for score in scores) / len(expected), "; ".join(score.why for score in scores))
    texts = [_lines(pdf_text_of(path)) if isinstance(path, Path) else str(path) for path in (result, expected)]
    found, wanted = (without_differences(text, ignore_blanks, ignore_case) for text in texts)
    similarity = ratio(found, wanted) / 100
    return Score(similarity, f"the texts have a similarity of {similarity:.3f}: {excerpt(found)}")


def check_pdf_pages(result: Path, relation: Literal["eq", "ne", "lt", "le", "gt", "ge"], ref_value: int) -> Score:
    """The number of pages is as expected."""
    pages = page_count(result)
    holds = getattr(operator, relation)(pages, ref_value)
    return score_of(holds, f"{result.name} has {pages} pages, expected {relation} {ref_value}")


def compare_pdf_images(result: Path, expected: Path) -> Score:
    """The part of the pictures in two PDF files that look alike, in order; 0 for other numbers of pictures."""
    found, wanted = _hashes(result), _hashes(expected)
    if len(found) != len(wanted):
        return Score(0.0, f"{result.name} has {len(found)} pictures, expected {len(wanted)}")
    alike = sum(hash_distance(one, two) <= LIKE_HASH for one, two in zip(found, wanted, strict=True))
    return Score(alike / len(found) if found else 1.0, f"{alike} of {len(found)} pictures look alike")


def check_pdf_requirements(result: Path, expected: Expected[Requirements]) -> Score:
    """A file has exactly the expected text, few enough pages, and a small enough margin below its first page."""
    wanted = expected.expected
    text, margin, pages = re.sub(r"\s", "", pdf_text_of(result)), _margin(result), page_count(result)
    problems = [
        problem
        for holds, problem in (
            (text == re.sub(r"\s", "", wanted.text), f"the text is {excerpt(text)}"),
            (pages <= wanted.max_pages, f"there are {pages} pages, expected at most {wanted.max_pages}"),
            (margin <= wanted.max_margin, f"the margin is {margin:g} pt, expected at most {wanted.max_margin:g}"),
        )
        if not holds
    ]
    return score_unless(problems, f"{result.name} is as required")


def pdf_text_of(path: Path, *options: str) -> str:
    """Return the text of a PDF.

    Raises:
        WrongFormat: The file is none.
        CheckFailed: poppler-utils is missing.
    """
    return _poppler(path, "pdftotext", *options, str(path), "-")


def page_count(path: Path) -> int:
    """Return the number of pages; errors as for `pdf_text_of`."""
    found = re.search(r"^Pages:\s*(\d+)", _poppler(path, "pdfinfo", str(path)), re.MULTILINE)
    return int(found[1]) if found else 0


def _lines(text: str) -> str:
    """Return a text without blank lines and marks of pages."""
    return re.sub(r"\s*\n\s*", "\n", text.replace("\f", "\n")).strip()


def _poppler(path: Path, *argv: str) -> str:
    if shutil.which(argv[0]) is None:
        raise CheckFailed(f"PDF files need {argv[0]}: sudo apt-get install -y poppler-utils")
    try:
        ended = subprocess.run(argv, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise CheckFailed(f"{argv[0]} did not end within {LIMIT_S:g} s") from error
    if ended.returncode != 0:
        raise WrongFormat(path, "a PDF")
    return ended.stdout.decode("utf-8", errors="replace")


def _margin(path: Path) -> float:
    """Return the space below the lowest block of the first page, pt."""
    boxes = _poppler(path, "pdftotext", "-bbox-layout", "-l", "1", str(path), "-")
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", boxes))
    page = next(node for node in root.iter() if node.tag.endswith("page"))
    blocks = [float(node.attrib["yMax"]) for node in page.iter() if node.tag.endswith("block")]
    return round(float(page.attrib["height"]) - max(blocks), 2) if blocks else float("inf")


def _hashes(path: Path) -> list[int]:
    with TemporaryDirectory(prefix="agent-s-pdf-") as folder:
        _poppler(path, "pdfimages", "-png", str(path), f"{folder}/picture")
        return [perceptual_hash(load_picture(one)) for one in sorted(Path(folder).iterdir())]
