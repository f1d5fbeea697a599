"""How a text gets into a field, with a field that is only pretended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from Xlib import XK

from aci.errors import CannotType
from aci.input.clipboard import Content
from aci.input.read_back import Delivery
from aci.input.typist import NothingArrived, PartlyArrived, Place, Typist
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, State
from aci.waiting import Clock


class Field:
    """A text field with keyboard, clipboard and accessibility in one."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.selected = False
        self.held = Content(None, plain=True)
        self.log: list[str] = []
        self.takes_paste = self.takes_keys = self.takes_set_text = True
        self.alter: Callable[[str], str] = lambda text: text
        self.readable = True

    # The keyboard.
    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        self.log.append(f"keys {text}")
        if self.takes_keys:
            self._insert(text)

    def press(self, keys: Sequence[int]) -> None:
        if list(keys) == [XK.XK_Control_L, XK.XK_a]:
            self.log.append("select all")
            self.selected = True
        elif list(keys) == [XK.XK_Control_L, XK.XK_v]:
            if self.takes_paste and self.held.text is not None:
                self._insert(self.held.text)
        elif list(keys) == [XK.XK_Control_L, XK.XK_u]:
            self.log.append("kill line")
        elif list(keys) == [XK.XK_Right]:
            self.log.append("right")
        elif list(keys) == [XK.XK_Delete]:
            self.log.append("delete")
            self.text = "" if self.selected else self.text.partition("|")[0]

    # The clipboard.
    def content(self) -> Content:
        return self.held

    def offer(self, text: str) -> None:
        self.held = Content(text, plain=True)

    def clear(self) -> None:
        self.held = Content(None, plain=True)

    def wait_taken(self, limit_s: float) -> bool:
        self.log.append("paste" if self.takes_paste else "paste ignored")
        return self.takes_paste

    # Accessibility.
    def element_text(self, element_id: int) -> str | None:
        return self.text if self.readable else None

    def set_text(self, element_id: int, text: str) -> bool:
        self.log.append("set text")
        if self.takes_set_text:
            self.text = text
        return self.takes_set_text

    def _insert(self, text: str) -> None:
        self.text = self.alter(text if self.selected else self.text + text)
        self.selected = False


def place(
    role: str = "text", app: str = "Mousepad", chosen: bool = True, states: Sequence[State] = ("editable",)
) -> Place:
    element = Element(
        id=7, role=role, name="", rect=Rect(0, 0, 9, 9), point=Point(4, 4), window_id=1, states=frozenset(states)
    )
    return Place(element, app, chosen)


def type_into(
    field: Field, where: Place, text: str, overwrite: bool = False, click_again: Callable[[], None] | None = None
) -> Delivery | None:
    now = [0.0]

    def pause(seconds: float) -> None:
        now[0] += seconds

    typist = Typist(field, lambda: field, field, lambda: None, Clock(lambda: now[0], pause))  # type: ignore[arg-type, return-value]
    return typist.type(where, text, overwrite, click_again)


def test_content_for_a_chosen_field_is_pasted_and_read_back() -> None:
    field = Field("old ")
    assert type_into(field, place(), "new é中😀") == Delivery(state="exact", by="paste")
    assert field.text == "old new é中😀"


def test_part_of_a_date_is_no_text_that_could_be_read_back() -> None:
    month = place("spin button", chosen=False)
    assert month.element is not None
    part = replace(month, element=replace(month.element, value=0.0, text=""))
    assert type_into(Field(), part, "12242026") == Delivery(state="unread", by="keys", unread="no_text")


def test_paragraph_at_the_focus_gets_the_text_as_it_is_without_autocorrection() -> None:
    field = Field()
    assert type_into(field, place("paragraph", chosen=False), "not yet") == Delivery(state="exact", by="paste")
    assert field.text == "not yet"


