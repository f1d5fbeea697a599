from __future__ import annotations

import pytest

from aci.accessibility.atspi import Ref
from aci.accessibility.texts import FoundText, MissingText, Part, Run, find, occurrences

A, B = Ref(":1.1", "/a"), Ref(":1.1", "/b")
STORY = "A naïve 😀 fox\nand a  Fox 👍 ran"


def test_words_are_found_by_characters_or_by_units_of_utf_16() -> None:
    [by_characters, by_units] = [find([Run(STORY, A, 0, STORY, in_utf16)], "fox") for in_utf16 in (False, True)]
    assert isinstance(by_characters, FoundText)
    assert isinstance(by_units, FoundText)
    assert [(part.start, part.end) for part in by_characters.parts] == [(10, 13)]
    assert [(part.start, part.end) for part in by_units.parts] == [(11, 14)]
    assert by_units.text == "fox"


def test_selections_of_chromium_are_reported_as_if_characters_were_units_again() -> None:
    found = [find([Run(STORY, A, 0, STORY)], words) for words in ("fox", "😀", "and", "👍")]
    assert [part.twice for each in found if isinstance(each, FoundText) for part in each.parts] == [
        (9, 12), (8, None), (13, 16), (24, 25),
    ]  # fmt: skip


def test_words_can_lie_in_several_objects() -> None:
    whole = "see \ufffc now"
    runs = [Run("see ", A, 0, whole), Run("the link", B, 0, "the link"), Run(" now", A, 5, whole)]
    found = find(runs, "see", until="now")
    assert isinstance(found, FoundText)
    assert found.text == "see the link now"
    assert [(part.ref, part.start, part.end) for part in found.parts] == [(A, 0, 4), (B, 0, 8), (A, 5, 9)]


@pytest.mark.parametrize(
    ("words", "occurrence", "until", "missing"),
    [
        ("dog", 1, "", MissingText("absent")),
        ("fox", 2, "", MissingText("fewer", 1)),
        ("Fox", 1, "naïve", MissingText("absent")),
    ],
)
def test_words_that_are_not_there_are_missing(words: str, occurrence: int, until: str, missing: MissingText) -> None:
    assert find([Run(STORY, A, 0, STORY)], words, occurrence, until) == missing


def test_an_element_without_text_has_no_words_even_if_it_has_a_name() -> None:
    assert find([Run("Open")], "Open") == MissingText("no_text")


def test_white_space_and_case_matter_only_where_they_have_to() -> None:
    assert occurrences("a fox", "a fox, a\nfox") == [(0, 5), (7, 12)]
    assert occurrences("FOX", "fox Fox") == [(0, 3), (4, 7)]
    assert occurrences("Fox", "fox Fox") == [(4, 7)]
    assert occurrences("a.c", "abc a.c") == [(4, 7)]


def test_a_part_knows_a_character_of_another_line() -> None:
    text = "one\ntwo\n"
    assert Run(text, A, 0, text).part(4, 7) == Part(A, 4, 7, (4, 7), elsewhere=0)
    assert Run(text, A, 0, text).part(0, 3) == Part(A, 0, 3, (0, 3), elsewhere=4)
    assert Run("one", A, 0, "one").part(0, 3) == Part(A, 0, 3, (0, 3))
