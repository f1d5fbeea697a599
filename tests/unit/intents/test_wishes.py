"""What sentences ask for."""

from __future__ import annotations

import pytest

from intents.wishes import likeness, parts_of, read


@pytest.mark.parametrize(
    ("sentence", "way", "words"),
    [
        ("turn on the grid", "on", ("grid",)),
        ("please make the grid visible", "on", ("grid",)),
        ("grid on", "on", ("grid",)),
        ("hide the grid", "off", ("grid",)),
        ("don't show the grid", "off", ("grid",)),
        ("stop showing the grid", "off", ("grid",)),
        ("no longer hide the grid", "on", ("grid",)),
        ("could you switch the grid off", "off", ("grid",)),
        ("set the theme to dark", "choose", ("theme", "dark")),
        ("bring up the options", "open", ("options",)),
        ("sort the rows", "do", ("sort", "rows")),
        ("go to full screen", "do", ("fullscreen",)),
    ],
)
def test_a_sentence_says_a_way_and_what_it_is_about(sentence: str, way: str, words: tuple[str, ...]) -> None:
    wish = read(sentence)
    assert (wish.way, wish.words) == (way, words)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("indent", "indentation", True),
        ("programmer", "programming", True),
        ("auto", "automatic", True),
        ("colour", "color", True),
        ("4", "8", True),
        ("tool", "toolbar", False),
        ("form", "format", False),
        ("close", "right", False),
    ],
)
def test_words_are_alike_by_form_or_meaning(one: str, other: str, alike: bool) -> None:
    assert (likeness(one, other) > 0) is alike


def test_parts_take_over_the_verb_and_leave_quotations_whole() -> None:
    assert parts_of("turn on the grid, rulers and then type 'a and b'") == [
        "turn on the grid",
        "turn on rulers",
        "type 'a and b'",
    ]
