"""Whatever applications say of where things are: elements lie on the screen, once, and can be hit where they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.elements.placement import place_elements
from aci.accessibility.roles import INTERACTIVE, READ_AS_TEXT
from aci.accessibility.tree.capture import bound_tree
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Point, Rect
from aci.observation.marks import draw_marks
from aci.observation.observation import Element, Observation, Window
from aci.observation.tracking import IdTracker
from aci.ocr.merge import merge, weave
from aci.ocr.repeats import Found, contains_text
from tests.unit.aci.accessibility.trees import application, node

SCREEN = Rect(0, 0, 300, 200)
NUMBER = st.integers(-50, 350) | st.integers(-(2**31), 2**31 - 1)
SIZE = st.integers(0, 300) | st.integers(0, 2**31 - 1)
RECTS = st.builds(Rect, NUMBER, NUMBER, SIZE, SIZE)
NEAR = st.builds(Rect, st.integers(-20, 290), st.integers(-20, 190), st.integers(1, 150), st.integers(1, 90))
ROLES = st.sampled_from(sorted(INTERACTIVE | READ_AS_TEXT | {"panel", "document web", "section", "image"}))
TREES = st.recursive(
    st.builds(node, ROLES, st.text(max_size=5), st.none() | RECTS | NEAR),
    lambda inner: st.builds(
        lambda role, rect, children: node(role, "", rect, *children), ROLES, NEAR, st.lists(inner, max_size=4)
    ),
    max_leaves=15,
)
WINDOWS = st.lists(st.builds(lambda rect, popup: (rect, popup), NEAR, st.booleans()), min_size=1, max_size=4).map(
    lambda found: [Window(n, "App", "app", rect, popup=popup, pid=7) for n, (rect, popup) in enumerate(found)]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(TREES, max_size=4), WINDOWS, st.sampled_from(["gtk 3", "GTK 4.8", "Chromium 1", "VCL"]))
def test_elements_lie_on_the_screen_once_and_are_hit_where_they_say(
    trees: list[Node], windows: list[Window], toolkit: str
) -> None:
    top = node("frame", "App", windows[-1].rect, *trees)
    known = application(top, toolkit=toolkit)
    bound_tree(known)
    drafts = draft_elements(known, top, windows[-1], windows, SCREEN)
    elements, by_id, _ = place_elements([(draft, "app") for draft in drafts], windows, SCREEN, IdTracker())
    above = {window.id: [each.rect for each in windows[:place]] for place, window in enumerate(windows)}
    for element in elements:
        assert SCREEN.intersection(element.rect) == element.rect
        assert element.point is not None
        assert element.rect.contains(element.point)
        assert by_id[element.id].area.contains(element.point)
        assert not any(cover.contains(element.point) for cover in above[element.window_id])
    assert len({element.id for element in elements}) == len(elements)
    assert len({by_id[element.id].node.ref for element in elements}) == len(elements)


WORDS = st.sampled_from(["Save", "Open file", "Cancel", "é中", "1", ""])
TREE_ELEMENTS = st.lists(
    st.tuples(NEAR, WORDS, st.sampled_from(["push button", "label", "entry", "panel"]), st.integers(1, 2)), max_size=8
).map(lambda found: [Element(n, role, name, rect, rect.center, w) for n, (rect, name, role, w) in enumerate(found, 1)])
READ = st.lists(st.builds(Found, NEAR, WORDS.filter(bool), st.integers(1, 2)), max_size=8)


@given(TREE_ELEMENTS, READ)
def test_merging_loses_no_element_and_repeats_no_text(elements: list[Element], found: list[Found]) -> None:
    merged = merge(elements, found)
    assert [each.id for each in merged.elements] == [each.id for each in elements]
    for before, after in zip(elements, merged.elements, strict=True):
        assert replace(after, name=before.name) == before
        assert after.name == before.name or not before.name
    assert not Counter(merged.texts) - Counter(found)
    for text in merged.texts:
        same_place = [e for e in elements if e.rect == text.rect and e.window_id == text.window_id]
        assert not any(e.name and contains_text(e.name, text.text) for e in same_place)


@given(TREE_ELEMENTS, READ)
def test_weaving_keeps_everything_once_and_elements_in_their_order(elements: list[Element], found: list[Found]) -> None:
    texts = [Element(100 + n, "text line", f.text, f.rect, f.rect.center, f.window_id) for n, f in enumerate(found)]
    windows = [Window(n, "", "", SCREEN) for n in (2, 1)]
    woven = weave(elements, texts, windows)
    assert Counter(each.id for each in woven) == Counter(each.id for each in (*elements, *texts))
    for window in windows:
        inside = [each.id for each in woven if each.window_id == window.id and each.id < 100]
        assert inside == [each.id for each in elements if each.window_id == window.id]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(NEAR | RECTS, st.integers(0, 10**9), st.booleans()), max_size=12),
    st.sampled_from([(200, 300), (1, 1), (7, 500)]),
)
def test_marks_can_be_drawn_for_anything(found: list[tuple[Rect, int, bool]], shape: tuple[int, int]) -> None:
    picture = np.full((*shape, 3), 128, np.uint8)
    elements = tuple(
        Element(number, "push button", "", rect, rect.center if shown else None, 1) for rect, number, shown in found
    )
    drawn = draw_marks(Observation(picture, elements, ()))
    assert drawn.shape == picture.shape
    assert drawn.dtype == np.uint8
    assert (picture == 128).all()


@given(RECTS, RECTS)
def test_cutting_leaves_disjoint_parts_of_the_right_size(one: Rect, other: Rect) -> None:
    parts = one.subtract(other)
    common = one.intersection(other)
    assert common == other.intersection(one)
    assert sum(part.area for part in parts) + (common.area if common else 0) == one.area
    assert all(part.intersection(other) is None and one.intersection(part) == part for part in parts)
    assert all(a.intersection(b) is None for n, a in enumerate(parts) for b in parts[:n])


@given(RECTS, st.integers(-(2**31), 2**31), st.integers(-(2**31), 2**31))
def test_moving_keeps_the_size_and_can_be_undone(rect: Rect, dx: int, dy: int) -> None:
    assert rect.moved(dx, dy).moved(-dx, -dy) == rect
    assert not rect.area or rect.contains(rect.center)
    assert rect.contains(Point(rect.x, rect.y)) == bool(rect.area)
