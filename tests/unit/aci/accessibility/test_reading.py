from __future__ import annotations

import pytest

from aci.accessibility.reading import Documents

FIRST, SECOND, BAR = (":1.5", "/first"), (":1.5", "/second"), (":1.5", "/bar")


@pytest.mark.parametrize(
    ("before", "now", "is_loading"),
    [
        (Documents(frozenset({FIRST})), Documents(frozenset(), frozenset({SECOND})), True),
        (Documents(frozenset({FIRST})), Documents(frozenset({SECOND})), False),
        (Documents(frozenset({FIRST})), Documents(frozenset({FIRST}), frozenset({BAR})), False),  # beside the page
        (Documents(frozenset({FIRST}), frozenset({BAR})), Documents(frozenset(), frozenset({BAR})), False),  # closed
        (Documents(), Documents(frozenset(), frozenset({FIRST})), False),  # started with an empty page
    ],
)
def test_a_page_that_gave_way_to_one_without_content_is_loading(
    before: Documents, now: Documents, is_loading: bool
) -> None:
    assert now.is_loading(before) is is_loading
