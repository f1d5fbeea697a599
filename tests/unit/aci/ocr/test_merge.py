from __future__ import annotations

from dataclasses import replace

import pytest

from aci.observation.geometry import Rect
from aci.observation.observation import Element
from aci.ocr.merge import merge, weave, whole_lines
from aci.ocr.repeats import Found, contains_text, same_text
from tests.unit.aci.ocr.pictures import element, window

PLACE = Rect(100, 100, 80, 20)


def found(text: str, rect: Rect = PLACE, window_id: int = 1) -> Found:
    return Found(rect, text, window_id)


def texts(elements: list[Element], *read: Found) -> list[str]:
    return [text.text for text in merge(elements, read).texts]


def test_text_of_an_element_is_dropped() -> None:
    assert texts([element(1, "Save as…", PLACE)], found("Save as...")) == []
    assert texts([element(1, "", PLACE, "entry", "user@host")], found("user@host")) == []


def test_caret_read_as_a_letter_makes_no_other_text() -> None:
    line = element(1, "The first line", Rect(0, 0, 300, 20))
    assert texts([line], found("IThe", Rect(2, 2, 30, 14)), found("|", Rect(2, 2, 3, 14))) == []
    assert texts([line], found("Other", Rect(2, 2, 30, 14))) == ["Other"]


def test_part_of_the_text_of_a_large_element_is_dropped() -> None:
    around = Rect(0, 0, 400, 300)
    assert texts([element(1, "", around, "text", "one line\nanother 1ine\nthird")], found("another line")) == []


def test_what_a_picture_shows_stays_though_its_description_says_so_too() -> None:
    display = replace(element(1, "Calculation result", PLACE, "drawing area"), description="= 144")
    assert texts([display], found("= 144")) == ["= 144"]
    assert texts([replace(display, name="")], found("= 144")) == []


def test_text_next_to_its_element_is_dropped_only_if_equal() -> None:
    beside = Rect(100, 125, 80, 20)
    assert texts([element(1, "Downloads", beside)], found("Down1oads")) == []
    assert texts([element(1, "All Downloads of today", beside)], found("Downloads")) == ["Downloads"]


def test_other_text_at_the_place_of_an_element_stays() -> None:
    assert texts([element(1, "Drawing", Rect(0, 0, 400, 300), "canvas")], found("Label")) == ["Label"]


def test_element_of_another_window_or_far_away_does_not_count() -> None:
    assert texts([element(1, "Save", PLACE, window_id=2)], found("Save")) == ["Save"]
    assert texts([element(1, "Save", Rect(100, 200, 80, 20))], found("Save")) == ["Save"]


def test_nameless_button_is_called_by_the_text_in_it() -> None:
    button = element(5, "", Rect(90, 90, 120, 40), "push button")
    merged = merge([button], [found("file", Rect(150, 100, 40, 20)), found("Open", Rect(100, 100, 40, 20))])
    assert merged.texts == ()
    assert [(each.id, each.name, each.role) for each in merged.elements] == [(5, "Open file", "push button")]


@pytest.mark.parametrize(
    ("role", "rect"),
    [("canvas", Rect(90, 90, 120, 40)), ("entry", Rect(90, 90, 120, 40)), ("list item", Rect(0, 0, 800, 600))],
)
def test_text_that_does_not_name_its_container_stays_an_element(role: str, rect: Rect) -> None:
    merged = merge([element(1, "", rect, role)], [found("Open")])
    assert merged.elements[0].name == ""
    assert [text.text for text in merged.texts] == ["Open"]


def test_innermost_element_is_named() -> None:
    row, button = element(1, "", Rect(80, 80, 200, 60), "list item"), element(2, "", PLACE, "push button")
    assert [each.name for each in merge([row, button], [found("Open")]).elements] == ["", "Open"]


def test_text_read_twice_where_pieces_overlap_is_there_once() -> None:
    assert texts([], found("Hello world"), found("Hello wor", Rect(100, 100, 60, 20))) == ["Hello world"]
    assert texts([], found("Yes"), found("Yes", Rect(300, 100, 80, 20))) == ["Yes", "Yes"]


