"""Text documents (`*.docx`; texts of `*.odt` too): texts, fonts, tables, pictures, page breaks and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from evaluation.formats.open_document import odt_highlighted, odt_texts
from evaluation.state.metrics import ExpectedList, Metric, Score, score_of, score_unless
from evaluation.state.parameters import Parameters
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run


class ParagraphRule(Parameters):
    """A paragraph, by its number (blank ones left out) or a part of its text, and its format; None is not checked."""

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


def compare_docx_files(
    result: Path,
    expected: Path,
    *,
    ignore_blanks: bool = True,
    ignore_case: bool = False,
    ignore_order: bool = False,
    content_only: bool = False,
    fuzzy_match: bool = False,
    delete_empty_lines: bool = False,
) -> Score:
    """Two documents (both docx, or both odt) have the same paragraphs.

    Args:
        result: The document.
        expected: Another one.
        ignore_blanks: Whether runs of blanks, also between paragraphs, count as one blank.
        ignore_case: Whether capitals do not count.
        ignore_order: Whether the order of paragraphs does not count.
        content_only: Whether the similarity of the texts is the score, blanks ignored.
        fuzzy_match: Whether the similarity is the score, of the texts, or the mean of paragraphs with blanks.
        delete_empty_lines: Whether blank paragraphs do not count.
    """
    if result.suffix != expected.suffix:
        return Score(0.0, f"{result.name} and {expected.name} are of other kinds")
    wanted, found = (_paragraph_texts(path) for path in (expected, result))
    if ignore_case:
        found, wanted = [text.casefold() for text in found], [text.casefold() for text in wanted]
    if delete_empty_lines:
        found, wanted = ([text for text in texts if text.strip()] for texts in (found, wanted))
    if ignore_order:
        found, wanted = sorted(found), sorted(wanted)
    if ignore_blanks or content_only:
        found, wanted = [_joined(found)], [_joined(wanted)]
    if (content_only or fuzzy_match) and len(found) == len(wanted):
        similarity = mean_ratio(found, wanted)
        return Score(similarity, f"the texts have a similarity of {similarity:.3f}")
    return score_of(found == wanted, _first_difference(found, wanted))


def mean_ratio(found: list[str], wanted: list[str]) -> float:
    """Return the mean similarity of texts, one by one, from 0 to 1; 1 where there are none."""
    from rapidfuzz.fuzz import ratio

    ratios = [ratio(one, two) / 100 for one, two in zip(found, wanted, strict=True)]
    return sum(ratios) / len(ratios) if ratios else 1.0


def compare_docx_files_and_ignore_new_lines(result: Path, expected: Path, *, ignore_blanks: bool = True) -> Score:
    """Two documents have the same paragraphs; empty ones do not count."""
    wanted, found = ([text for text in _texts(document_of(path)) if text] for path in (expected, result))
    if ignore_blanks:
        found, wanted = [_joined(found)], [_joined(wanted)]
    return score_of(found == wanted, _first_difference(found, wanted))


def compare_init_lines(result: Path, expected: Path) -> Score:
    """Two documents have the same paragraphs as far as both have any."""
    wanted, found = _texts(document_of(expected)), _texts(document_of(result))
    both = min(len(found), len(wanted))
    return score_of(found[:both] == wanted[:both], _first_difference(found, wanted))


def compare_line_spacing(result: Path, expected: Path) -> Score:
    """Two documents have the same texts, and their paragraphs the same line spacing of their own."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    wanted, found = (
        [paragraph.paragraph_format.line_spacing for paragraph in document_of(path).paragraphs]
        for path in (expected, result)
    )
    return score_of(found == wanted, _first_difference(found, wanted))


def compare_font_names(result: Path, font_name: str) -> Score:
    """All text of a document has that font, directly or through its style."""
    fonts = {_run_font(run, paragraph, "name") for paragraph, run in _runs(document_of(result))}
    return score_of(fonts <= {font_name}, f"the fonts are {sorted(map(str, fonts))}")


def compare_subscript_contains(result: Path, expected: Path) -> Score:
    """Two documents have a subscript at the same place."""
    found = any(one.font.subscript and two.font.subscript for one, two in _run_pairs(result, expected))
    return score_of(found, f"{'a' if found else 'no'} subscript is where one is expected")


def compare_contains_image(result: Path, expected: Path) -> Score:
    """Two documents have pictures at the same places."""
    differing = any(_has_picture(one) != _has_picture(two) for one, two in _run_pairs(result, expected))
    return score_of(not differing, f"pictures are at {'other' if differing else 'the same'} places")


