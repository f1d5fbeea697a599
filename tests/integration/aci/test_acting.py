"""Primitives on real applications: what they do there, not what they report."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aci.acting.actions import (
    Action,
    Click,
    DragAndDrop,
    HoldAndPress,
    Hotkey,
    Move,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
)
from aci.desktop.desktop import ActionResult
from aci.desktop.virtual import VirtualDesktop
from aci.input.clipboard import Clipboard, Content
from aci.input.read_back import Delivery
from aci.observation.observation import Element
from aci.ocr.text_engine import TextBox
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import LIMIT_S, press_behind_its_back

pytestmark = pytest.mark.desktop

PAGE = """<!doctype html><meta charset=utf-8><title>Order</title>
<label>Name <input id=field1></label> <label>Notes <textarea id=field2></textarea></label>
<label>Secret <input id=field3 type=password></label> <label>Day <input id=field4 type=date></label>
<button onclick="document.title = [field1, field2, field3, field4].map(field => field.value).join('|')">Send</button>
<div style="height: 4000px"></div><p>The end</p>
"""


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def find(desktop: VirtualDesktop, fits: Callable[[Element], bool]) -> Element:
    """Return the first element that fits, looking again for a while."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        elements = desktop.observe().elements
        found = next((element for element in elements if fits(element)), None)
        if found is not None:
            return found
        assert time.monotonic() < deadline, [(element.role, element.name) for element in elements]
        time.sleep(0.05)


def do(desktop: VirtualDesktop, action: Action) -> ActionResult:
    result = desktop.perform(action)
    assert result.ok, result.error
    return result


def is_document(element: Element) -> bool:
    return "multi_line" in element.states and "editable" in element.states


@pytest.fixture
def editor(desktop: VirtualDesktop) -> Iterator[Element]:
    process = desktop.launch(["mousepad"])
    yield find(desktop, is_document)
    process.terminate()


def text_of(desktop: VirtualDesktop) -> str | None:
    return find(desktop, is_document).text


def test_text_that_no_window_takes_is_said_not_to_have_arrived() -> None:
    with VirtualDesktop(size=(400, 300)) as empty:
        empty.observe()
        typed = do(empty, Type(text="hello"))
    assert typed.delivery == Delivery(state="unread", unread="no_window")


@needs("mousepad")
def test_unicode_is_typed_and_read_back(desktop: VirtualDesktop, editor: Element) -> None:
    result = do(desktop, Type(text="é 中 😀\nsecond", element_id=editor.id))
    assert result.delivery == Delivery(state="exact", by="paste")
    assert text_of(desktop) == "é 中 😀\nsecond"
    do(desktop, Type(text=" line"))
    assert text_of(desktop) == "é 中 😀\nsecond line"
    do(desktop, Type(text="all new", element_id=editor.id, overwrite=True, enter=True))
    assert text_of(desktop) == "all new\n"


class CountingEngine:
    """A text engine that counts the pictures it is given, and finds nothing in them."""

    def __init__(self) -> None:
        self.pictures = 0

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        self.pictures += 1
        return []


@needs("mousepad")
def test_looks_before_an_input_recognize_texts_only_if_the_latest_observation_did() -> None:
    engine = CountingEngine()
    with VirtualDesktop(size=(800, 600), ocr=engine) as desktop:
        desktop.launch(["mousepad"])
        deadline = time.monotonic() + LIMIT_S
        while not (fields := [each for each in desktop.observe(read_texts=False).elements if is_document(each)]):
            assert time.monotonic() < deadline
        press_behind_its_back(desktop, "a")  # so that the field must be looked at again before it is typed into
        assert desktop.perform(Type(text="b", element_id=fields[0].id)).ok
        assert engine.pictures == 0
        desktop.observe()
        assert engine.pictures > 0


