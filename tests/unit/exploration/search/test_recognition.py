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
ENTRY = Rect(60, 60, 80, 20)
MENU = Window(2, "", "Editor", Rect(50, 50, 100, 100), popup=True)


def element(number: int, rect: Rect, role: str = "push button", window: Window = MAIN) -> Element:
    return Element(
        id=number, role=role, name=f"Number {number}", rect=rect, point=rect.center, window_id=window.id,
        app="Editor", path=("frame:note - Editor",),
    )  # fmt: skip


def shown(*drawn: Rect, windows: tuple[Window, ...] = (MAIN,), pointer: Point | None = None) -> Observation:
    pixels = np.full((200, 300, 3), 10, np.uint8)
    for rect in drawn:
        pixels[rect.y : rect.bottom, rect.x : rect.right] = 200
    elements = [element(1, BUTTON), element(2, OTHER)]
    elements += [element(3, ENTRY, "menu item", MENU)] if MENU in windows else []
    return Observation(pixels, tuple(elements), windows, pointer=pointer)


def recognizes(
    known: Observation,
    seen: Observation,
    pointed: Rect | None = None,
    menus_only: bool = False,
    besides: tuple[Rect, ...] = (),
) -> Recognition:
    look = Look(known, HomeState(settings={"wrap": "false"}), "/home/somebody")
    return Recognition(lambda: seen, look, lambda: pointed, menus_only, besides=besides)


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


def test_menus_that_are_drawn_inside_of_a_window_are_compared_with_all_around_them() -> None:
    entry = replace(element(3, ENTRY, "menu item"), path=("frame:note - Editor", "popup menu:"))
    known = shown(ENTRY)
    known = replace(known, elements=(*known.elements, entry))
    assert not recognizes(known, shown(), menus_only=True)()
    assert recognizes(known, shown(ENTRY), menus_only=True)()


def test_an_entry_that_is_about_to_be_chosen_may_look_otherwise() -> None:
    known, seen = shown(MENU.rect, windows=(MENU, MAIN)), shown(MENU.rect, windows=(MENU, MAIN))
    seen.screenshot[ENTRY.y : ENTRY.bottom, ENTRY.x : ENTRY.x + 20] = 90
    assert not recognizes(known, seen, menus_only=True)()
    assert recognizes(known, seen, menus_only=True, besides=(ENTRY,))()


def test_what_is_below_recognized_menus_is_that_of_the_look_before() -> None:
    known = Look(shown(windows=(MENU, MAIN)), HomeState(), "/home/somebody")
    below = shown(OTHER)
    greyed = replace(below.elements[0], states=frozenset({"disabled"}))
    below = replace(below, elements=(greyed, *below.elements[1:]))
    seen = shown(OTHER, windows=(MENU, MAIN), pointer=ENTRY.center)
    look = known.menus_over(Look(below, HomeState(), "/home/somebody"), seen)
    assert [(each.id, each.states) for each in look.observation.elements] == [
        (3, frozenset()),
        (1, {"disabled"}),
        (2, frozenset()),
    ]
    assert (look.observation.windows, look.observation.pointer) == ((MENU, MAIN), ENTRY.center)
    assert look.menus == {MENU.id} and look.in_menus == known.in_menus


def test_settings_count_unless_they_are_ignored() -> None:
    look = Look(shown(), HomeState(settings={"wrap": "false"}), "/home/somebody")
    other = HomeState(settings={"wrap": "true"})
    assert not Recognition(shown, look, lambda: None).has_home(other)
    assert Recognition(shown, look, lambda: None, ignored=frozenset({"wrap"})).has_home(other)
