from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX
from docx.shared import Pt, RGBColor
from PIL import Image

from evaluation.errors import CheckFailed
from tests.unit.evaluation.judging import judge, value


def saved(path: Path, build: Callable[[Any], Any], *texts: str) -> Path:
    document = Document()
    for text in texts or ("One line.", "Another line."):
        document.add_paragraph(text)
    build(document)
    document.save(str(path))
    return path


def plain(document: Any) -> None:
    """Nothing is changed."""


@pytest.mark.parametrize(
    ("texts", "options", "score"),
    [
        (("One line.", "Another  line."), {}, 1),
        (("One line.", "Another  line."), {"ignore_blanks": False}, 0),
        (("ONE line.", "Another line."), {}, 0),
        (("ONE line.", "Another line."), {"ignore_case": True}, 1),
        (("Another line.", "One line."), {}, 0),
        (("Another line.", "One line."), {"ignore_order": True}, 1),
        (("One line.",), {}, 0),
    ],
)
def test_documents_are_compared_with_blanks_case_and_order_as_the_options_say(
    tmp_path: Path, texts: tuple[str, ...], options: dict[str, bool], score: float
) -> None:
    wanted = saved(tmp_path / "wanted.docx", plain)

    assert value("compare_docx_files", saved(tmp_path / "a.docx", plain, *texts), wanted, **options) == score


def test_similar_content_scores_between_0_and_1(tmp_path: Path) -> None:
    wanted = saved(tmp_path / "wanted.docx", plain)

    assert (
        0.3 < value("compare_docx_files", saved(tmp_path / "a.docx", plain, "One line."), wanted, content_only=True) < 1
    )


def test_other_file_scores_0_and_is_an_error_if_expected(tmp_path: Path) -> None:
    wanted = saved(tmp_path / "wanted.docx", plain)
    (tmp_path / "text.docx").write_text("no zip")

    assert value("compare_docx_files", tmp_path / "text.docx", wanted) == 0
    with pytest.raises(CheckFailed, match=r"expected text\.docx is not a docx"):
        judge("compare_docx_files", wanted, tmp_path / "text.docx")


def strike_last(document: Any) -> None:
    for run in document.paragraphs[-1].runs:
        run.font.strike = True


def spaced(document: Any) -> None:
    document.paragraphs[1].paragraph_format.line_spacing = 2.0


def lowered(document: Any) -> None:
    document.paragraphs[0].add_run("2").font.subscript = True


def highlighted(document: Any) -> None:
    document.paragraphs[0].runs[0].font.highlight_color = WD_COLOR_INDEX.YELLOW


def table(document: Any) -> None:
    document.add_table(1, 2).cell(0, 1).text = "x"


def picture(document: Any) -> None:
    Image.new("RGB", (4, 4), "red").save(PICTURE)
    document.add_picture(str(PICTURE))


PICTURE = Path("unset")


@pytest.mark.parametrize(
    ("func", "build"),
    [
        ("evaluate_strike_through_last_paragraph", strike_last),
        ("compare_line_spacing", spaced),
        ("compare_subscript_contains", lowered),
        ("compare_docx_tables", table),
        ("compare_docx_images", picture),
        ("compare_init_lines", lowered),
    ],
)
def test_document_scores_1_only_with_the_expected_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, func: str, build: Callable[[Any], Any]
) -> None:
    monkeypatch.setitem(globals(), "PICTURE", tmp_path / "red.png")
    wanted = saved(tmp_path / "wanted.docx", build)

    assert value(func, saved(tmp_path / "done.docx", build), wanted) == 1
    assert value(func, saved(tmp_path / "untouched.docx", plain), wanted) == 0


def in_font(document: Any) -> None:
    document.styles["Normal"].font.name = "Courier New"


def mixed_fonts(document: Any) -> None:
    in_font(document)
    document.paragraphs[0].runs[0].font.name = "Arial"


def centered(document: Any) -> None:
    document.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.CENTER


def broken(document: Any) -> None:
    document.paragraphs[0].add_run().add_break(WD_BREAK.PAGE)


def numbered(document: Any) -> None:
    document.sections[0].footer.paragraphs[0].text = "Page 1"


@pytest.mark.parametrize(
    ("func", "rules", "build", "score"),
    [
        ("compare_font_names", {"font_name": "Courier New"}, in_font, 1),
        ("compare_font_names", {"font_name": "Courier New"}, mixed_fonts, 0),
        ("is_first_line_centered", None, centered, 1),
        ("is_first_line_centered", None, plain, 0),
        ("contains_page_break", {}, broken, 1),
        ("contains_page_break", {}, plain, 0),
        ("contains_page_break", {"page_break_count": 2}, broken, 0),
        ("has_page_numbers_in_footers", None, numbered, 1),
        ("has_page_numbers_in_footers", None, plain, 0),
    ],
)
def test_metrics_score_one_document(
    tmp_path: Path, func: str, rules: Any, build: Callable[[Any], Any], score: float
) -> None:
    assert value(func, saved(tmp_path / "a.docx", build), rules) == score


@pytest.mark.parametrize(
    ("rule", "score"),
    [
        ({"index": 0, "alignment": "center", "bold": True, "font_size": 14, "color": "FF0000"}, 1),
        ({"contains": "Another", "alignment": "left", "bold": False, "style": "Normal"}, 1),
        ({"index": 0, "alignment": "left"}, 0),
        ({"index": 0, "font_size": 12}, 0),
        ({"index": -1, "text": "One line."}, 0),
        ({"contains": "nowhere"}, 0),
    ],
)
def test_paragraph_rule_checks_text_and_format(tmp_path: Path, rule: dict[str, Any], score: float) -> None:
    def formatted(document: Any) -> None:
        centered(document)
        font = document.paragraphs[0].runs[0].font
        font.bold, font.size, font.color.rgb = True, Pt(14), RGBColor(255, 0, 0)

    assert value("check_docx_paragraphs", saved(tmp_path / "a.docx", formatted), {"expected": [rule]}) == score