@needs("mousepad")
def test_glance_shows_what_was_typed_into_the_element_it_names(desktop: VirtualDesktop, editor: Element) -> None:
    seen = desktop.observe()
    typed = desktop.perform(Type(text="seen at once", element_id=editor.id), settle=lambda: True)
    assert typed.ok and typed.delivery == Delivery(state="exact", by="paste")
    now = desktop.element_now(editor)
    assert now is not None and now.text == "seen at once"
    glanced = desktop.glance({editor.id})
    assert glanced is not None and glanced.by_id[editor.id].text == "seen at once"
    assert [each.id for each in glanced.elements] == [each.id for each in seen.elements]
    assert glanced.focus_id == editor.id
    # what a glance has shown can be acted on
    assert desktop.perform(Type(text="anew", element_id=editor.id, overwrite=True)).ok
    assert text_of(desktop) == "anew"
    assert desktop.glance({10_000}) is None


@needs("mousepad")
def test_window_that_has_opened_takes_more_than_a_glance(desktop: VirtualDesktop, editor: Element) -> None:
    desktop.observe()
    do(desktop, Hotkey(keys=("ctrl", "shift", "s")))
    assert desktop.glance({editor.id}) is None
    find(desktop, lambda element: element.role == "push button" and element.name == "Save")
    do(desktop, Hotkey(keys=("Escape",)))


@needs("mousepad")
def test_an_earlier_observation_is_acted_on_where_the_screen_shows_it_again(
    desktop: VirtualDesktop, editor: Element
) -> None:
    closed = desktop.observe()
    do(desktop, Click(element_id=find(desktop, lambda each: each.role == "menu" and each.name == "Help").id))
    opened = desktop.glimpse()
    assert opened.elements == () and len(opened.windows) > len(closed.windows)
    find(desktop, lambda each: each.name == "About")
    do(desktop, Hotkey(keys=("Escape",)))
    again = desktop.glimpse()
    assert again.windows == closed.windows
    desktop.resume(closed)
    do(desktop, Type(text="as before", element_id=editor.id))
    assert text_of(desktop) == "as before", "what has changed since is read"


def test_clipboard_content_survives_typing(desktop: VirtualDesktop, editor: Element) -> None:
    do(desktop, Type(text="copied", element_id=editor.id))
    do(desktop, Hotkey(keys=("ctrl", "a")))
    do(desktop, Hotkey(keys=("Ctrl", "C")))
    clipboard = Clipboard(desktop.display)
    try:
        assert clipboard.content() == Content("copied", plain=True)
        do(desktop, Type(text="typed ", element_id=editor.id, overwrite=True))
        assert clipboard.content() == Content("copied", plain=True)
    finally:
        clipboard.close()
    do(desktop, Hotkey(keys=("ctrl", "v")))
    assert text_of(desktop) == "typed copied"


@needs("mousepad")
def test_keys_held_while_others_are_pressed(desktop: VirtualDesktop, editor: Element) -> None:
    do(desktop, Type(text="abcdef", element_id=editor.id))
    do(desktop, HoldAndPress(hold_keys=("shift",), press_keys=("Left", "Left")))
    do(desktop, Hotkey(keys=("delete",)))
    assert text_of(desktop) == "abcd"


@needs("mousepad")
def test_a_dialog_over_an_element_stops_the_click(desktop: VirtualDesktop, editor: Element) -> None:
    do(desktop, Type(text="unsaved", element_id=editor.id))
    seen = desktop.observe()
    below = next(element for element in seen.elements if element.id == editor.id)
    assert below.point is not None
    # The dialog opens behind the observation's back, as it may between look and act.
    press_behind_its_back(desktop, "ctrl+s")
    deadline = time.monotonic() + LIMIT_S
    while desktop.x11.screen.window_at(below.point) == below.window_id and time.monotonic() < deadline:
        time.sleep(0.02)
    result = desktop.perform(Click(element_id=below.id))
    assert not result.ok
    assert result.error is not None
    assert "covered by the window 'Save As'" in result.error
    do(desktop, Hotkey(keys=("escape",)))