def evaluate_strike_through_last_paragraph(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and all of the last paragraph is struck through."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    paragraphs = document_of(result).paragraphs
    last = [run for run in paragraphs[-1].runs if run.text.strip()] if paragraphs else []
    struck = bool(last) and all(run.font.strike for run in last)
    return score_of(struck, f"the last paragraph is {'' if struck else 'not '}struck through")


def has_page_numbers_in_footers(result: Path) -> Score:
    """The footer of every section has a page number."""
    lacking = [number for number, one in enumerate(document_of(result).sections, 1) if not _numbered(one.footer)]
    return score_of(not lacking, f"no page number in the sections {lacking}" if lacking else "all pages are numbered")


def is_first_line_centered(result: Path) -> Score:
    """The first paragraph is centered."""
    paragraphs = document_of(result).paragraphs
    alignment = _alignment(paragraphs[0]) if paragraphs else "missing"
    return score_of(alignment == "center", f"the alignment of the first paragraph is {alignment}")


def contains_page_break(result: Path, page_break_count: Annotated[int, Field(ge=0)] | None = None) -> Score:
    """The paragraphs of a document have that number of page breaks, or at least one."""
    runs = [run for paragraph in document_of(result).paragraphs for run in paragraph.runs]
    count = sum(len(run._r.xpath(".//w:br[@w:type='page']")) for run in runs)
    return score_of(count > 0 and page_break_count in (None, count), f"there are {count} page breaks")


def check_highlighted_words(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and no word of the first is highlighted in yellow."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    highlighted = odt_highlighted(result) if result.suffix == ".odt" else _highlighted(document_of(result))
    return score_of(not highlighted, f"highlighted: {highlighted}")


def check_docx_paragraphs(result: Path, expected: ExpectedList[ParagraphRule]) -> Score:
    """Every rule holds for its paragraph."""
    document = document_of(result)
    problems = (problem for rule in expected.expected for problem in _paragraph_problems(rule, document))
    return score_unless(problems, "the paragraphs are as expected")


def _comparing(view: Callable[[Document], Any], what: str) -> Metric:
    """Return a metric that compares one view of two documents."""

    def judge(result: Path, expected: Path) -> Score:
        wanted, found = view(document_of(expected)), view(document_of(result))
        why = _first_difference(found, wanted) if isinstance(found, list) else f"{found!r}, expected {wanted!r}"
        return score_of(found == wanted, f"{what}: {why}")

    return Metric.of(judge)


def document_of(path: Path) -> Document:
    """Return a docx document.

    Raises:
        WrongFormat: The file is none.
    """
    from docx import Document
    from docx.opc.exceptions import PackageNotFoundError

    with as_format(path, "a docx document", PackageNotFoundError):
        return Document(str(path))


def _paragraph_texts(path: Path) -> list[str]:
    return odt_texts(path) if path.suffix == ".odt" else _texts(document_of(path))


def _run_pairs(result: Path, expected: Path) -> Iterator[tuple[Run, Run]]:
    """Yield the runs at the same place of two documents, as far as both have any."""
    wanted, found = document_of(expected), document_of(result)
    for one, two in zip(found.paragraphs, wanted.paragraphs, strict=False):
        yield from zip(one.runs, two.runs, strict=False)


def _has_picture(run: Run) -> bool:
    return bool(run._r.xpath(".//a:graphicData"))


def _highlighted(document: Document) -> list[str]:
    from docx.enum.text import WD_COLOR_INDEX

    return [run.text for _, run in _runs(document) if run.font.highlight_color == WD_COLOR_INDEX.YELLOW]


def _joined(texts: list[str]) -> str:
    return re.sub(r"\s+", " ", "\n".join(texts)).strip()


def _first_difference(found: list[Any], wanted: list[Any]) -> str:
    for number, (one, two) in enumerate(zip(found, wanted, strict=False), 1):
        if one != two:
            return f"part {number} is {str(one)[:200]!r}, expected {str(two)[:200]!r}"
    return f"{len(found)} parts, expected {len(wanted)}"


def _texts(document: Document) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def _pictures(document: Document) -> list[str]:
    blobs = (part.target_part.blob for part in document.part.rels.values() if part.reltype.endswith("/image"))
    return sorted(sha256(blob).hexdigest() for blob in blobs)


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
    wanted = rule.model_dump(exclude={"index", "contains"}, exclude_none=True)
    found = {name: _PARTS[name](paragraph) for name in wanted}
    return [
        f"{name} of {paragraph.text[:40]!r} is {found[name]!r}, expected {value!r}"
        for name, value in wanted.items()
        if found[name] != value
    ]


def _all_runs(read: Callable[[Run, Paragraph], Any]) -> Callable[[Paragraph], Any]:
    """Return a function that reads a property which all runs of a paragraph share, or the values that it has."""

    def read_all(paragraph: Paragraph) -> Any:
        values = {read(run, paragraph) for run in paragraph.runs if run.text.strip()}
        return values.pop() if len(values) == 1 else tuple(values)

    return read_all


def _font_flag(name: str) -> Callable[[Paragraph], Any]:
    return _all_runs(lambda run, paragraph: bool(_run_font(run, paragraph, name)))


def _size_pt(run: Run, paragraph: Paragraph) -> float | None:
    size = _run_font(run, paragraph, "size")
    return None if size is None else float(size.pt)


_PARTS: dict[str, Callable[[Paragraph], Any]] = {
    "text": lambda paragraph: paragraph.text,
    "style": lambda paragraph: None if paragraph.style is None else paragraph.style.name,
    "alignment": _alignment,
    "line_spacing": lambda paragraph: _effective(paragraph, "line_spacing"),
    "font_name": _all_runs(lambda run, paragraph: _run_font(run, paragraph, "name")),
    "font_size": _all_runs(_size_pt),
    "bold": _font_flag("bold"),
    "italic": _font_flag("italic"),
    "underline": _font_flag("underline"),
    "strike": _font_flag("strike"),
    "color": _all_runs(lambda run, _: None if run.font.color.rgb is None else str(run.font.color.rgb)),
}
"""Readers of the fields of `ParagraphRule`."""


METRICS = {
    "compare_docx_tables": _comparing(
        lambda found: [[[cell.text.strip() for cell in row.cells] for row in one.rows] for one in found.tables],
        "tables",
    ),
    "compare_docx_images": _comparing(_pictures, "pictures"),
}
