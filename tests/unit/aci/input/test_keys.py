"""Names of keys."""

from __future__ import annotations

import pytest
from Xlib import XK

from aci.input.keys import UnknownKey, character_keysym, characters, chord, keysym


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("ctrl", "Control", "CTRL", "ctl"), XK.XK_Control_L),
        (("alt", "Alt", "option"), XK.XK_Alt_L),
        (("super", "win", "cmd", "Command", "meta"), XK.XK_Super_L),
        (("enter", "Return", "return", "ENTER", "\n"), XK.XK_Return),
        (("esc", "Escape", "escape"), XK.XK_Escape),
        (("del", "Delete", "delete"), XK.XK_Delete),
        (("pageup", "page_up", "PgUp", "Page Up", "Prior"), XK.XK_Page_Up),
        (("pagedown", "pgdn"), XK.XK_Page_Down),
        (("up", "Up", "ArrowUp", "arrow_up"), XK.XK_Up),
        (("backspace", "BackSpace"), XK.XK_BackSpace),
        (("f1", "F1"), XK.XK_F1),
        (("F24", "f24"), XK.XK_F24),
        (("space", " ", "spacebar"), XK.XK_space),
        (("a",), XK.XK_a),
        (("A",), XK.XK_A),
        (("+", "plus"), XK.XK_plus),
        (("é",), XK.XK_eacute),
        (("KP_Enter", "kp_enter"), XK.XK_KP_Enter),
        (("altgr", "AltGr", "Alt Gr", "ISO_Level3_Shift"), 0xFE03),
        (("`", "grave", "backtick"), XK.XK_grave),
        (("中",), 0x01004E2D),
    ],
)
def test_usual_spellings_mean_the_same_key(names: tuple[str, ...], expected: int) -> None:
    assert {keysym(name) for name in names} == {expected}


@pytest.mark.parametrize("name", ["frobnicate", "ctrll0", "", "\x01"])
def test_an_unknown_key_is_named(name: str) -> None:
    with pytest.raises(UnknownKey) as caught:
        keysym(name)
    assert repr(name) in str(caught.value)


def test_an_unknown_key_suggests_the_near_one() -> None:
    with pytest.raises(UnknownKey, match="'escape'"):
        keysym("escpe")


def test_a_chord_in_one_name_is_taken_apart() -> None:
    assert chord(["ctrl+shift+s"]) == [XK.XK_Control_L, XK.XK_Shift_L, XK.XK_s]
    assert chord(["ctrl++"]) == [XK.XK_Control_L, XK.XK_plus]
    assert chord(["+"]) == [XK.XK_plus]


def test_capital_letter_with_a_modifier_does_not_add_shift() -> None:
    assert chord(["Ctrl", "S"]) == [XK.XK_Control_L, XK.XK_s]
    assert chord(["S"]) == [XK.XK_S]


def test_characters_cover_unicode_and_line_ends() -> None:
    assert list(characters("a\r\n\té😀")) == [XK.XK_a, XK.XK_Return, XK.XK_Tab, 0xE9, 0x0101F600]
    assert character_keysym("~") == 0x7E
