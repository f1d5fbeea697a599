from __future__ import annotations

import re
import urllib.request
from pathlib import Path

from openpyxl import load_workbook

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from benchmarks.fixtures.canvas_page import LABELS, SIZES, canvas_page, labels
from benchmarks.fixtures.documents import write_letter, write_page, write_sheet
from benchmarks.fixtures.widgets_page import WIDGETS, tokens, widgets_page
from benchmarks.grounding import _says
from benchmarks.input import ACCENTS, EASTERN, EMOJI, LENGTH, document_text, sample
from benchmarks.support.clicking import bearing
from benchmarks.support.reports import PageServer

WINDOW = Window(id=7, title="Main", app="app", rect=Rect(0, 0, 400, 300), pid=5)


def element(name: str, role: str = "push button", rect: Rect = Rect(0, 0, 90, 20), description: str = "") -> Element:  # noqa: B008
    return Element(id=1, role=role, name=name, rect=rect, point=Point(1, 1), window_id=7, description=description)


def observation(*elements: Element) -> Observation:
    import numpy as np

    return Observation(screenshot=np.zeros((300, 400, 3), dtype=np.uint8), elements=elements, windows=(WINDOW,))


def test_each_of_the_widgets_is_there_once() -> None:
    found = re.findall(r"data-w=(?:'|&quot;|\")?(w\d+)", widgets_page())
    assert sorted(found) == tokens()
    assert len(set(found)) == WIDGETS == 200


def test_the_documents_hold_what_is_measured(tmp_path: Path) -> None:
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert len(re.findall(r"<(?:button|input|a |li|span|select)", page)) > 500
    sheet = load_workbook(write_sheet(tmp_path)).active
    assert (sheet.max_row, sheet.max_column) == (50, 20)
    assert all(cell.value is not None for row in sheet.iter_rows() for cell in row)


def test_labels_on_the_canvas_are_large_enough_and_told_apart() -> None:
    assert min(SIZES) >= 12
    assert len(set(labels())) == LABELS
    assert all(f"'{label}'" in canvas_page() for label in labels())


def test_the_text_to_type_has_all_kinds_of_characters() -> None:
    text = sample(LENGTH)
    assert len(text) == 1000
    assert all(set(kind) & set(text) for kind in (ACCENTS, EASTERN, EMOJI, "\n"))


def test_a_document_is_read_back_with_its_spaces_and_lines(tmp_path: Path) -> None:
    path = write_letter(tmp_path, paragraphs=1)
    path.write_text(
        path.read_text(encoding="utf-8").replace(
            "the quick", 'a<text:s text:c="3"/>b<text:span>é</text:span>中</text:p><text:p>next<text:tab/>'
        ),
        encoding="utf-8",
    )
    assert document_text(path) == "Paragraph 1: a   bé中\nnext\t brown fox jumps over the lazy dog."


def test_a_server_keeps_what_a_page_reports() -> None:
    with PageServer({"/": "<p>page</p>"}) as server:
        assert urllib.request.urlopen(server.url + "/").read() == b"<p>page</p>"
        urllib.request.urlopen(server.url + "/hit", data=b'"w001"')
        urllib.request.urlopen(server.url + "/text", data='"é中😀"'.encode())
        assert server.lines() == ["w001"]
        assert server.text == "é中😀"


def test_the_thing_is_clicked_before_the_text_that_labels_it() -> None:
    label, field = element("Spin g019", role="label"), element("", role="spin button", description="Spin g019")
    assert bearing("g019", observation(label, field), pid=5) is field
    assert bearing("g01", observation(label, field), pid=5) is None
    assert bearing("g019", observation(label, field), pid=6) is None


def test_a_recognized_text_is_double_only_where_the_tree_says_it_at_the_same_place() -> None:
    button = element("Save as…", rect=Rect(10, 10, 100, 30))
    assert _says(button, element("Save as", "text line", Rect(20, 15, 60, 15)))
    assert not _says(button, element("Open", "text line", Rect(20, 15, 60, 15)))
    assert not _says(button, element("Save as", "text line", Rect(200, 15, 60, 15)))