def test_line_end_behind_a_paragraph_is_pressed_since_word_processors_do_not_paste_it() -> None:
    field = Field()
    assert type_into(field, place("paragraph"), "Dear Ann,\n\n") is not None
    assert field.log == ["paste", "keys \n\n"]
    text_area = Field()
    assert type_into(text_area, place(), "Dear Ann,\n") == Delivery(state="exact", by="paste")
    assert text_area.log == ["paste"]


def test_tab_in_a_paragraph_is_pressed_since_it_may_lead_to_the_next_cell() -> None:
    delivery = type_into(Field(), place("paragraph", chosen=False), "a\tb")
    assert delivery is not None and delivery.by == "keys"


def test_overwrite_selects_first() -> None:
    field = Field("old")
    assert type_into(field, place(), "new", overwrite=True) == Delivery(state="exact", by="paste")
    assert field.text == "new"


def test_overwriting_with_nothing_empties_the_field() -> None:
    field = Field("old")
    assert type_into(field, place(), "", overwrite=True) == Delivery(state="exact")
    assert field.text == ""


def test_text_that_replaces_a_selection_has_arrived() -> None:
    field = Field("chrome://newtab")
    field.selected = True
    assert type_into(field, place(chosen=False), "chrome://settings") == Delivery(state="exact", by="keys")


def test_field_that_held_the_text_before_is_no_proof_that_it_arrived() -> None:
    field = Field("hello")
    field.takes_keys = field.takes_paste = field.takes_set_text = False
    delivery = type_into(field, place(chosen=False), "he")
    assert delivery is not None
    assert not delivery.confirmed


def test_at_the_focus_a_short_text_is_typed_by_keys() -> None:
    field = Field()
    assert type_into(field, place(chosen=False), "7*6=") == Delivery(state="exact", by="keys")
    assert field.log == ["keys 7*6="]


@pytest.mark.parametrize("text", ["two\nlines", "x" * 500, "中"])
def test_at_the_focus_a_text_no_one_would_type_is_pasted(text: str) -> None:
    field = Field()
    type_into(field, place(chosen=False), text)
    assert field.log == ["paste"]


@pytest.mark.parametrize(
    "where",
    [
        place(role="terminal", app="x"),
        place(app="XTerm"),
        place(role="table cell", app="libreoffice-calc"),
        place(role="push button", states=()),
        place(role="spin button"),
        Place(None, "Mousepad"),
    ],
    ids=["terminal role", "xterm", "cell", "not a text field", "spin button", "unknown focus"],
)
def test_keys_are_used_where_paste_means_something_else(where: Place) -> None:
    field = Field()
    delivery = type_into(field, where, "abc")
    assert delivery is not None
    assert delivery.by == "keys"
    assert "paste" not in field.log


def test_clipboard_is_restored() -> None:
    field = Field()
    field.held = Content("mine", plain=True)
    type_into(field, place(), "text")
    assert field.held == Content("mine", plain=True)


def test_an_empty_clipboard_is_left_empty() -> None:
    field = Field()
    type_into(field, place(), "text")
    assert field.held.text is None


def test_a_clipboard_that_cannot_be_restored_is_not_touched() -> None:
    field = Field()
    field.held = Content("cells", plain=False)
    assert type_into(field, place(), "text") == Delivery(state="exact", by="keys")
    assert field.held == Content("cells", plain=False)


def test_text_is_typed_by_keys_if_the_paste_is_not_taken() -> None:
    field = Field()
    field.takes_paste = False
    assert type_into(field, place(), "text") == Delivery(state="exact", by="keys")
    assert field.text == "text"


def test_accessibility_follows_when_neither_paste_nor_keys_arrive() -> None:
    field = Field("old ")
    field.takes_paste = field.takes_keys = False
    assert type_into(field, place(), "new") == Delivery(state="exact", by="accessibility")
    assert field.text == "old new"


