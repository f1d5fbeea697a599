from __future__ import annotations

import pytest

from agent_s.offline.keys import parse_chord, parse_keys


@pytest.mark.parametrize(
    ("said", "chord"),
    [
        ("ctrl+s", ("ctrl", "s")),
        ("Control-S", ("ctrl", "s")),
        ("Ctrl + Shift + T", ("ctrl", "shift", "t")),
        ("the Enter key", ("Return",)),
        ("return", ("Return",)),
        ("the down arrow", ("Down",)),
        ("arrow up", ("Up",)),
        ("page down", ("Page_Down",)),
        ("ctrl+page up", ("ctrl", "Page_Up")),
        ("F5", ("F5",)),
        ("alt F4", ("alt", "F4")),
        ("cmd+c", ("ctrl", "c")),
        ("super", ("super",)),
        ("ctrl +", ("ctrl", "plus")),
        ("ctrl++", ("ctrl", "plus")),
        ("Ctrl+-", ("ctrl", "minus")),
        ("=", ("equal",)),
        ("Esc", ("Escape",)),
        ("space bar", ("space",)),
        ("the keyboard shortcut Ctrl+Alt+Delete", ("ctrl", "alt", "Delete")),
    ],
)
def test_reads_a_chord(said: str, chord: tuple[str, ...]) -> None:
    assert parse_chord(said) == chord


@pytest.mark.parametrize("said", ["Save", "login", "OK", "the blue button", "", "ctrl+save", "F99"])
def test_does_not_take_other_words_for_keys(said: str) -> None:
    assert parse_keys(said) is None


@pytest.mark.parametrize(
    ("said", "chords"),
    [
        ("ctrl+a, Delete", (("ctrl", "a"), ("Delete",))),
        ("Tab and then Enter", (("Tab",), ("Return",))),
        ("7, *, 6, =", (("7",), ("asterisk",), ("6",), ("equal",))),
        ("a b c", (("a",), ("b",), ("c",))),
    ],
)
def test_reads_keys_one_after_another(said: str, chords: tuple[tuple[str, ...], ...]) -> None:
    assert parse_keys(said) == chords
