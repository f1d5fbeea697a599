from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements import extraction
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.elements.kept_drafts import WIDE, KeptDrafts
from aci.accessibility.elements.placement import mark_active_cells
from aci.accessibility.roles import INTERACTIVE, READ_AS_TEXT
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.trees import SCREEN, SEEN, WINDOW, application, frame, node

BOXES = [Rect(10, 20 * row, 60, 18) for row in range(WIDE)]
POPUP = Window(2, "", "app", Rect(0, 0, 500, 400), popup=True, pid=7)


def drafts(known: Application, kept: KeptDrafts, windows: Sequence[Window] = (WINDOW,)) -> list[Draft]:
    found = draft_elements(known, known.tops[0], WINDOW, windows, SCREEN, kept)
    mark_active_cells(found)
    return found


def bar() -> tuple[Application, Node]:
    made = node("tool bar", "Tools", Rect(0, 0, 200, 300), *(node("push button", "Cut", box) for box in BOXES))
    return application(frame(made, node("label", "Ready", Rect(10, 350, 60, 18)))), made


def test_drafts_of_an_unchanged_part_stay_the_same_objects() -> None:
    known, _ = bar()
    kept = KeptDrafts()
    first = drafts(known, kept)
    known.tops[0].children[1].name = "Done"
    second = drafts(known, kept)
    assert [one is other for one, other in zip(first, second, strict=True)] == [True] * WIDE + [False]


CHANGES: dict[str, Callable[[Node], object]] = {
    "name": lambda bar: setattr(bar.children[3], "name", "Paste"),
    "state": lambda bar: setattr(bar.children[3], "states", SEEN | StateBit.FOCUSED.value),
    "place": lambda bar: setattr(bar.children[3], "rect", Rect(10, 60, 50, 18)),
    "description": lambda bar: setattr(bar.children[3], "description", "Cut it"),
    "child": lambda bar: bar.children.pop(),
    "container": lambda bar: setattr(bar, "rect", Rect(0, 0, 200, 90)),
    "attribute": lambda bar: setattr(bar.children[3], "attributes", {"placeholder-text": "here"}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_change_within_a_part_shows(change: Callable[[Node], object]) -> None:
    known, made = bar()
    kept = KeptDrafts()
    before = [replace(each) for each in drafts(known, kept)]
    change(made)
    after = drafts(known, kept)
    assert after == drafts(known, KeptDrafts())
    assert after != before


def test_drafts_of_what_is_gone_are_dropped() -> None:
    known, made = bar()
    kept = KeptDrafts()
    [first, *_] = drafts(known, kept)
    kept.forget_the_gone(known)
    assert drafts(known, kept)[0] is first
    gone = known.nodes.pop(made.ref)
    kept.forget_the_gone(known)
    known.nodes[made.ref] = gone
    assert drafts(known, kept)[0] is not first


def test_change_of_a_label_elsewhere_shows() -> None:
    label = node("label", "Name", Rect(300, 10, 60, 18))
    fields = [node("text", "", box, text="", labels=(label.ref,)) for box in BOXES]
    known = application(frame(node("panel", "", Rect(0, 0, 200, 300), *fields), label))
    kept = KeptDrafts()
    assert drafts(known, kept)[0].label == "Name"
    label.name = "Street"
    assert drafts(known, kept)[0].label == "Street"


def test_drafts_refer_to_the_nodes_of_the_latest_reading() -> None:
    known, made = bar()
    kept = KeptDrafts()
    drafts(known, kept)
    read_again = [replace(each, shortcut="Ctrl+X") for each in made.children]
    made.children = read_again
    known.nodes.update({each.ref: each for each in read_again})
    found = drafts(known, kept)
    assert all(draft.node is each for draft, each in zip(found, read_again, strict=False))


def test_what_ancestors_have_changed_is_not_kept() -> None:
    cells = [
        node("table cell", "", Rect(0, 40 + 20 * row, 80, 20), cell=(row, 0), text="", states=SEEN)
        for row in range(WIDE)
    ]
    place = node("text", "", Rect(0, 0, 80, 20), text="A1")
    known = application(frame(place, node("table", "Sheet", Rect(0, 40, 80, 200), *cells)))
    kept = KeptDrafts()
    for name, chosen in (("A1", [0]), ("A2:A3", [1, 2]), ("A1", [0])):
        place.text = name
        found = [draft for draft in drafts(known, kept) if draft.role == "table cell"]
        assert [row for row, draft in enumerate(found) if "selected" in draft.states] == chosen


def test_entries_belong_to_the_popup_that_shows_now() -> None:
    entries = [node("menu item", f"Entry {row}", box) for row, box in enumerate(BOXES)]
    known = application(frame(node("menu", "Edit", Rect(0, 0, 60, 18), *entries)))
    kept = KeptDrafts()
    for windows, owner in (((WINDOW,), 1), ((POPUP, WINDOW), 2), ((WINDOW,), 1)):
        found = drafts(known, kept, windows)
        assert {draft.window.id for draft in found if draft.role == "menu item"} == {owner}


ROLES = st.sampled_from(sorted(INTERACTIVE | READ_AS_TEXT | {"panel", "combo box", "page tab list", "document frame"}))
PLACES = st.builds(Rect, st.integers(0, 90), st.integers(0, 90), st.integers(1, 80), st.integers(1, 80))
WORDS = st.sampled_from(["", "Save", "Open file", "1"])
STATES = st.sampled_from([SEEN, SEEN | StateBit.FOCUSED.value, SEEN | StateBit.EXPANDABLE.value, 0])
TREES = st.recursive(
    st.builds(lambda role, name, rect: node(role, name, rect), ROLES, WORDS, PLACES),
    lambda inner: st.builds(
        lambda role, name, rect, children: node(role, name, rect, *children),
        ROLES, WORDS, PLACES, st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.integers(0, 30), st.one_of(
        st.tuples(st.just("name"), WORDS), st.tuples(st.just("text"), st.none() | WORDS),
        st.tuples(st.just("rect"), st.none() | PLACES), st.tuples(st.just("states"), STATES),
        st.tuples(st.just("role"), ROLES),
    )),
    max_size=4,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=3), EDITS, st.sampled_from(["gtk 3", "GTK 4.8", "Qt 5", "VCL"]))
def test_kept_drafts_are_those_that_are_made_anew(
    trees: list[Node], edits: list[tuple[int, tuple[str, object]]], toolkit: str
) -> None:
    known = application(node("frame", "App", Rect(0, 0, 200, 200), *trees), toolkit=toolkit)
    kept = KeptDrafts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "WIDE", 0)
        drafts(known, kept)
        for at, (field, value) in edits:
            nodes = [each for each in known.nodes.values() if each is not known.tops[0]]
            setattr(nodes[at % len(nodes)], field, value)
            assert drafts(known, kept) == drafts(known, KeptDrafts())
