from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intents.intent import INTENT
from intents.reader import Reader, Row, core_rows, parts_of, read
from intents.text import Phrase

SENTENCES = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("sentence", "fields"), SENTENCES.items(), ids=list(SENTENCES))
def test_sentence_is_read_as_an_intent(sentence: str, fields: dict[str, object]) -> None:
    intent = INTENT.validate_python(fields)
    assert read(sentence).model_copy(update={"verb": intent.verb}) == intent


@pytest.mark.parametrize("fields", SENTENCES.values(), ids=list(SENTENCES))
def test_sentence_of_an_intent_is_read_as_the_same_intent(fields: dict[str, object]) -> None:
    intent = INTENT.validate_python(fields)
    again = read(intent.sentence)
    assert again.model_copy(update={"verb": intent.verb}) == intent


WORDS = ["set", "the", "to", "'a'", '"', "turn", "on", "off", "not", "in", "menu", ",", ".", "§", "\ue000"]


@given(st.text(max_size=80) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_reading_never_raises(text: str) -> None:
    for part in (text, *parts_of(text)):
        read(part)


def test_part_without_a_verb_takes_that_of_the_part_before() -> None:
    assert parts_of("turn on the grid, rulers and then type 'a and b'") == [
        "turn on the grid",
        "turn on rulers",
        "type 'a and b'",
    ]


def test_a_place_at_the_beginning_belongs_to_the_first_part() -> None:
    assert parts_of("In Mousepad, turn on line numbers, then undo") == ["In Mousepad, turn on line numbers", "undo"]
    assert parts_of("On the first sheet, in B2, type 4 and press Enter")[0] == "On the first sheet, in B2, type 4"
    assert parts_of("In Mousepad") == ["In Mousepad"]


@dataclass(frozen=True)
class Scroll:
    direction: str
    lines: int = 1
    area: Phrase = Phrase("")  # noqa: RUF009  # immutable


def test_own_rows_and_kinds_extend_the_table() -> None:
    rows = [Row("scroll", ("scroll <way> [in {area}]", "scroll <way> {lines:number} lines"), {"direction": "down"})]
    reader = Reader([*core_rows(), *rows], {**_anything(), "scroll": Scroll}, words={"way": ["down", "downwards"]})
    assert reader.read("scrolling down three lines") == Scroll("down", 3)
    found = reader.read("scroll down in 'the list'")
    assert isinstance(found, Scroll) and found.area.literal == "the list"
    assert reader.read("scroll down many lines") is None


def _anything() -> dict[str, type]:
    return dict.fromkeys((row.kind for row in core_rows()), dict)


def test_words_in_quotes_are_not_words_of_a_template() -> None:
    intent = read("type 'x into y' into Name")
    assert (intent.value, intent.object) == ("x into y", "Name")


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        Reader([Row("fly", ("fly",))], {})


def test_long_text_is_not_read() -> None:
    assert read("set " + "a to b " * 10_000).kind == "do"
