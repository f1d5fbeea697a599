"""Text documents (`*.docx`), with python-docx: texts, fonts, alignment, tables, pictures, page breaks and numbers.

A result that is no document scores 0; an expected one that is none is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.osworld.getters import Parameters
from evaluation.osworld.metrics import Score, metric, score_of

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

T = TypeVar("T")


class DocumentOptions(Parameters):
    """How texts of documents are compared; `content_only` scores how alike they are."""

    ignore_blanks: bool = True
    ignore_case: bool = False
    ignore_order: bool = False
    content_only: bool = False


class DocumentFont(Parameters):
    """Name of a font."""

    font_name: str


class PageBreaks(Parameters):
    """How many page breaks there must be; None for any number but 0."""

    page_break_count: Annotated[int, Field(ge=0)] | None = None


class ParagraphRule(Parameters):
    """A paragraph, by its number (blank ones left out) or a part of its text, and its format; None does not count."""

    index: int | None = None
    contains: str = ""
    text: str | None = None
    style: str | None = None
    alignment: Literal["left", "center", "right", "justify"] | None = None
    line_spacing: float | None = None
    font_name: str | None = None
    font_size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    strike: bool | None = None
    color: Annotated[str, Field(pattern="^[0-9A-F]{6}$")] | None = None


class ParagraphRules(Parameters):
    """Rules for paragraphs; all must hold."""

    expected: Annotated[tuple[ParagraphRule, ...], Field(min_length=1)]


@metric(options=DocumentOptions)
def compare_docx_files(
    result: Path,
    expected: Path,
    *,
    ignore_blanks: bool = True,
    ignore_case: bool = False,
    ignore_order: bool = False,
    content_only: bool = False,
) -> Score:
    """Two documents have the same paragraphs; the options are those of `DocumentOptions`."""
    seen = _both(result, expected, _texts)
    if seen is None:
        return _no_document(result)
    texts, other = seen
    if ignore_case:
        texts, other = [text.casefold() for text in texts], [text.casefold() for text in other]
    if ignore_order:
        texts, other = sorted(texts), sorted(other)
    if content_only:
        from rapidfuzz.fuzz import ratio

        likeness = ratio(_joined(texts), _joined(other)) / 100
        return Score(likeness, f"the texts are alike to {likeness:.3f}")
    if ignore_blanks:
        return score_of(_joined(texts) == _joined(other), _first_difference([_joined(texts)], [_joined(other)]))
    return score_of(texts == other, _first_difference(texts, other))


@metric()
def compare_init_lines(result: Path, expected: Path) -> Score:
    """The document begins with the paragraphs of the expected one."""
    seen = _both(result, expected, _texts)
    if seen is None:
        return _no_document(result)
    texts, other = seen
    return score_of(texts[: len(other)] == other, _first_difference(texts[: len(other)], other))


@metric()
def compare_docx_tables(result: Path, expected: Path) -> Score:
    """Two documents have the same tables; blanks around the text of a cell do not count."""
    seen = _both(result, expected, _tables)
    if seen is None:
        return _no_document(result)
    tables, other = seen
    return score_of(tables == other, f"the tables are {tables}, expected {other}")


@metric()
def compare_docx_images(result: Path, expected: Path) -> Score:
    """Two documents hold the same pictures, in any order."""
    seen = _both(result, expected, _pictures)
    if seen is None:
        return _no_document(result)
    pictures, other = seen
    return score_of(
        pictures == other, f"{len(pictures)} pictures, expected {len(other)}; the same: {pictures == other}"
    )


@metric()
def compare_contains_image(result: Path, expected: Path) -> Score:
    """The same paragraphs hold pictures."""
    seen = _both(result, expected, _picture_places)
    if seen is None:
        return _no_document(result)
    places, other = seen
    return score_of(places == other, f"pictures in the paragraphs {places}, expected {other}")


@metric()
def compare_line_spacing(result: Path, expected: Path) -> Score:
    """Two documents have the same text and the same line spacing in each paragraph."""
    seen = _both(result, expected, _spaced_lines)
    if seen is None:
        return _no_document(result)
    lines, other = seen
    return score_of(lines == other, _first_difference(lines, other))


@metric(rules=DocumentFont)
def compare_font_names(result: Path, expected: DocumentFont) -> Score:
    """All text of a document has that font, by itself or by its style."""
    found = _document(result)
    if found is None:
        return _no_document(result)
    fonts = {_run_font(run, paragraph, "name") for paragraph, run in _runs(found)}
    return score_of(fonts == {expected.font_name}, f"the fonts are {sorted(map(str, fonts))}")


@metric()
def compare_subscript_contains(result: Path, expected: Path) -> Score:
    """The same texts are set as subscript, and there are some."""
    seen = _both(result, expected, _subscripts)
    if seen is None:
        return _no_document(result)
    low, other = seen
    return score_of(bool(low) and "".join(low) == "".join(other), f"subscripts are {low}, expected {other}")


@metric()
def check_highlighted_words(result: Path, expected: Path) -> Score:
    """The same words are highlighted."""
    seen = _both(result, expected, _highlighted)
    if seen is None:
        return _no_document(result)
    words, other = seen
    return score_of(words == other, f"highlighted is {words!r}, expected {other!r}")


@metric()
def evaluate_strike_through_last_paragraph(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and all of the last paragraph is struck through."""
    same = compare_docx_files(result, expected)
    found = _document(result)
    if found is None or same.value < 1:
        return same
    last = [run for run in found.paragraphs[-1].runs if run.text.strip()] if found.paragraphs else []
    struck = bool(last) and all(run.font.strike for run in last)
    return score_of(struck, f"the last paragraph is {'' if struck else 'not '}struck through")