@needs("mousepad")
def test_an_element_of_a_closed_window_is_an_error(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["mousepad"])
    gone = find(desktop, is_document)
    process.terminate()
    result = desktop.perform(Click(element_id=gone.id))
    assert result.error == f"Element {gone.id} is no longer on the screen."


@needs("mousepad")
def test_a_menu_opens_and_its_entry_is_clicked(desktop: VirtualDesktop, editor: Element) -> None:
    do(desktop, Type(text="abc", element_id=editor.id))
    do(desktop, Click(element_id=find(desktop, lambda element: element.name == "Edit").id))
    entry = find(desktop, lambda element: element.role == "menu item" and element.name == "Select All")
    do(desktop, Click(element_id=entry.id))
    do(desktop, Hotkey(keys=("backspace",)))
    assert text_of(desktop) == ""


@needs("mousepad")
@pytest.mark.parametrize(
    "parts",
    [
        [Type(text="list.txt", enter=True)],
        [Type(text="list.txt\n")],
        [Type(text="list.txt"), Hotkey(keys=("Return",))],
    ],
    ids=["enter", "line end", "key"],
)
def test_return_saves_although_the_dialog_enables_its_button_late(parts: list[Action]) -> None:
    with VirtualDesktop(ocr=None) as desktop:
        desktop.launch(["mousepad"])
        do(desktop, Type(text="Milk"))
        do(desktop, Hotkey(keys=("ctrl", "s")))
        desktop.observe()
        for part in parts[:-1]:
            assert desktop.perform(part, settle=False).ok
        do(desktop, parts[-1])
        (window,) = desktop.observe().windows  # the dialog closes half a second after its button was pressed
        assert window.title.endswith("list.txt - Mousepad")
        assert (desktop.home / "list.txt").read_text("utf-8") == "Milk"


@needs("mousepad")
def test_a_field_that_opens_at_the_first_key_gets_all_of_the_text() -> None:
    with VirtualDesktop() as desktop:
        (desktop.home / "Documents" / "list.txt").write_text("Milk")
        desktop.launch(["mousepad"])
        do(desktop, Hotkey(keys=("ctrl", "o")))
        seen = desktop.observe()
        assert seen.focus_id is None, "the dialog shows a field for names at once"
        result = do(desktop, Type(text="~/Documents/list.txt"))
        assert result.delivery is not None and result.delivery.state == "exact"
        do(desktop, Hotkey(keys=("Return",)))
        assert text_of(desktop) == "Milk"