def test_missing_text_is_typed_again_after_a_click() -> None:
    field = Field("old ")
    field.takes_paste, field.takes_keys, field.takes_set_text = False, False, False

    def click() -> None:
        field.log.append("click")
        field.takes_keys = True

    assert type_into(field, place(), "new", click_again=click) == Delivery(state="exact", by="keys")
    assert field.log == ["paste ignored", "keys new", "click", "keys new"]


def test_slow_paste_is_not_retyped() -> None:
    field = Field("old ")
    field.takes_paste = field.takes_keys = False

    def click() -> None:
        field.text = "old new"

    assert type_into(field, place(), "new", click_again=click) == Delivery(state="exact", by="keys")
    assert field.text == "old new"


def test_that_nothing_arrived_is_an_error_where_an_element_was_asked_for() -> None:
    field = Field("old")
    field.takes_paste = field.takes_keys = field.takes_set_text = False
    with pytest.raises(NothingArrived, match="it still reads 'old'"):
        type_into(field, place(), "new", overwrite=True, click_again=lambda: None)


def test_a_line_that_was_sent_off_does_not_count_as_lost() -> None:
    field = Field()
    field.takes_paste, field.takes_set_text = False, False
    field.alter = lambda text: ""
    assert type_into(field, place(), "hello\n", click_again=lambda: None) == Delivery(state="different")
    assert field.log.count("keys hello\n") == 1


def test_a_field_that_takes_only_a_part_of_the_text_is_an_error_and_not_fought() -> None:
    field = Field()
    field.alter = lambda text: text[:3]
    field.takes_set_text = False
    with pytest.raises(PartlyArrived, match="it reads 'abc'"):
        type_into(field, place(), "abcdef")
    assert field.log == ["paste"]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("1234.5", "1,234.50"),
        ("1234,5", "1.234,50 €"),
        ("007", "7"),
        ("2024-05-01", "01/05/24"),
        ("9:30", "09:30"),
        ("hello World", "Hello World"),
        ("teh end", "the end"),
        ("a -- b", "a – b"),
        ("example.org", "https://example.org/"),
        ("50", "50 px"),
    ],
)
def test_a_text_that_the_application_rewrites_is_named_as_such(typed: str, shown: str) -> None:
    field = Field()
    field.alter = lambda text: shown
    field.takes_set_text = False
    assert type_into(field, place(), typed) == Delivery(state="rewritten", by="paste", reads=shown)


@pytest.mark.parametrize(
    ("typed", "shown"), [("hello world", "hello wrld"), ("500", "50"), ("~/Documents/story.txt", "~"), ("12abc", "12")]
)
def test_lost_characters_are_an_error(typed: str, shown: str) -> None:
    field = Field()
    field.alter = lambda text: shown
    field.takes_set_text = False
    with pytest.raises(PartlyArrived):
        type_into(field, place(), typed)


def test_another_text_in_the_field_is_reported() -> None:
    field = Field()
    field.alter = lambda text: "42"
    field.takes_set_text = False
    assert type_into(field, place(chosen=False), "6*7=") == Delivery(state="different", reads="42")


def test_a_completion_behind_the_caret_is_removed() -> None:
    field = Field()
    field.alter = lambda text: f"{text}|.bak"
    note = type_into(field, place(), "draft.txt")
    assert field.text == "draft.txt"
    assert note == Delivery(state="exact", by="paste")


def test_a_completion_of_what_replaced_a_selected_address_is_removed() -> None:
    field = Field("https://old.example")
    field.selected = True
    field.alter = lambda text: f"{text}|Engines"
    type_into(field, place("entry", chosen=False), "chrome://settings/search")
    assert field.text == "chrome://settings/search"


def test_what_stands_behind_the_selected_text_is_no_completion() -> None:
    field = Field("report_v1.txt")
    field.selected = True
    field.alter = lambda text: f"{text}.txt"
    where = place(chosen=False)
    assert where.element is not None
    where = replace(where, element=replace(where.element, selection=(0, 9)))
    assert type_into(field, where, "report_final") == Delivery(state="exact", by="keys")
    assert (field.text, field.log) == ("report_final.txt", ["keys report_final"])