@metric()
def has_page_numbers_in_footers(result: Path, expected: None = None) -> Score:
    """The footer of every section has a page number."""
    found = _document(result)
    if found is None:
        return _no_document(result)
    lacking = [number for number, section in enumerate(found.sections, 1) if not _numbered(section.footer)]
    return score_of(not lacking, f"no page number in the sections {lacking}" if lacking else "all pages are numbered")


@metric()
def is_first_line_centered(result: Path, expected: None = None) -> Score:
    """The first paragraph is centered."""
    found = _document(result)
    if found is None or not found.paragraphs:
        return _no_document(result)
    alignment = _alignment(found.paragraphs[0])
    return score_of(alignment == "center", f"the first paragraph is aligned {alignment}")


@metric(rules=PageBreaks)
def contains_page_break(result: Path, expected: PageBreaks) -> Score:
    """A document has as many page breaks as expected, or at least one."""
    found = _document(result)
    if found is None:
        return _no_document(result)
    count = len(found.element.body.xpath(".//w:br[@w:type='page']"))
    wanted = expected.page_break_count
    return score_of(count > 0 if wanted is None else count == wanted, f"there are {count} page breaks")


@metric(rules=ParagraphRules)
def check_docx_paragraphs(result: Path, expected: ParagraphRules) -> Score:
    """Every rule holds for the paragraph it is about."""
    found = _document(result)
    if found is None:
        return _no_document(result)
    wrong = [problem for rule in expected.expected for problem in _paragraph_problems(rule, found)]
    return score_of(not wrong, "; ".join(wrong) or "the paragraphs are as expected")


def _document(path: Path) -> Document | None:
    try:
        from docx import Document
    except ImportError as error:
        raise CheckFailed("documents need python-docx: pip install 'agent-s[eval]'") from error
    from zipfile import BadZipFile

    from docx.opc.exceptions import PackageNotFoundError

    try:
        return Document(str(path))
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError):
        return None


def _both(result: Path, expected: Path, view: Callable[[Document], T]) -> tuple[T, T] | None:
    """Return what is looked at in both documents; None where the result is none."""
    wanted = _document(expected)
    if wanted is None:
        raise CheckFailed(f"the expected {expected.name} is not a docx document")
    found = _document(result)
    return None if found is None else (view(found), view(wanted))


def _no_document(path: Path) -> Score:
    return Score(0.0, f"{path.name} is not a docx document with text")


def _joined(texts: list[str]) -> str:
    return re.sub(r"\s+", " ", "\n".join(texts)).strip()


def _first_difference(found: list[Any], wanted: list[Any]) -> str:
    for number, (one, two) in enumerate(zip(found, wanted, strict=False), 1):
        if one != two:
            return f"part {number} is {str(one)[:200]!r}, expected {str(two)[:200]!r}"
    return f"{len(found)} parts, expected {len(wanted)}"


