from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aci.observation.geometry import Rect
from aci.observation.sightings import Sighting
from aci.observation.tracking import REMEMBERED, IdTracker


def sighting(key: str, looks: str = "ok", x: int = 0) -> Sighting:
    return Sighting(key, looks, Rect(x, 0, 10, 10))


def test_object_keeps_its_id_wherever_it_moves() -> None:
    tracker = IdTracker()
    first = tracker.assign([sighting("a"), sighting("b", "cancel")])
    assert tracker.assign([sighting("b", "cancel", 500), sighting("a", "renamed", 300)]) == first[::-1]


def test_object_that_comes_back_has_its_id_again() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("a")])
    tracker.assign([])
    assert tracker.assign([sighting("a")]) == [first]


def test_recreated_object_in_the_same_place_keeps_the_id() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("new", x=103)]) == [first]


def test_object_that_looks_different_or_is_far_away_is_new() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("other", "delete", 100)]) != [first]
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("new", x=400)]) != [first]


def test_both_old_and_new_present_are_two() -> None:
    tracker = IdTracker()
    tracker.assign([sighting("old")])
    assert len(set(tracker.assign([sighting("old"), sighting("new", x=1)]))) == 2


def inside(key: str, says: str = "", place: int = 0, item: str = "", looks: str = "") -> Sighting:
    """Return something in a list, within one of its items if that is named."""
    items = (item,) if item else ()
    return Sighting(key, looks or says, Rect(0, place * 20, 10, 10), says, ("window", "list", *items), items)


def row(key: str, says: str, place: int) -> list[Sighting]:
    """Return a row of a list with a text, a button "Like", and one without a name."""
    parts = ((f"{key} text", says), (f"{key} like", "Like"), (f"{key} icon", ""))
    return [inside(part, text, place, key, text) for part, text in parts]


def rows(*texts: str, keys: str = "abcdef") -> list[Sighting]:
    return [one for place, (key, text) in enumerate(zip(keys, texts, strict=False)) for one in row(key, text, place)]


def test_indistinguishable_objects_get_new_ids_when_they_are_recreated() -> None:
    tracker = IdTracker()
    before = tracker.assign([sighting("l", x=0), sighting("r", x=30)])
    assert not set(tracker.assign([sighting("r2", x=31), sighting("l2", x=1)])) & set(before)


def test_objects_recreated_behind_the_same_picture_keep_their_ids() -> None:
    tracker = IdTracker()
    before = tracker.assign(rows("Pause", "Pause", ""))
    assert tracker.assign(rows("Pause", "Pause", "", keys="uvw"), still=["window"]) == before
    assert set(tracker.assign(rows("Pause", "Pause", "", keys="xyz"))).isdisjoint(before)


def test_rows_drawn_with_the_objects_of_others_are_others() -> None:
    tracker = IdTracker()
    before = tracker.assign(rows("Ann 1", "Bob 2", "Cid 3"))
    after = tracker.assign(rows("Dan 4", "Eve 5", "Fay 6"))
    assert not set(before) & set(after)


def test_ids_follow_rows_that_move_up_into_the_objects_of_others() -> None:
    tracker = IdTracker()
    before = tracker.assign(rows("Ann 1", "Bob 2", "Cid 3"))
    after = tracker.assign(rows("Bob 2", "Cid 3", "Dan 4"))
    assert after[:6] == before[3:]
    assert not set(after[6:]) & set(before)


def test_recreated_rows_and_their_contents_keep_their_ids() -> None:
    tracker = IdTracker()
    before = tracker.assign(rows("Ann 1", "Bob 2", "Cid 3"))
    assert tracker.assign(rows("Ann 1", "Bob 2", "Cid 3", keys="xyz")) == before