def test_common_mistakes_of_recognition_do_not_make_texts_different() -> None:
    assert same_text("ls -la /home", "Is -la /home")
    assert same_text("naïve café", "naive café")
    assert same_text("Only people I follow", "Only neonle L follow")
    assert not same_text("OK", "On")
    assert not same_text("Page 1", "Sheet 2")
    assert contains_text("Free space: 77.2 GiB", "space: 77.2")
    assert not contains_text("Cut", "Cut and paste")


def test_lines_of_a_terminal_stay_whole() -> None:
    columns = [
        found("4096 May", Rect(200, 21, 60, 12)),
        found("drwxr-xr-x", Rect(10, 20, 70, 14)),
        found("# exit", Rect(10, 40, 40, 14)),
        found("3 root", Rect(100, 20, 40, 14)),
    ]
    lines = whole_lines(columns)
    assert [line.text for line in lines] == ["drwxr-xr-x 3 root 4096 May", "# exit"]
    assert lines[0].rect == Rect(10, 20, 250, 14)


def test_texts_follow_the_element_that_they_lie_in() -> None:
    canvas = element(1, "Drawing", Rect(0, 0, 200, 100), "canvas")
    after = element(2, "Next", Rect(0, 200, 50, 20), "push button")
    other = element(3, "Other", Rect(300, 0, 50, 20), window_id=2)
    inner, lower = element(11, "inside", Rect(20, 60, 40, 10)), element(12, "below", Rect(0, 250, 40, 10))
    upper, elsewhere = element(13, "first", Rect(20, 20, 40, 10)), element(14, "there", PLACE, window_id=3)
    woven = weave([canvas, after, other], [lower, inner, elsewhere, upper], [window(1), window(3), window(2)])
    assert [each.id for each in woven] == [1, 13, 11, 2, 12, 14, 3]


def test_rest_of_a_label_beside_its_element_is_dropped() -> None:
    cut = element(1, "Click to add Title", Rect(100, 100, 80, 20), "paragraph")
    assert texts([cut], found("dd Title", Rect(182, 101, 40, 18))) == []
    assert texts([cut], found("Kd Title", Rect(182, 101, 40, 18))) == []
    assert texts([cut], found("Total", Rect(182, 101, 40, 18))) == ["Total"]
    assert texts([cut], found("Click", Rect(182, 101, 40, 18))) == ["Click"]
    assert texts([cut], found("Click t", Rect(60, 101, 40, 18))) == []


def test_part_of_a_label_beyond_a_menu_is_dropped() -> None:
    label = element(1, "Warning: you are root", Rect(200, 100, 80, 20))
    left = found("Warning: y", Rect(60, 101, 40, 18))
    assert merge([replace(label, extent=Rect(60, 100, 220, 20))], [left]).texts == ()
    assert merge([label], [left]).texts == (left,)


def test_lines_beside_a_menu_are_dropped_also_with_a_caret_before_them() -> None:
    field = element(1, "", Rect(200, 100, 80, 60), "text", "The first line\nanother line")
    covered = replace(field, extent=Rect(60, 100, 220, 60))
    lines = [found("IThe", Rect(60, 101, 31, 18)), found("ano", Rect(60, 121, 31, 18))]
    assert merge([covered], lines).texts == ()
    other = found("IBelow", Rect(60, 101, 40, 18))
    assert merge([covered], [other]).texts == (other,)


def test_labels_that_were_read_as_one_text_are_dropped() -> None:
    menus = [
        element(number, name, Rect(50 * number, 10, 50, 20), "menu") for number, name in enumerate(("File", "Edit"))
    ]
    assert texts(menus, found("File  Ed1t", Rect(10, 12, 80, 16))) == []
    assert texts(menus, found("Drawing", Rect(10, 12, 80, 16))) == ["Drawing"]


