from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_s.offline.quoting import guard, quote


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("type 'hello, and click OK'", ["hello, and click OK"]),
        ('type "It\'s done"', ["It's done"]),
        ("type 'Ada's book'", ["Ada's book"]),
        ("don't click 'OK' or \"Cancel\"", ["OK", "Cancel"]),
        ("type “smart” and ‘single’ and «guillemets»", ["smart", "single", "guillemets"]),
        (r"type 'one\ntwo\tthree'", ["one\ntwo\tthree"]),
        (r'type "a \"b\" c"', ['a "b" c']),
        ("type ```\nfirst\nsecond\n```", ["first\nsecond"]),
        ("an unclosed 'quote and more", []),
        ('a 5" disk and a 3" disk', []),
        ("type 'line one\nline two'", ["line one\nline two"]),
        ('click "Submit."', ["Submit."]),
    ],
)
def test_takes_out_what_is_quoted(text: str, quotes: list[str]) -> None:
    assert list(guard(text).quotes) == quotes


def test_puts_the_quoted_parts_back_without_their_quotes() -> None:
    guarded = guard("type 'a b' into \"c\"")
    assert guarded.plain == "type a b into c"
    assert guarded.part(guarded.text.split(" into ")[1]).only_literal == "c"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ue000\ue001")))
def test_a_quoted_text_reads_back_as_itself(text: str) -> None:
    assert guard(f"type {quote(text)} now").quotes == (text,)


@given(st.lists(st.sampled_from(["“a, b”", "'it'", "`x y`", "«c»", "and", "d.", "it's"]), max_size=40))
@settings(max_examples=100)
def test_other_kinds_of_quotes_are_written_back_as_plain_ones(words: list[str]) -> None:
    guarded = guard(" ".join(words))
    assert guard(guarded.quoted).plain == guarded.plain
    assert guard(guarded.quoted).quotes == guarded.quotes


def test_many_quotes_that_are_never_closed_cost_little() -> None:
    started = time.process_time()
    guard(" 'a" * 7000 + ' "b' * 6000)
    assert time.process_time() - started < 5