def test_recreated_paragraphs_keep_their_ids_by_their_texts_while_others_move() -> None:
    def document(texts: list[str], keys: str, moved: int) -> list[Sighting]:
        """Return paragraphs, of which the later ones have moved."""
        return [
            Sighting(
                key, "paragraph", Rect(0, 20 * at + (15 if at >= moved else 0), 99, 10), text, ("window", "document")
            )
            for at, (key, text) in enumerate(zip(keys, texts, strict=True))
        ]

    texts = ["Gardens", "About roofs", "About parks", "Outlook", "Thanks"]
    tracker = IdTracker()
    before = tracker.assign(document(texts, "abcde", moved=5))
    assert tracker.assign(document(texts, "xyzde", moved=2)) == before
    tracker = IdTracker()
    before = tracker.assign(document(["-", "-", "Outlook", "Parks", "Thanks"], "abcde", moved=5))
    after = tracker.assign(document(["-", "-", "Outlook", "Parks", "Thanks"], "xycde", moved=2))
    assert after[2:] == before[2:] and not set(after[:2]) & set(before)


def test_a_row_of_which_one_value_changes_keeps_its_ids() -> None:
    def process(load: str) -> list[Sighting]:
        return [inside(f"p {text[:4]}", text, 0, "p", "cell") for text in ("firefox", "1234", load)]

    tracker = IdTracker()
    assert tracker.assign(process("12%")) == tracker.assign(process("15%"))


def test_a_post_that_uses_a_word_of_another_is_another() -> None:
    def post(key: str, title: str, text: str) -> list[Sighting]:
        said = (title, text, "Like")
        return [inside(f"{key} {n}", one, n, key, one if n == 2 else str(n)) for n, one in enumerate(said)]

    tracker = IdTracker()
    before = tracker.assign(post("a", "Nettle", "story 1") + post("b", "Pine", "story 2"))
    after = tracker.assign(post("c", "Iris", "story 3 of a nettle") + post("d", "Fern", "story 4 of a pine"))
    assert not set(after) & set(before)


def test_buttons_without_names_follow_their_labels() -> None:
    def day(first: int) -> list[Sighting]:
        labels = [inside(f"label {place}", f"{first + place} h", place, looks="label") for place in range(4)]
        return [*labels, *(inside(f"slot {place}", "", place, looks="slot") for place in range(4))]

    tracker = IdTracker()
    before = tracker.assign(day(8))
    assert tracker.assign(day(8)) == before
    assert not set(tracker.assign(day(10))[4:]) & set(before)


def test_a_button_that_changes_its_name_among_others_stays() -> None:
    def bar(first: str, *others: str) -> list[Sighting]:
        return [inside(f"b{place}", text, place) for place, text in enumerate((first, *others))]

    tracker = IdTracker()
    before = tracker.assign(bar("Play", "Next", "Back", "Queue"))
    assert tracker.assign(bar("Pause", "Next", "Back", "Queue")) == before
    assert tracker.assign(bar("Next", "Back", "Queue", "Volume"))[0] != before[0]


def test_only_field_of_a_window_stays_whatever_is_around_it() -> None:
    tracker = IdTracker()
    field = replace(inside("field"), silent=True)
    [_, first] = tracker.assign([inside("a", "one", 1), field])
    assert (
        tracker.assign([inside("b", "two", 2), inside("c", "three", 3), replace(field, rect=Rect(9, 9, 9, 9))])[2]
        == first
    )


def test_what_has_lasting_names_keeps_its_id_whatever_is_around_it() -> None:
    cell = Sighting("A1", "cell", Rect(0, 0, 5, 5), "A1 12", ("window", "sheet"), lasting=True)
    tracker = IdTracker()
    [first] = tracker.assign([cell])
    assert tracker.assign([replace(cell, says="A1 99")]) == [first]


def test_what_is_gone_for_long_is_forgotten() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("a")])
    for _ in range(3 * REMEMBERED):
        tracker.assign([])
    assert tracker.assign([sighting("a")]) != [first]


def test_predecessor_that_returns_does_not_share_the_id() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old")])
    assert tracker.assign([sighting("new")]) == [first]
    ids = tracker.assign([sighting("new"), sighting("old")])
    assert ids[0] == first
    assert ids[1] != first


@given(st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 300)), max_size=6), max_size=8))
def test_ids_are_unique_at_any_time_and_never_mean_two_looks_at_once(steps: list[list[tuple[int, int, int]]]) -> None:
    tracker = IdTracker()
    for step in steps:
        seen = {key: Sighting(key, looks, Rect(x, 0, 10, 10)) for key, looks, x in step}
        ids = tracker.assign(list(seen.values()))
        assert len(set(ids)) == len(ids)
