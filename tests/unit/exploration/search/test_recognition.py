"""Known places are recognized by windows and pixels alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation
from aci.observation.snapshot import Window
from exploration.search.homes import HomeState
from exploration.search.recognition import Recognition
from exploration.search.states import Look

BUTTON, OTHER = Rect(10, 20, 40, 30), Rect(200, 20, 40, 30)
MAIN = Window(1, "note - Editor", "Editor", Rect(0, 0, 300, 200), active=True)
MENU = Window(2, "", "Editor", Rect(50, 50, 100, 100), popup=True)


def element(number: int, rect: Rect) -> Element:
    return Element(
        id=number, role="push button", name=f"Button {number}", rect=rect, point=rect.center, window_id=1,
        app="Editor", path=("frame:note - Editor",),
    )  # fmt: skip


def shown(*drawn: Rect, windows: tuple[Window, ...] = (MAIN,), pointer: Point | None = None) -> Observation:
    pixels = np.full((200, 300, 3), 10, np.uint8)
    for rect in drawn:
        pixels[rect.y : rect.bottom, rect.x : rect.right] = 200
    return Observation(pixels, (element(1, BUTTON), element(2, OTHER)), windows, pointer=pointer)


def recognizes(
    known: Observation, seen: Observation, pointed: Rect | None = None, menus_only: bool = False
) -> Recognition:
    look = Look(known, HomeState(settings={"wrap": "false"}), "/home/somebody")
    return Recognition(lambda: seen, look, lambda: pointed, menus_only)


def test_the_same_picture_is_recognized_with_other_window_ids() -> None:
    later = replace(MAIN, id=9)
    found = recognizes(shown(BUTTON), shown(BUTTON, windows=(later,)))
    assert found() and found.has_windows
    assert not found.has_same_ids((later,))


def test_another_picture_and_another_window_are_not() -> None:
    assert not recognizes(shown(BUTTON), shown())()
    titled = recognizes(shown(BUTTON), shown(BUTTON, windows=(replace(MAIN, title="draft - Editor"),)))
    assert not titled() and not titled.has_windows


def test_a_button_under_the_pointer_may_be_lit_up_but_not_the_one_that_was_clicked() -> None:
    known, seen = shown(pointer=Point(150, 180)), shown(BUTTON, pointer=BUTTON.center)
    assert recognizes(known, seen)()
    assert not recognizes(known, seen, pointed=BUTTON)()
    assert not recognizes(known, shown(BUTTON, OTHER, pointer=BUTTON.center))()


def test_what_has_changed_below_menus_does_not_count_where_only_they_are_compared() -> None:
    known, seen = shown(MENU.rect, windows=(MENU, MAIN)), shown(MENU.rect, OTHER, windows=(MENU, MAIN))
    assert not recognizes(known, seen)()
    assert recognizes(known, seen, menus_only=True)()
    other_entries = shown(Rect(60, 60, 50, 20), windows=(MENU, MAIN))
    assert not recognizes(known, other_entries, menus_only=True)()


def test_settings_count_unless_they_are_ignored() -> None:
    look = Look(shown(), HomeState(settings={"wrap": "false"}), "/home/somebody")
    other = HomeState(settings={"wrap": "true"})
    assert not Recognition(shown, look, lambda: None).has_home(other)
    assert Recognition(shown, look, lambda: None, ignored=frozenset({"wrap"})).has_home(other)