def test_a_key_is_not_repeated_while_the_button_that_it_pressed_may_still_be_down() -> None:
    calculator = Field()
    type_into(calculator, place("frame", app="kcalc", chosen=False, states=()), "12.5+7.5=")
    assert calculator.log == ["keys 12.5+7", "keys .5="]
    text_area = Field()
    type_into(text_area, place(chosen=False), "12.5+7.5=")
    assert text_area.log == ["keys 12.5+7.5="]


def test_password_is_neither_read_back_nor_reported() -> None:
    field = Field()
    note = type_into(field, place(role="password text", states=("editable", "password")), "secret")
    assert note == Delivery(state="unread", by="keys", unread="password")
    assert field.log == ["keys secret"], "a password stays out of the clipboard"


def test_overwrite_in_a_terminal_kills_the_line() -> None:
    field = Field()
    type_into(field, place(role="terminal"), "ls", overwrite=True)
    assert field.log == ["kill line", "keys ls"]


def test_overwrite_in_a_cell_never_selects_all_cells() -> None:
    field = Field()
    type_into(field, place(role="table cell"), "1", overwrite=True)
    assert "select all" not in field.log


def test_completion_of_an_office_cell_is_refused_before_the_cell_is_left() -> None:
    field = Field()
    type_into(field, place(role="table cell", app="libreoffice-calc"), "Ap\tB\n\n")
    assert field.log == ["keys Ap", "delete", "keys \t", "keys B", "delete", "keys \n", "keys ", "keys \n"]


def test_field_with_embedded_objects_is_not_read_back() -> None:
    field = Field("\ufffc")
    field.alter = lambda text: "\ufffc"
    assert type_into(field, place(), "new", click_again=lambda: None) == Delivery(
        state="unread", by="paste", unread="no_text"
    )
    assert field.log == ["paste"]


def test_date_field_is_not_read_back() -> None:
    field = Field()
    field.takes_keys = field.takes_set_text = False
    where = place(role="date editor")
    assert type_into(field, where, "05072024", click_again=lambda: None) == Delivery(state="different")
    assert field.log.count("keys 05072024") == 1


def test_parts_of_a_date_or_time_are_typed_without_blanks_which_open_a_picker() -> None:
    field = Field()
    type_into(field, place(role="date editor", states=()), "10:30 AM")
    assert field.log[:3] == ["keys 10:30", "right", "keys AM"]


class AsciiField(Field):
    """One whose keyboard has only ASCII."""

    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        if not text.isascii():
            raise CannotType("no keys")
        super().type_text(text, drained)


def test_text_without_keys_is_pasted() -> None:
    field = AsciiField()
    unknown = Place(None, "App")
    assert type_into(field, unknown, "中") == Delivery(state="unread", by="paste", unread="no_field")
    assert field.text == "中"


def test_text_that_can_be_neither_typed_nor_pasted_is_an_error() -> None:
    field = AsciiField()
    with pytest.raises(CannotType):
        type_into(field, Place(None, "XTerm"), "中")
    assert field.text == ""


def test_clipboard_is_restored_once_the_text_is_there() -> None:
    field = Field("old")
    drained: list[str] = []
    typist = Typist(field, lambda: field, field, lambda: drained.append("drained"), Clock(pause=lambda seconds: None))  # type: ignore[arg-type]
    typist.type(place(), "new", overwrite=True)
    assert (field.text, field.held.text, drained) == ("new", None, [])


def test_clipboard_waits_for_the_application_where_the_text_cannot_be_read() -> None:
    field = Field("old")
    field.readable = False
    drained: list[str] = []
    typist = Typist(field, lambda: field, field, lambda: drained.append("drained"), Clock(pause=lambda seconds: None))  # type: ignore[arg-type]
    typist.type(place(), "new", overwrite=True)
    assert (field.text, drained) == ("new", ["drained"])
