"""Further metrics of docx documents: formats, equations, highlighting, references and places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.formats.documents import compare_docx_files, document_of, mean_ratio
from evaluation.state.metrics import ExpectedList, Score, score_of, score_unless

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

EPSILON = 0.01  # how much better than the base a similarity must be to count
_LITTLE = 12.0  # font size where a document names none, pt


def compare_docx_exactly(result: Path, expected: Path) -> Score:
    """Two documents have the same texts, formats (of the first run of each paragraph), pictures and picture sizes."""
    wanted, found = document_of(expected), document_of(result)
    texts, right = ([one.text for one in document.paragraphs if one.text.strip()] for document in (found, wanted))
    problems = [f"the text is {texts}, expected {right}"] if texts != right else []
    for what, read in (("format", _formats), ("picture", _pictures), ("size of a picture", _picture_sizes)):
        for number, (one, two) in enumerate(zip(read(found), read(wanted), strict=False), 1):
            if one != two:
                problems.append(f"{what} {number} differs")
    return score_unless(problems, "the documents are the same")


def compare_insert_equation(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and an equation at the same place."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    pairs = zip(document_of(result).paragraphs, document_of(expected).paragraphs, strict=False)
    runs = (pair for one, two in pairs for pair in zip(one.runs, two.runs, strict=False))
    found = any(one._r.xpath(".//w:object") and two._r.xpath(".//w:object") for one, two in runs)
    return score_of(found, f"{'an' if found else 'no'} equation is where one is expected")


def compare_highlighted_text(result: Path, expected: Path) -> Score:
    """The same texts are highlighted, in any color and order."""
    found, wanted = (_highlighted(document_of(path)) for path in (result, expected))
    return score_of(found == wanted, f"highlighted are {sorted(found)}, expected {sorted(wanted)}")


def check_italic_font_size_14(result: Path, expected: Path) -> Score:
    """Two documents have the same text, and all italic text of the first has 14 pt."""
    same = compare_docx_files(result, expected)
    if same.value < 1:
        return same
    italic = [run for one in document_of(result).paragraphs for run in one.runs if run.italic]
    wrong = [run.text for run in italic if run.font.size is None or run.font.size.pt != 14]
    return score_of(not wrong, f"of another size: {wrong}" if wrong else f"{len(italic)} texts have 14 pt")


def fuzzy_place_math(result: Path, expected: ExpectedList[str]) -> Score:
    """A document has three words; the mean of how similar each is to the nearest of the expected ones."""
    from rapidfuzz.fuzz import ratio

    words = [word for paragraph in document_of(result).paragraphs for word in paragraph.text.split()]
    if len(words) != 3:
        return Score(0.0, f"there are {len(words)} words, expected 3")
    best = [max(ratio(word, place) / 100 for place in expected.expected) for word in words]
    return Score(sum(best) / 3, f"{words} have similarities of {best}")


def compare_references(
    result: Path,
    expected: Path,
    *,
    reference_indicator: str = "References",
    reference_base_result: float = 0.5,
    content_only: bool = True,
) -> Score:
    """The mean similarity of the paragraphs after a heading, which is 0 at the base, and stretched from there to 1."""
    found, wanted = (_after(document_of(path), reference_indicator) for path in (result, expected))
    if found is None or wanted is None:
        return score_of(found is wanted, f"the heading {reference_indicator!r} is missing")
    if len(found) != len(wanted):
        return Score(0.0, f"there are {len(found)} references, expected {len(wanted)}")
    mean, base = mean_ratio(found, wanted), reference_base_result
    stretched = (mean - base) / (1 - base) if mean >= base + EPSILON else 0.0
    return Score(stretched, f"the references have a similarity of {mean:.3f}; {base} counts as 0")


def _after(document: Document, heading: str) -> list[str] | None:
    texts = [paragraph.text for paragraph in document.paragraphs]
    return [text for text in texts[texts.index(heading) + 1 :] if text.strip()] if heading in texts else None


def _formats(document: Document) -> list[Any]:
    return [_format(paragraph) for paragraph in document.paragraphs]


def _format(paragraph: Paragraph) -> tuple[Any, ...]:
    run = next(iter(paragraph.runs), None)
    if run is None:
        return ("Liberation Serif", _LITTLE, False, False, False, paragraph.alignment)
    size = run.font.size.pt if run.font.size else _LITTLE
    return (run.font.name, size, run.bold, run.italic, run.underline, paragraph.alignment)


def _pictures(document: Document) -> list[bytes]:
    return [part.target_part.blob for part in document.part.rels.values() if "image" in part.target_ref]


def _picture_sizes(document: Document) -> list[Any]:
    return [
        (shape.get("cx"), shape.get("cy"), paragraph.alignment, *_spaces(paragraph))
        for paragraph in document.paragraphs
        for run in paragraph.runs
        for shape in run._r.xpath(".//w:drawing//wp:extent")
    ]


def _spaces(paragraph: Paragraph) -> tuple[Any, ...]:
    layout = paragraph.paragraph_format
    return (layout.left_indent, layout.right_indent, layout.space_before, layout.space_after)


def _highlighted(document: Document) -> set[str]:
    runs = document.element.xpath("//w:r[.//w:highlight[@w:val != 'none']]")
    return {texts[0].text or "" for run in runs if (texts := run.xpath(".//w:t"))}
