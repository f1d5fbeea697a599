"""Text documents (`*.docx`), with python-docx: texts, fonts, alignment, tables, pictures, page breaks and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.getters import Parameters
from evaluation.state.metrics import Metric, Score, WrongFormat, by_name, rules_of, score_of

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

T = TypeVar("T")


class DocumentOptions(Parameters):
    """Options of `compare_docx_files`; `content_only` makes the similarity of the texts the score."""

    ignore_blanks: bool = True
    ignore_case: bool = False
    ignore_order: bool = False
    content_only: bool = False


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
) -> Score:
    """Two documents have the same paragraphs; the options are those of `DocumentOptions`."""
    texts, other = _both(result, expected, _texts)
    if ignore_case:
        texts, other = [text.casefold() for text in texts], [text.casefold() for text in other]
    if ignore_order:
        texts, other = sorted(texts), sorted(other)
    if content_only:
        from rapidfuzz.fuzz import ratio

        similarity = ratio(_joined(texts), _joined(other)) / 100
        return Score(similarity, f"the texts have a similarity of {similarity:.3f}")
    if ignore_blanks:
        texts, other = [_joined(texts)], [_joined(other)]
    return score_of(texts == other, _first_difference(texts, other))


def compare_init_lines(result: Path, expected: Path) -> Score:
    """The document begins with the paragraphs of the expected one."""
    texts, other = _both(result, expected, _texts)
    return score_of(texts[: len(other)] == other, _first_difference(texts[: len(other)], other))


def compare_font_names(result: Path, expected: Any) -> Score:
    """All text of a document has that font, directly or through its style."""
    fonts = {_run_font(run, paragraph, "name") for paragraph, run in _runs(_document(result))}
    return score_of(fonts == {expected.font_name}, f"the fonts are {sorted(map(str, fonts))}")


def compare_subscript_contains(result: Path, expected: Path) -> Score:
    """The same texts are set as subscript, and there are some."""
    low, other = _both(result, expected, _subscripts)
    return score_of(bool(low) and "".join(low) == "".join(other), f"subscripts are {low}, expected {other}")


def evaluate_strike_through_last_paragraph(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and all of the last paragraph is struck through."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    paragraphs = _document(result).paragraphs
    last = [run for run in paragraphs[-1].runs if run.text.strip()] if paragraphs else []
    struck = bool(last) and all(run.font.strike for run in last)
    return score_of(struck, f"the last paragraph is {'' if struck else 'not '}struck through")


def has_page_numbers_in_footers(result: Path, expected: None = None) -> Score:
    """The footer of every section has a page number."""
    lacking = [number for number, one in enumerate(_document(result).sections, 1) if not _numbered(one.footer)]
    return score_of(not lacking, f"no page number in the sections {lacking}" if lacking else "all pages are numbered")


def is_first_line_centered(result: Path, expected: None = None) -> Score:
    """The first paragraph is centered."""
    paragraphs = _document(result).paragraphs
    alignment = _alignment(paragraphs[0]) if paragraphs else "missing"
    return score_of(alignment == "center", f"the alignment of the first paragraph is {alignment}")


def contains_page_break(result: Path, expected: Any) -> Score:
    """A document has as many page breaks as expected, or at least one."""
    count = len(_document(result).element.body.xpath(".//w:br[@w:type='page']"))
    wanted = expected.page_break_count
    return score_of(count > 0 if wanted is None else count == wanted, f"there are {count} page breaks")


def check_docx_paragraphs(result: Path, expected: Any) -> Score:
    """Every rule holds for its paragraph."""
    found = _document(result)
    wrong = [problem for rule in expected.expected for problem in _paragraph_problems(rule, found)]
    return score_of(not wrong, "; ".join(wrong) or "the paragraphs are as expected")


def _comparing(view: Callable[[Document], Any], what: str) -> Metric:
    """Return a metric that compares one view of two documents."""

    def judge(result: Path, expected: Path) -> Score:
        found, wanted = _both(result, expected, view)
        why = _first_difference(found, wanted) if isinstance(found, list) else f"{found!r}, expected {wanted!r}"
        return score_of(found == wanted, f"{what}: {why}")

    return Metric(judge)


def _document(path: Path) -> Document:
    try:
        from docx import Document
    except ImportError as error:
        raise CheckFailed("documents need python-docx: pip install 'agent-s[eval]'") from error
    from zipfile import BadZipFile

    from docx.opc.exceptions import PackageNotFoundError

    try:
        return Document(str(path))
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError) as error:
        raise WrongFormat(f"{path.name} is not a docx document") from error


def _both(result: Path, expected: Path, view: Callable[[Document], T]) -> tuple[T, T]:
    """Return a view of both documents."""
    try:
        wanted = _document(expected)
    except WrongFormat as error:
        raise CheckFailed(f"the expected {expected.name} is not a docx document") from error
    return view(_document(result)), view(wanted)


def _joined(texts: list[str]) -> str:
    return re.sub(r"\s+", " ", "\n".join(texts)).strip()


def _first_difference(found: list[Any], wanted: list[Any]) -> str:
    for number, (one, two) in enumerate(zip(found, wanted, strict=False), 1):
        if one != two:
            return f"part {number} is {str(one)[:200]!r}, expected {str(two)[:200]!r}"
    return f"{len(found)} parts, expected {len(wanted)}"


def _texts(document: Document) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def _pictures(document: Document) -> list[int]:
    blobs = (part.target_part.blob for part in document.part.rels.values() if part.reltype.endswith("/image"))
    return sorted(map(hash, blobs))


def _subscripts(document: Document) -> list[str]:
    return [run.text for _, run in _runs(document) if run.font.subscript]


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


METRICS = {
    "compare_docx_tables": _comparing(
        lambda found: [[[cell.text.strip() for cell in row.cells] for row in one.rows] for one in found.tables],
        "tables",
    ),
    "compare_docx_images": _comparing(_pictures, "pictures"),
    "compare_contains_image": _comparing(
        lambda found: [number for number, one in enumerate(found.paragraphs) if one._p.xpath(".//a:graphicData")],
        "paragraphs with pictures",
    ),
    "compare_line_spacing": _comparing(
        lambda found: [(one.text, _effective(one, "line_spacing")) for one in found.paragraphs], "line spacing"
    ),
    "check_highlighted_words": _comparing(
        lambda found: "".join(run.text for _, run in _runs(found) if run.font.highlight_color is not None),
        "highlighted",
    ),
    **by_name(
        Metric(compare_docx_files, options=DocumentOptions),
        Metric(compare_init_lines),
        Metric(compare_font_names, rules=rules_of("DocumentFont", font_name=str)),
        Metric(compare_subscript_contains),
        Metric(evaluate_strike_through_last_paragraph),
        Metric(has_page_numbers_in_footers),
        Metric(is_first_line_centered),
        Metric(
            contains_page_break,
            rules=rules_of("PageBreaks", page_break_count=(Annotated[int, Field(ge=0)] | None, None)),
        ),
        Metric(
            check_docx_paragraphs,
            rules=rules_of("ParagraphRules", expected=Annotated[tuple[ParagraphRule, ...], Field(min_length=1)]),
        ),
    ),
}