def test_icons_that_were_read_as_letters_are_dropped() -> None:
    described = [
        replace(element(number, "", Rect(30 * number, 10, 30, 30), "push button"), description=f"does {number}")
        for number in (1, 2)
    ]
    merged = merge(described, [found("Q", Rect(40, 15, 12, 20)), found("X Ca", Rect(35, 15, 50, 20))])
    assert merged.texts == () and [each.name for each in merged.elements] == ["", ""]
    assert merge(described, [found("Save", Rect(32, 15, 27, 20))]).elements[0].name == "Save"


def test_headers_of_a_sheet_are_dropped() -> None:
    cells = [
        element(10 * row + place, f"{column}{row}", Rect(100 + 80 * place, 80 + 20 * row, 80, 20), "table cell", "")
        for row in (1, 2)
        for place, column in enumerate("ABC")
    ]
    columns = [found("A", Rect(135, 85, 10, 12)), found("BC", Rect(190, 85, 150, 12))]
    rows = [found("1", Rect(70, 104, 8, 12)), found("411111", Rect(70, 124, 20, 12))]
    assert texts(cells, *columns, *rows) == []
    assert texts(cells, found("Price list of today", Rect(135, 85, 100, 12))) == ["Price list of today"]


@pytest.mark.parametrize(
    ("read", "text", "left"),
    [
        ("#DIV/O!", "#DIV/O!", []), ("#NAME?", "#NAME?", []), ("Err:508", "Err:508", []), ("#N/A", "#N/A", []),
        ("August", "", ["August"]),
    ],
)  # fmt: skip
def test_an_error_value_is_the_text_of_a_cell_that_reports_none(read: str, text: str, left: list[str]) -> None:
    cell = element(1, "B2", Rect(90, 95, 140, 30), "table cell", "")
    merged = merge([cell], [found(read)])
    assert (merged.elements[0].text, [each.text for each in merged.texts]) == (text, left)


def test_a_text_that_extends_over_empty_cells_of_its_row_is_dropped() -> None:
    names = ("A2", "B2", "C2", "B3")
    boxes = (Rect(100, 100, 80, 20), Rect(180, 100, 80, 20), Rect(260, 100, 80, 20), Rect(180, 120, 80, 20))
    said = ("The price of all things", "", "Sum", "")
    cells = [
        element(at, name, box, "table cell", text)
        for at, (name, box, text) in enumerate(zip(names, boxes, said, strict=True))
    ]
    assert texts(cells, found("price of", Rect(185, 104, 60, 12))) == []
    assert texts(cells, found("price of", Rect(185, 124, 60, 12))) == ["price of"]


def test_a_text_in_a_combo_box_is_what_it_says() -> None:
    box = element(1, "", Rect(90, 95, 140, 30), "combo box")
    merged = merge([replace(box, label="Format:")], [found("Screen 16:9")])
    assert (merged.elements[0].text, merged.texts) == ("Screen 16:9", ())


@pytest.mark.parametrize(
    ("read", "label"), [("Opacity", "Opacity"), ("Opacity 100.0", "Opacity"), ("100.0", ""), ("100.0 px", "")]
)
def test_words_in_a_nameless_field_for_a_number_label_it(read: str, label: str) -> None:
    field = element(1, "", Rect(90, 95, 140, 30), "spin button", "100.0")
    assert merge([field], [found(read)]).elements[0].label == label
    named = replace(field, label="Width")
    assert merge([named], [found(read)]).elements == (named,)


@pytest.mark.parametrize(
    ("read", "text", "left"), [("400 ms", "400 ms", []), ("400", None, []), ("7 ms", None, ["7 ms"])]
)
def test_a_number_with_its_unit_is_the_text_of_its_field(read: str, text: str | None, left: list[str]) -> None:
    field = replace(element(1, "", Rect(90, 95, 140, 30), "spin button"), value=400.0)
    merged = merge([field], [found(read)])
    assert (merged.elements[0].text, [each.text for each in merged.texts]) == (text, left)
