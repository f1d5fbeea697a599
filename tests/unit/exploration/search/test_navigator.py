"""Ways in an application, on a made-up one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from aci.acting.actions import Action, Click
from aci.acting.settle import Settles
from aci.desktop.desktop import ActionResult
from aci.errors import LaunchFailed
from aci.observation.observation import Element, Observation
from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.search.controls import offer
from exploration.search.navigator import Navigator, Trouble
from exploration.search.states import Look
from tests.unit.exploration.an_app import FakeEditor


class Watched(FakeEditor):
    """Counts how often its applications are asked for what they show."""

    asked = 0

    def observe(self, *, check: bool = True) -> Observation:
        self.asked += 1
        return super().observe(check=check)

    def glimpse(self) -> Observation:
        self.asked -= 1  # the made-up one draws a glimpse by observing
        return super().glimpse()


class Renewing(FakeEditor):
    """Makes the entries of a menu anew each time it opens, so that they have other ids."""

    opened = 0

    def _click(self, element: Element) -> None:
        super()._click(element)
        self.opened += element.role == "menu"

    def _in_menu(self) -> list[Element]:
        return [replace(each, id=each.id + 1000 * self.opened) for each in super()._in_menu()]

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        if isinstance(action, Click):  # what is at the place of the element
            now = {each.id % 1000: each.id for each in self.observe(check=False).elements}
            action = action.model_copy(update={"element_id": now[(action.element_id or 0) % 1000]})
        return super().perform(action, settle)


class Silent(FakeEditor):
    """Answers a quick look after a click with nothing, since it is busy; a look that is checked waits for it."""

    busy = False

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        result = super().perform(action, settle)
        self.busy = True
        return result

    def observe(self, *, check: bool = True) -> Observation:
        seen = super().observe(check=check)
        return seen if check or not self.busy else replace(seen, elements=())


def navigator(editor: FakeEditor) -> Navigator:
    ticks = count()
    return Navigator(editor, ("editor",), clock=lambda: next(ticks) / 100, pause=lambda seconds: None)


@pytest.mark.parametrize("crashes", [1, 2])
def test_application_that_crashes_at_its_first_start_is_started_once_more(tmp_path: Path, crashes: int) -> None:
    class Crashing(FakeEditor):
        tried = 0

        def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> object:
            self.tried += 1
            if self.tried <= crashes:
                raise LaunchFailed("it ended with status 134")
            return super().launch(argv, wait_for_window=wait_for_window)

    editor = Crashing(tmp_path)
    if crashes == 1:
        assert navigator(editor).restart().candidates
    else:
        with pytest.raises(ApplicationUnusable, match="status 134"):
            navigator(editor).restart()
    assert editor.tried == 2


def test_application_that_does_not_start_again_at_once_is_tried_for_a_while(tmp_path: Path) -> None:
    class Lingering(FakeEditor):
        """Its port is not free at once."""

        refused = 0

        def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> object:
            if self.starts and self.refused < 3:
                self.refused += 1
                raise LaunchFailed("it ended with status 1")
            return super().launch(argv, wait_for_window=wait_for_window)

    editor = Lingering(tmp_path)
    way = navigator(editor)
    way.restart()
    assert way.restart().candidates
    assert editor.refused == 3


def step(look: Look, key: str) -> GroundedStep:
    found = next(each for each in look.candidates if each.control.key == key)
    return offer(found, look.observation, look.place).step


def followed(navigator: Navigator, *keys: str) -> tuple[GroundedStep, ...]:
    """Go along a way from a fresh start and return its steps."""
    look = navigator.restart()
    path: tuple[GroundedStep, ...] = ()
    for key in keys:
        path = (*path, step(look, key))
        arrived = navigator.go(path)
        assert isinstance(arrived, Look)
        look = arrived
    return path


def text_of(look: object) -> str | None:
    assert isinstance(look, Look)
    return next(each.text for each in look.observation.elements if each.role == "text")


def test_known_places_are_recognized_by_their_picture_without_asking_the_application(tmp_path: Path) -> None:
    editor = Watched(tmp_path)
    moving = navigator(editor)
    path = followed(moving, "menu:Edit", "menu item:Preferences...")
    asked, resumed = editor.asked, editor.resumed
    start = moving.go(())
    assert isinstance(start, Look) and not start.menus
    menu = moving.go(path[:1])
    assert isinstance(menu, Look) and menu.menus
    assert editor.resumed - resumed == 3, "the dialog was closed, nothing was done, and a menu was opened"
    assert editor.asked - asked <= 2, "only the made-up clicks ask, for what they hit"
    assert editor.clicked == ["Edit", "Preferences...", "Edit"]
    assert editor.starts == 1


@pytest.mark.parametrize("strict", [False, True])
def test_what_a_dialog_has_changed_is_noticed(tmp_path: Path, strict: bool) -> None:
    editor = FakeEditor(tmp_path, inserts=("Insert Note...",))
    moving = navigator(editor)
    followed(moving, "push button:Insert Note...")
    moving.strict, resumed = strict, editor.resumed
    assert text_of(moving.go(())) == "alpha beta"
    assert editor.resumed == resumed


def test_a_strict_proof_takes_more_than_a_picture(tmp_path: Path) -> None:
    editor = Watched(tmp_path)
    moving = navigator(editor)
    followed(moving, "menu:Edit", "menu item:Preferences...")
    moving.strict = True
    asked, resumed = editor.asked, editor.resumed
    assert isinstance(moving.go(()), Look)
    assert editor.resumed == resumed and editor.asked > asked


def test_files_count_although_no_picture_shows_them(tmp_path: Path) -> None:
    editor = FakeEditor(tmp_path)
    moving = navigator(editor)
    followed(moving, "menu:Edit", "menu item:Preferences...")
    (tmp_path / "saved.txt").write_text("by the dialog")
    resumed = editor.resumed
    assert isinstance(moving.go(()), Look)
    assert editor.starts == 2, "the file was left"
    assert editor.resumed == resumed


def test_a_place_is_recognized_where_nothing_was_done_since(tmp_path: Path) -> None:
    editor = Watched(tmp_path)
    moving = navigator(editor)
    path = followed(moving, "menu:Edit", "menu item:Preferences...")
    asked, resumed = editor.asked, editor.resumed
    assert isinstance(moving.go(path), Look)
    assert (editor.asked, editor.resumed) == (asked, resumed + 1)
    (tmp_path / "saved.txt").write_text("meanwhile")
    assert isinstance(moving.go(path), Look)
    assert editor.asked > asked, "the picture does not show the file"


def test_what_was_switched_in_a_dialog_is_not_taken_for_the_dialog_as_it_was(tmp_path: Path) -> None:
    editor = FakeEditor(tmp_path)
    moving = navigator(editor)
    path = followed(moving, "menu:Edit", "menu item:Preferences...")
    dialog = moving.go(path)
    assert isinstance(dialog, Look)
    assert isinstance(moving.act(step(dialog, "check box:Wrap lines"), dialog), Look)
    again = moving.go(path)
    assert isinstance(again, Look)
    assert [each.states for each in again.observation.elements if each.name == "Wrap lines"] == [{"checkable"}]
    assert editor.starts == 2, "what it has set was left"


def test_an_entry_that_is_made_anew_is_not_taken_for_gone(tmp_path: Path) -> None:
    moving = navigator(Renewing(tmp_path))
    path = followed(moving, "menu:View")
    assert isinstance(moving.go(()), Look)
    menu = moving.go(path)
    assert isinstance(menu, Look)
    opens = step(menu, "menu:Zoom")
    after = moving.act(opens, menu)
    assert isinstance(after, Look)
    assert moving.with_effect(opens, menu, after).state_after is not None


def test_a_menu_on_the_way_is_known_from_an_earlier_choice_when_it_is_opened_again(tmp_path: Path) -> None:
    editor = Watched(tmp_path, zooms=("50%", "75%"))  # the rest of the menus looks the same after either
    moving = navigator(editor)
    path = followed(moving, "menu:View", "menu:Zoom")
    menu = known = moving.go(path)
    resumed: dict[str, int] = {}
    for name in ("50%", "75%"):
        assert isinstance(menu, Look) and isinstance(known, Look)
        choice = step(menu, f"radio menu item:{name}")
        after = moving.follow(choice, menu)
        assert isinstance(after, Look) and not after.menus
        before = editor.resumed
        menu = moving.reopen((*path, choice), after)
        assert isinstance(menu, Look) and menu.in_menus.keys() == known.in_menus.keys()
        resumed[name] = editor.resumed - before
    assert resumed == {"50%": 0, "75%": 1}, "only the menu whose entries are read is asked for"


def test_a_way_back_that_takes_long_is_given_up(tmp_path: Path) -> None:
    editor = FakeEditor(tmp_path, dialogs=("Stay",))
    moving = navigator(editor)
    path = followed(moving, "menu:Edit")
    ticks = count()
    slow = Navigator(editor, ("editor",), clock=lambda: 1.5 * next(ticks), pause=lambda seconds: None)
    start = slow.restart()
    assert isinstance(start, Look)
    look = slow.go((step(start, "push button:Stay"),))
    assert isinstance(look, Look)
    slow.leave()
    starts = editor.starts
    assert isinstance(slow.go(path), Look)
    assert editor.starts == starts + 1


def test_a_control_that_does_not_come_is_waited_for_longer_while_an_application_is_at_work(tmp_path: Path) -> None:
    waited = []
    for works in (False, True):
        editor = Watched(tmp_path, works=works)
        way = navigator(editor)
        look = way.restart()
        missing = step(look, "menu:View")
        target = missing.targets["element_id"].model_copy(update={"name": "Gone"})
        editor.waited = 0
        followed = way.follow(missing.model_copy(update={"targets": {"element_id": target}}), look)
        assert isinstance(followed, Trouble)
        waited.append(editor.waited)
    assert 0 < waited[0] < waited[1]


def test_an_application_that_does_not_answer_after_a_step_is_waited_for(tmp_path: Path) -> None:
    way = navigator(Silent(tmp_path))
    look = way.restart()
    menu = way.follow(step(look, "menu:View"), look)
    assert isinstance(menu, Look)
    assert menu.menus
