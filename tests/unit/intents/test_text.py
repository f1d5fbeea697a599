from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from intents.text import Phrase, guard, quote, tokens


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("type 'hello world' here", ("hello world",)),
        ('click "Save As"', ("Save As",)),
        ("don't close it", ()),
        ("it's Ada's 'file'", ("file",)),
        ("type “quoted” text", ("quoted",)),
        (r"type 'a\nb'", ("a\nb",)),
        ("'never closed", ()),
        ("type ```\na 'b'\n```", ("a 'b'",)),
    ],
)
def test_quotations_are_found(text: str, quotes: tuple[str, ...]) -> None:
    assert guard(text).quotes == quotes


@given(st.text(alphabet=st.characters(exclude_characters="\ue000\ue001", codec="utf-8"), max_size=60))
def test_quoted_text_is_read_back_unchanged(text: str) -> None:
    phrase = guard(f"type {quote(text)} now")
    assert phrase.quotes == (text,)
    assert guard(phrase.quoted).quotes == (text,)


def test_phrase_field_keeps_its_quotations_in_json() -> None:
    class Scroll(BaseModel):
        area: Phrase

    scroll = Scroll(area=guard("'the list' below"))
    assert Scroll.model_validate_json(scroll.model_dump_json()).area.quotes == ("the list",)


def test_tokens_have_the_sort_of_their_looks() -> None:
    text = "open ~/a.txt, =SUM(A1:A2) in B7 on 2024-05-17 at https://x.org"
    assert [token.sort for token in tokens(text) if token.literal] == ["path", "formula", "cell", "date", "url"]