def test_a_terminal_is_typed_into_by_keys(desktop: VirtualDesktop, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    process = desktop.launch(["xterm"])
    try:
        do(desktop, Type(text="echo wrong"))
        result = do(desktop, Type(text=f"echo 'é 中 ~ $HOME' > {target}", overwrite=True, enter=True))
        assert result.delivery is not None
        assert (result.delivery.by, result.delivery.unread) == ("keys", "terminal")
        deadline = time.monotonic() + LIMIT_S
        while not (target.exists() and target.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert target.read_text() == "é 中 ~ $HOME\n"
    finally:
        process.terminate()


@pytest.mark.slow
@needs("mousepad")
def test_switching_activates_an_open_window_or_starts_the_application(desktop: VirtualDesktop, editor: Element) -> None:
    terminal = desktop.launch(["xterm"])
    try:
        assert do(desktop, SwitchApplications(app_code="Mousepad")).switched_to == "Untitled 1 - Mousepad"
        assert desktop.observe().windows[0].app == "Mousepad"
        do(desktop, SwitchApplications(app_code="terminal"))
        assert desktop.observe().windows[0].app == "XTerm"
    finally:
        terminal.terminate()
    assert do(desktop, SwitchApplications(app_code="terminal")).started
    opened = desktop.observe().windows[0]
    assert "XTerm" in opened.app
    desktop.x11.screen.close_window(opened.id)


def test_the_buffer_is_shown_until_it_is_cleared(desktop: VirtualDesktop) -> None:
    do(desktop, SaveToBuffer(text="code 42"))
    assert desktop.observe().buffer == ("code 42",)
    desktop.clear_buffer()
    assert desktop.observe().buffer == ()


@needs("chromium")
@pytest.mark.slow
def test_a_web_form_gets_exactly_what_is_typed(desktop: VirtualDesktop, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE, encoding="utf-8")
    browser = desktop.launch(["chromium", page.as_uri()])
    try:
        fields = {"Name": "é 中 😀 <b>", "Notes": "one\ntwo", "Secret": "s3cret"}
        for label, text in fields.items():
            field = find(desktop, lambda element, label=label: element.name == label and "editable" in element.states)  # type: ignore[misc]
            do(desktop, Type(text=text, element_id=field.id))
        month = find(desktop, lambda element: element.role == "spin button" and "Month" in element.name)
        do(desktop, Type(text="05072024", element_id=month.id))
        do(desktop, Click(element_id=find(desktop, lambda element: element.name == "Send").id))
        expected = "é 中 😀 <b>|one two|s3cret|2024-05-07"
        deadline = time.monotonic() + LIMIT_S
        while not browser.window_titles[0].startswith(expected):
            assert time.monotonic() < deadline, browser.window_titles
            time.sleep(0.05)
        anchor = find(desktop, lambda element: element.name == "Send")
        do(desktop, Scroll(element_id=anchor.id, clicks=-100))
        find(desktop, lambda element: "The end" in element.name)
    finally:
        browser.terminate()


@needs("soffice")
@pytest.mark.slow
def test_a_spreadsheet_gets_exactly_what_is_typed(desktop: VirtualDesktop) -> None:
    def cell(name: str) -> Element:
        return find(desktop, lambda element: element.role == "table cell" and element.name.split()[0:1] == [name])

    office = desktop.launch(["soffice", "--calc"], timeout_s=60)
    try:
        do(desktop, Type(text="Apple\tPear\n12\t30\n", element_id=cell("B2").id))
        do(desktop, Type(text="Ap", element_id=cell("B4").id, enter=True))
        do(desktop, Type(text="=SUM(B3:C3)", element_id=cell("C5").id, enter=True))
        do(desktop, Type(text="é中😀", element_id=cell("C2").id, overwrite=True, enter=True))
        read = {name: cell(name).text for name in ("B2", "C2", "B3", "C3", "B4", "C5")}
        assert read == {"B2": "Apple", "C2": "é中😀", "B3": "12", "C3": "30", "B4": "Ap", "C5": "42"}
        do(desktop, DragAndDrop(drag_from_id=cell("B2").id, drop_on_id=cell("C3").id))
        assert "selected" in cell("C2").states
    finally:
        office.terminate()


TOOLTIP = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
def opened(*_):
    dialog, button = Gtk.Window(title="Dialog"), Gtk.Button(label="Go")
    dialog.set_position(Gtk.WindowPosition.CENTER_ALWAYS); dialog.set_default_size(400, 300)
    button.set_tooltip_text("Goes on"); dialog.add(button); dialog.show_all()
window = Gtk.Window(title="Opener"); window.connect("key-press-event", opened)
window.add(Gtk.Entry()); window.connect("destroy", Gtk.main_quit); window.show_all(); Gtk.main()
"""


@pytest.mark.skipif(not Path("/usr/lib/python3/dist-packages/gi").is_dir(), reason="apt-get install python3-gi")
def test_tooltip_of_what_opens_under_the_resting_pointer_is_seen_at_once() -> None:
    with VirtualDesktop(size=(900, 600), ocr=None) as desktop:
        desktop.launch([SYSTEM_PYTHON, "-c", TOOLTIP])
        desktop.observe()
        assert do(desktop, Move(at=(450, 300))).ok
        assert do(desktop, Hotkey(keys=("F2",))).ok
        seen = desktop.observe()
        assert [window.title for window in seen.windows if not window.popup][:1] == ["Dialog"]
        assert any(window.popup for window in seen.windows), seen.to_text()
