"""What is known of the places that a search has reached."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from aci.acting.actions import Hotkey
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from aci.observation.snapshot import Window
from agent_s.records import GroundedStep
from exploration.search.homes import HomeState
from exploration.search.places import Path, Places, Proof
from exploration.search.states import Look

WINDOW = Window(1, "note - Editor", "Editor", Rect(0, 0, 40, 30), active=True)
NONE = re.compile(r"(?!)")


def path(*keys: str) -> Path:
    return tuple(GroundedStep(action=Hotkey(keys=(key,)), intent=f"press {key}") for key in keys)


def look(files: Mapping[str, str] | None = None, title: str = WINDOW.title, **settings: str) -> Look:
    window = Window(1, title, "Editor", WINDOW.rect, active=True)
    home = HomeState(dict(files or {}), settings)
    return Look(Observation(np.zeros((30, 40, 3), np.uint8), (), (window,)), home, "/home/somebody")


def test_places_on_a_path_come_from_its_end() -> None:
    places = Places()
    for length in (0, 2):
        places.add(path("a", "b", "c")[:length], look())
    assert [len(place) for place, _ in places.along(path("a", "b", "c"))] == [2, 0]
    assert [len(place) for place, _ in places.along(path("a", "x"))] == [0]


def test_a_new_start_leaves_only_what_to_expect() -> None:
    places = Places()
    places.add(path("a"), look(title="A"))
    places.forget_looks()
    expected = places.expected(path("a"))
    assert not places and places.look(path("a")) is None
    assert expected is not None and expected.exact == look(title="A").exact


def test_the_oldest_places_but_the_start_are_forgotten() -> None:
    places = Places()
    places.add((), look())
    for number in range(60):
        places.add(path(str(number)), look())
    assert places.look(()) is not None and places.look(path("0")) is None and places.look(path("59")) is not None


def test_another_title_is_no_proof() -> None:
    assert Places().proof(look(), look(title="*note - Editor"), strict=False, may_be_greyed=NONE) is None


def test_hidden_files_are_by_products_once_they_had_several_contents() -> None:
    places = Places()
    first, second, third = (look({".history": digest}) for digest in "abc")
    assert places.proof(first, second, strict=True, may_be_greyed=NONE) is None
    assert places.proof(first, second, strict=False, may_be_greyed=NONE) == Proof(exact=False)
    assert places.proof(first, third, strict=True, may_be_greyed=NONE) == Proof(exact=True)
    assert places.by_products == {".history"}
    assert places.proof(first, look({"saved.txt": "a"}), strict=False, may_be_greyed=NONE) is None


def test_settings_that_were_switched_are_accepted_at_every_place() -> None:
    places = Places()
    places.add((), look(wrap="false", font="9"))
    places.accept({"wrap"}, HomeState(settings={"wrap": "true", "font": "12"}))
    known = places.look(())
    assert known is not None and known.home.settings == {"wrap": "true", "font": "9"}


def test_a_menu_that_was_opened_again_is_known_for_all_its_entries_until_the_next_start() -> None:
    places, menu = Places(), look()
    places.add_reopened(path("View", "Zoom", "50%"), 1, menu)
    assert places.reopened(path("View", "Zoom", "75%"), 1) is menu
    assert places.reopened(path("View", "Zoom", "75%"), 2) is None
    assert places.reopened(path("View", "Rulers"), 1) is None
    places.forget_looks()
    assert places.reopened(path("View", "Zoom", "75%"), 1) is None


def test_few_menus_that_were_opened_again_are_kept() -> None:
    places = Places()
    for number in range(100):
        places.add_reopened(path(f"menu {number}", "entry"), 1, look())
    kept = [number for number in range(100) if places.reopened(path(f"menu {number}", "entry"), 1) is not None]
    assert 1 < len(kept) < 50 and kept[-1] == 99
