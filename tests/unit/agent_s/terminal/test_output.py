"""Texts of a screen are data on the terminal."""

from __future__ import annotations

import json

import pytest

from agent_s.terminal.output import echo_json, plural, printable, sentence, shorten


@pytest.mark.parametrize("text", ["plain", "é 中 😀", "👨\u200d👩", ""])
def test_harmless_text_is_unchanged(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("memory holds nothing", "Memory holds nothing"),
        ("limits.max_steps is reached", "limits.max_steps is reached"),
        ("`agent-s doctor` helps", "`agent-s doctor` helps"),
        ("2 steps failed", "2 steps failed"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_but_for_names(text: str, shown: str) -> None:
    assert sentence(text) == shown


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x08", "\r", "\x00", "\x7f", "\x9b", "\u202e", "\u2066"])
def test_control_characters_are_replaced(char: str) -> None:
    assert printable(f"a{char}b") == "a\ufffdb"


def test_several_lines_are_joined_into_one() -> None:
    assert printable("a\nb\tc") == "a b c"
    assert shorten("  a\n\n b  ", 10) == "a b"
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"


def test_nouns_agree_with_their_numbers() -> None:
    assert (plural(1, "step"), plural(2, "step"), plural(0, "process", "processes")) == (
        "1 step",
        "2 steps",
        "0 processes",
    )


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"text": "a\nb 中", "path": __file__})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["text"] == "a\nb 中"
