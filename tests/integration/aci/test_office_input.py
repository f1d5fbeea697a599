"""Typing into documents of LibreOffice: ranges of cells, merged cells, and text that is not corrected."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from aci.acting.actions import Click, Hotkey, Scroll, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from benchmarks.fixtures.open_documents import Book, Letter, Sheet, paragraphs
from tests.integration.aci.seeing import element, until, wait_until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="soffice is not installed"),
]

TABLE = "Item\tPrice\nApples\t3\nPears\t12\n"


def test_a_table_is_typed_into_a_range_of_cells() -> None:
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        sheet = desktop.home / "sheet.csv"
        sheet.write_text("a\n", encoding="utf-8")
        desktop.launch(["soffice", "--norestore", "--calc", "--infilter=CSV:44,34,76,1", str(sheet)], timeout_s=180.0)
        result = desktop.perform(Type(text=TABLE, element_id=element(desktop, "table cell", "B3").id))
        assert result.ok, result.error
        until(
            desktop, lambda seen: {"Pears", "12"} <= {each.text for each in seen.elements if each.name in ("B5", "C5")}
        )
        assert desktop.perform(Hotkey(keys=("ctrl", "s"))).ok
        keep = element(desktop, "push button", "Use Text CSV Format")
        assert desktop.perform(Click(element_id=keep.id)).ok
        rows = [["a", "", ""], ["", "", ""], ["", "Item", "Price"], ["", "Apples", "3"], ["", "Pears", "12"]]
        wait_until(lambda: list(csv.reader(sheet.read_text(encoding="utf-8").splitlines())) == rows)


def test_cell_with_the_cursor_is_empty_after_a_row_was_inserted_above_it(tmp_path: Path) -> None:
    book = tmp_path / "stock.ods"
    Book({"Stock": Sheet((("Item", "Count"), ("Apples", 3)))}).write(book)
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        desktop.launch(["soffice", "--norestore", "--calc", str(book)], timeout_s=180.0)
        assert desktop.perform(Click(element_id=element(desktop, "table cell", "A2").id)).ok
        for role, name in (("menu", "Sheet"), ("menu", "Insert Rows"), ("menu item", "Rows Above")):
            assert desktop.perform(Click(element_id=element(desktop, role, name).id)).ok
        seen = until(desktop, lambda seen: any(each.text == "Apples" for each in seen.elements if each.name == "A3"))
        assert [each.text for each in seen.elements if each.name in ("A2", "B2")] == ["", ""]


def test_merged_cell_is_seen_and_typed_into_as_one(tmp_path: Path) -> None:
    book = tmp_path / "merged.ods"
    span = 'table:number-columns-spanned="2" table:number-rows-spanned="1"'
    Book({"Stock": Sheet((("Item", "Count", None),), cell_attributes={(0, 1): span})}).write(book)
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        desktop.launch(["soffice", "--norestore", "--calc", str(book)], timeout_s=180.0)
        merged, below = element(desktop, "table cell", "B1"), element(desktop, "table cell", "B2")
        assert (merged.text, merged.rect.width) == ("Count", 2 * below.rect.width)
        assert all(each.name != "C1" for each in desktop.observe().elements)
        assert desktop.perform(Type(text="Number", element_id=merged.id, enter=True)).ok
        until(desktop, lambda seen: any(each.text == "Number" for each in seen.elements if each.name == "B1"))


def test_part_of_a_merged_cell_that_begins_out_of_view_is_not_typed_into(tmp_path: Path) -> None:
    book = tmp_path / "merged.ods"
    span = 'table:number-columns-spanned="1" table:number-rows-spanned="20"'
    Book({"Stock": Sheet((("Item", "Count"),), cell_attributes={(0, 0): span})}).write(book)
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        desktop.launch(["soffice", "--norestore", "--calc", str(book)], timeout_s=180.0)
        desktop.perform(Scroll(element_id=element(desktop, "table cell", "B5").id, clicks=-2))
        until(desktop, lambda seen: all(each.name != "A1" for each in seen.elements))
        refused = desktop.perform(Type(text="lost", element_id=element(desktop, "table cell", "A9").id))
        assert not refused.ok and "begins out of view" in refused.error
        desktop.perform(Scroll(element_id=element(desktop, "table cell", "B9").id, clicks=2))
        until(desktop, lambda seen: any((each.name, each.text) == ("A1", "Item") for each in seen.elements))


def test_document_takes_text_without_correcting_it(tmp_path: Path) -> None:
    letter = tmp_path / "letter.odt"
    Letter(paragraphs("")).write(letter)
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        desktop.launch(["soffice", "--norestore", "--writer", str(letter)], timeout_s=180.0)
        until(desktop, lambda seen: seen.focus_id is not None and seen.by_id[seen.focus_id].role == "paragraph")
        result = desktop.perform(Type(text="not yet (c)"))
        assert result.ok and result.delivery is not None and result.delivery.state == "exact"
        until(desktop, lambda seen: any(each.text == "not yet (c)" for each in seen.elements))
        assert desktop.perform(Type(text=" or so\n")).ok
        assert desktop.perform(Type(text="ever")).ok
        until(desktop, lambda seen: {"not yet (c) or so", "ever"} <= {each.text for each in seen.elements})


def test_cell_that_was_clicked_is_seen_and_typed_into_without_a_look(tmp_path: Path) -> None:
    book = tmp_path / "stock.ods"
    Book({"Stock": Sheet((("Item", "Count"),))}).write(book)
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        desktop.launch(["soffice", "--norestore", "--calc", str(book)], timeout_s=180.0)
        cell = element(desktop, "table cell", "B2")

        def now() -> Element:
            return desktop.element_now(cell) or cell

        clicked = desktop.perform(Click(element_id=cell.id), settle=lambda: {"selected", "focused"} <= now().states)
        assert clicked.ok
        glanced = desktop.glance({cell.id})
        assert glanced is not None and glanced.focus_id == cell.id
        assert desktop.perform(Type(text="12", enter=True), settle=lambda: now().text == "12").ok
        glanced = desktop.glance({cell.id})
        assert glanced is not None and glanced.by_id[cell.id].text == "12"
        until(desktop, lambda seen: any(each.text == "12" for each in seen.elements if each.name == "B2"))