def _texts(document: Document) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def _tables(document: Document) -> list[list[list[str]]]:
    return [[[cell.text.strip() for cell in row.cells] for row in table.rows] for table in document.tables]


def _pictures(document: Document) -> list[int]:
    blobs = (part.target_part.blob for part in document.part.rels.values() if part.reltype.endswith("/image"))
    return sorted(map(hash, blobs))


def _picture_places(document: Document) -> list[int]:
    return [number for number, one in enumerate(document.paragraphs) if one._p.xpath(".//a:graphicData")]


def _spaced_lines(document: Document) -> list[tuple[str, Any]]:
    return [(paragraph.text, _effective(paragraph, "line_spacing")) for paragraph in document.paragraphs]


def _subscripts(document: Document) -> list[str]:
    return [run.text for _, run in _runs(document) if run.font.subscript]


def _highlighted(document: Document) -> str:
    return "".join(run.text for _, run in _runs(document) if run.font.highlight_color is not None)


def _runs(document: Document) -> Iterator[tuple[Paragraph, Run]]:
    for paragraph in document.paragraphs:
        for run in paragraph.runs:
            if run.text.strip():
                yield paragraph, run


def _numbered(footer: Any) -> bool:
    fields = footer._element.xpath(".//w:instrText | .//w:fldSimple/@w:instr")
    named = " ".join(str(getattr(field, "text", field) or field) for field in fields)
    return "PAGE" in named or any(re.search(r"\d", paragraph.text) for paragraph in footer.paragraphs)


def _styles(paragraph: Paragraph) -> Iterator[Any]:
    style: Any = paragraph.style
    while style is not None:
        yield style
        style = style.base_style


def _run_font(run: Run, paragraph: Paragraph, name: str) -> Any:
    """Return a property of the font: of the run, its style, or the styles of the paragraph."""
    for owner in (run, run.style, *_styles(paragraph)):
        value = getattr(owner.font, name, None) if owner is not None else None
        if value is not None:
            return value
    return None


def _effective(paragraph: Paragraph, name: str) -> Any:
    for owner in (paragraph, *_styles(paragraph)):
        value = getattr(owner.paragraph_format, name)
        if value is not None:
            return value
    return None


def _alignment(paragraph: Paragraph) -> str:
    value = _effective(paragraph, "alignment")
    return {0: "left", 1: "center", 2: "right", 3: "justify"}.get(0 if value is None else int(value), "other")


def _paragraph_problems(rule: ParagraphRule, document: Document) -> list[str]:
    paragraphs = [one for one in document.paragraphs if one.text.strip() and rule.contains in one.text]
    index = rule.index or 0
    if not -len(paragraphs) <= index < len(paragraphs):
        return [f"there is no paragraph {rule.contains or index!r}"]
    paragraph = paragraphs[index]
    problems = []
    for name in _PARAGRAPH_PARTS:
        wanted = getattr(rule, name)
        found = None if wanted is None else _part(paragraph, name)
        if wanted is not None and found != wanted:
            problems.append(f"{name} of {paragraph.text[:40]!r} is {found!r}, expected {wanted!r}")
    return problems


_PARAGRAPH_PARTS = tuple(name for name in ParagraphRule.model_fields if name not in ("index", "contains"))


def _part(paragraph: Paragraph, name: str) -> Any:
    match name:
        case "text":
            return paragraph.text
        case "style":
            return paragraph.style.name if paragraph.style is not None else None
        case "alignment":
            return _alignment(paragraph)
        case "line_spacing":
            return _effective(paragraph, "line_spacing")
    values = {_font_part(run, paragraph, name) for run in paragraph.runs if run.text.strip()}
    return values.pop() if len(values) == 1 else tuple(values)


def _font_part(run: Run, paragraph: Paragraph, name: str) -> Any:
    if name == "color":
        color = run.font.color.rgb
        return None if color is None else str(color)
    value = _run_font(run, paragraph, {"font_name": "name", "font_size": "size"}.get(name, name))
    if name == "font_size":
        return None if value is None else value.pt
    return value if name == "font_name" else bool(value)
