from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aci.observation.geometry import Rect
from aci.observation.observation import Window
from aci.observation.window_pictures import WindowPictures

MAIN = Window(1, "Sheet", "app", Rect(0, 0, 320, 240), pid=7)
MENU = Window(2, "", "app", Rect(32, 32, 96, 128), popup=True, pid=7)
WITHIN = Rect(48, 48, 16, 16)  # a place under the menu


def frame(*painted: tuple[Rect, int]) -> NDArray[np.uint32]:
    picture = np.zeros((256, 384), np.uint32)
    for rect, color in ((MAIN.rect, 0xFFFFFF), *painted):
        picture[rect.y : rect.bottom, rect.x : rect.right] = color
    return picture


PLAIN, COVERED = frame(), frame((MENU.rect, 0x808080))


def after_menu(uncovered: NDArray[np.uint32]) -> tuple[Rect, ...] | None:
    pictures = WindowPictures()
    assert pictures.changed(PLAIN, [MAIN]) is None, "nothing was seen before"
    assert pictures.changed(COVERED, [MENU, MAIN]) == (MENU.rect,)
    return pictures.changed(uncovered, [MAIN])


def test_what_looks_as_before_it_was_covered_has_not_changed() -> None:
    assert after_menu(PLAIN) == ()


def test_what_changed_while_it_was_covered_has_changed() -> None:
    assert after_menu(frame((WITHIN, 0xFF))) == (WITHIN,)


def test_what_changed_beside_a_menu_has_changed_once() -> None:
    beside = Rect(160, 160, 32, 16)
    pictures = WindowPictures()
    pictures.changed(PLAIN, [MAIN])
    assert pictures.changed(frame((MENU.rect, 0x808080), (beside, 0xFF)), [MENU, MAIN]) == (MENU.rect, beside)
    assert pictures.changed(frame((beside, 0xFF)), [MAIN]) == ()


def test_what_was_never_in_view_has_changed() -> None:
    pictures = WindowPictures()
    pictures.changed(COVERED, [MENU, MAIN])
    assert pictures.changed(PLAIN, [MAIN]) == (MENU.rect,)


def test_window_that_was_gone_is_new() -> None:
    pictures = WindowPictures()
    for picture, windows in ((PLAIN, [MAIN]), (COVERED, [MENU, MAIN]), (PLAIN, [MAIN])):
        pictures.changed(picture, windows)
    assert pictures.changed(COVERED, [MENU, MAIN]) == (MENU.rect,)


def test_window_that_has_moved_is_new() -> None:
    moved = Window(1, "Sheet", "app", Rect(16, 0, 320, 240), pid=7)
    pictures = WindowPictures()
    pictures.changed(COVERED, [MENU, MAIN])
    assert pictures.changed(PLAIN, [moved]) == (moved.rect,)


def test_two_windows_that_lie_over_each_other_in_turn_show_what_they_did() -> None:
    other = Window(3, "Dialog", "app", Rect(64, 64, 128, 96), pid=7)
    above, below = frame((other.rect, 0xFF)), frame()
    pictures = WindowPictures()
    pictures.changed(above, [other, MAIN])
    assert pictures.changed(below, [MAIN, other]) == (other.rect,), "the main window was not seen there before"
    assert pictures.changed(above, [other, MAIN]) == ()
    assert pictures.changed(below, [MAIN, other]) == ()


def test_after_forgetting_everything_may_have_changed() -> None:
    pictures = WindowPictures()
    pictures.changed(PLAIN, [MAIN])
    pictures.forget()
    assert pictures.changed(PLAIN, [MAIN]) is None


def test_screen_of_another_size_may_have_changed_everywhere() -> None:
    pictures = WindowPictures()
    pictures.changed(PLAIN, [MAIN])
    assert pictures.changed(np.zeros((256, 400), np.uint32), [MAIN]) is None


def test_pictures_are_kept_of_the_topmost_windows_only() -> None:
    pages = [Window(number, "Page", "app", Rect(0, 0, 384, 256), pid=7) for number in range(8)]

    def in_front(place: int) -> tuple[Rect, ...] | None:
        order = [pages[place], *pages[:place], *pages[place + 1 :]]
        return pictures.changed(np.full((256, 384), place, np.uint32), order)

    pictures = WindowPictures()
    for place in range(len(pages)):
        in_front(place)
    assert in_front(0) == ()
    assert in_front(5) == (Rect(0, 0, 384, 256),)
