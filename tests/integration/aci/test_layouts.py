"""Texts and hotkeys under several keyboard layouts and locks, in a real editor."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

import pytest
from Xlib import X
from Xlib.ext import xtest

from aci.desktop.virtual import VirtualDesktop
from aci.input.backends import open_input_device
from aci.input.keys import chord, keysym
from aci.observation.observation import Element
from aci.screen.screen import open_display
from tests.integration.aci.seeing import LIMIT_S
from tests.integration.aci.test_acting import find, needs

pytestmark = [pytest.mark.desktop, needs("mousepad"), needs("setxkbmap")]

TEXT = "Hello zZyY @#[]{}|~^`'\"<>?/\\ öß é ёж €中 123"
DRAINED_S = 0.5  # an editor has handled what was typed by then


@pytest.fixture(scope="module")
def editor(desktop: VirtualDesktop) -> Iterator[Element]:
    process = desktop.launch(["mousepad"])
    yield find(desktop, lambda element: "multi_line" in element.states)
    process.terminate()


@pytest.fixture
def layout(desktop: VirtualDesktop, request: pytest.FixtureRequest) -> Iterator[None]:
    """Set layouts and switch to one of them with the key that the person would use."""
    names, group = request.param
    command = ["setxkbmap", "-display", desktop.display, "-option", "", "-layout"]
    subprocess.run([*command, names, "-option", "grp:sclk_toggle"], check=True)
    for _ in range(group):
        tap(desktop, keysym("ISO_Next_Group"))
    display = open_display(desktop.display)
    assert display.screen().root.query_pointer().mask >> 13 & 3 == group
    yield
    for _ in range(len(names.split(",")) - group if group else 0):
        tap(desktop, keysym("ISO_Next_Group"))
    display.close()
    subprocess.run([*command, "us"], check=True)


def tap(desktop: VirtualDesktop, symbol: int) -> None:
    display = open_display(desktop.display)
    for kind in (X.KeyPress, X.KeyRelease):
        xtest.fake_input(display, kind, display.keysym_to_keycode(symbol))
    display.sync()
    display.close()


def check(desktop: VirtualDesktop, editor: Element) -> None:
    """Type, copy, paste, select and cut, and look at the text after each."""
    device = open_input_device("xtest", desktop.display, private=True)
    device.press(chord(["ctrl+a"]))
    device.press(chord(["Delete"]))
    device.type_text(TEXT, lambda: time.sleep(DRAINED_S))
    assert_text(desktop, editor, TEXT)
    for keys in ("ctrl+a", "Ctrl+C", "ctrl+End", "ctrl+v"):
        device.press(chord([keys]))
    assert_text(desktop, editor, TEXT * 2)
    device.press_each(chord(["shift"]), [chord(["Left"])] * 3)
    device.press(chord(["ctrl+x"]))
    assert_text(desktop, editor, (TEXT * 2)[:-3])
    device.close()


def assert_text(desktop: VirtualDesktop, editor: Element, expected: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while (text := desktop.x11.accessibility.element_text(editor.id)) != expected:
        assert time.monotonic() < deadline, text
        time.sleep(0.02)


@pytest.mark.parametrize(
    "layout",
    [("de", 0), ("fr", 0), ("ru", 0), ("us,de", 1), ("us,ru", 1), ("us,de,ru", 2)],
    ids=lambda given: f"{given[0]}-{given[1]}",
    indirect=True,
)
@pytest.mark.usefixtures("layout")
def test_any_text_is_typed_with_any_keyboard_layout(desktop: VirtualDesktop, editor: Element) -> None:
    check(desktop, editor)


def test_caps_lock_and_num_lock_stay_on_and_do_not_garble_text(desktop: VirtualDesktop, editor: Element) -> None:
    display = open_display(desktop.display)
    before = display.screen().root.query_pointer().mask
    for name in ("Caps_Lock", "Num_Lock"):
        tap(desktop, keysym(name))
    locked = display.screen().root.query_pointer().mask
    try:
        assert (locked ^ before).bit_count() == 2
        check(desktop, editor)
        assert display.screen().root.query_pointer().mask == locked
    finally:
        for name in ("Caps_Lock", "Num_Lock"):
            tap(desktop, keysym(name))
        display.close()
