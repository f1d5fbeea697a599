"""Reasons why an application cannot be explored."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aci.acting.actions import Action, Click, Hotkey
from aci.acting.settle import Settles
from aci.applications.catalog import Application, Catalog
from aci.desktop.desktop import ActionResult
from aci.errors import LaunchFailed
from aci.observation.observation import Element, Observation, Window
from exploration.errors import ApplicationUnusable
from exploration.search.first_dialogs import answer, answer_step, is_splash_screen
from exploration.search.homes import HomeState
from exploration.search.starting import Launcher, refusal, start
from exploration.search.states import Look
from tests.unit.agent_s.fakes import EDITOR, button, screen
from tests.unit.exploration.an_app import FakeEditor

NOTES = Application("notes", "Notes", ("notes",))
USABLE = screen(button(1, "Save"))
MODAL = replace(EDITOR, title="Welcome to Notes", modal=True)
EDITOR_BEHIND = replace(EDITOR, id=EDITOR.id + 1, active=False)
USABLE_STATES = frozenset({"focusable"})


@dataclass
class FakeProcess:
    returncode: int | None = None
    last_words: str = "segmentation fault"


@dataclass
class FakeDesktop:
    """Shows these screens one after another, the last one for ever."""

    screens: list[Observation] = field(default_factory=lambda: [USABLE])
    process: FakeProcess = field(default_factory=FakeProcess)
    fails: str = ""
    performed: list[Action] = field(default_factory=list)
    environment: Mapping[str, str] = field(default_factory=dict)

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Any:
        if self.fails:
            raise LaunchFailed(self.fails)
        return self.process

    def observe(self) -> Observation:
        return self.screens.pop(0) if len(self.screens) > 1 else self.screens[0]

    def perform(self, action: Action) -> ActionResult:
        self.performed.append(action)
        return ActionResult(ok=True)


def started(desktop: FakeDesktop, application: Application = NOTES) -> Observation:
    clock = itertools.count()
    catalog = Catalog([NOTES, Application("web", "Web", ("browser",))])
    return start(desktop, application, catalog, clock=lambda: float(next(clock)), pause=lambda seconds: None)


def test_an_application_that_fills_its_window_late_is_waited_for() -> None:
    assert started(FakeDesktop([screen(), screen(), USABLE])) is USABLE


def asking(*elements: Any, window: Window = MODAL) -> FakeDesktop:
    return FakeDesktop([screen(*elements, windows=(window,))])


PASSWORD = replace(button(1, "Password", "password text"), states=frozenset({"password"}))


@pytest.mark.parametrize(
    ("desktop", "reason"),
    [
        (FakeDesktop(fails="There is no program 'notes'."), "cannot be started: There is no program"),
        (FakeDesktop(process=FakeProcess(returncode=-11)), "ended with status -11.*segmentation fault"),
        (FakeDesktop([screen()]), "shows nothing that can be used, or hangs"),
        (FakeDesktop([screen(windows=())]), "closed its window"),
        (asking(PASSWORD, window=replace(EDITOR, title="Unlock")), "asks for a password"),
    ],
)
def test_reason_names_why_an_application_is_unusable(desktop: FakeDesktop, reason: str) -> None:
    with pytest.raises(ApplicationUnusable, match=reason):
        started(desktop)


def test_a_main_window_may_have_a_password_field() -> None:
    shown = screen(PASSWORD, replace(button(2, "File", "menu"), path=("frame:Notes", "menu bar:")))
    assert started(FakeDesktop([shown])) is shown


@pytest.mark.parametrize(
    ("windows", "names", "pressed"),
    [
        ((MODAL,), ("Back", "Next", "Skip"), "Next"),
        ((MODAL,), ("Browse", "Cancel", "OK"), "OK"),
        ((MODAL, EDITOR_BEHIND), ("Next", "Skip", "OK"), "Skip"),
        ((MODAL, EDITOR_BEHIND), ("Help", "OK"), "OK"),
        ((replace(MODAL, app="Soffice", pid=7), replace(EDITOR_BEHIND, pid=7)), ("OK", "Close"), "Close"),
        ((MODAL,), ("Cancel", "Apply", "Colours"), "Cancel"),
        ((MODAL,), ("Apply", "Colours"), None),
        ((EDITOR,), ("OK",), None),
        ((EDITOR,), ("Quit", "Done"), "Done"),
        ((EDITOR,), ("Quit", "Done", "Colours"), None),
    ],
)
def test_a_dialog_of_the_start_is_declined_beside_a_window_and_else_accepted(
    windows: tuple[Window, ...], names: tuple[str, ...], pressed: str | None
) -> None:
    buttons = [button(number, name) for number, name in enumerate(names, start=1)]
    click = answer(screen(*buttons, windows=windows))
    assert click == (None if pressed is None else Click(element_id=1 + names.index(pressed)))


@pytest.mark.parametrize(
    ("others", "pressed"),
    [
        ((), True),
        ((replace(button(2, "Show again", "check box"), states=USABLE_STATES),), True),
        ((replace(button(2, "Name", "entry"), states=USABLE_STATES),), False),
        ((replace(button(2, "Colours"), states=USABLE_STATES),), False),
    ],
)
def test_one_button_is_pressed_where_it_is_all_that_a_dialog_offers(others: tuple[Element, ...], pressed: bool) -> None:
    only = replace(button(1, "I'll be careful."), states=USABLE_STATES)
    for windows in ((MODAL,), (MODAL, EDITOR_BEHIND)):
        assert answer(screen(only, *others, windows=windows)) == (Click(element_id=1) if pressed else None)


def test_a_dialog_behind_the_window_is_declined_too() -> None:
    tips = replace(EDITOR_BEHIND, title="Tip of the Day")
    close = replace(button(1, "Close"), window_id=tips.id, path=("dialog:Tip of the Day",))
    assert answer(screen(close, windows=(EDITOR, tips))) == Click(element_id=1)


def test_a_splash_screen_covers_another_window_of_its_program() -> None:
    splash, behind = replace(EDITOR, title="", id=EDITOR.id + 1), replace(EDITOR, active=False)
    shown = screen(windows=(splash, behind))
    assert is_splash_screen(shown)
    assert not is_splash_screen(screen(windows=(splash,)))
    assert not is_splash_screen(screen(windows=(replace(splash, title="Help"), behind)))
    assert not is_splash_screen(screen(replace(button(1, "Skip"), window_id=splash.id), windows=(splash, behind)))


def test_a_manual_in_front_of_a_window_with_menus_is_closed() -> None:
    manual = replace(EDITOR, title="Notes Help", id=EDITOR.id + 1)
    behind = replace(EDITOR, active=False)
    menu = replace(button(1, "File", "menu"), window_id=behind.id, path=("frame:Notes", "menu bar:"))
    assert answer(screen(menu, windows=(manual, behind))) == Hotkey(keys=("alt", "F4"))
    assert answer(screen(menu, windows=(EDITOR, replace(manual, active=False)))) is None
    assert answer(screen(menu, windows=(replace(manual, app="Web"), behind))) is None


def test_first_choice_is_taken_where_nothing_can_be_accepted_without_one() -> None:
    accepting = replace(button(2, "Done"), states=frozenset({"disabled"}))
    choices = (button(3, "On this computer", "list item"), button(4, "On a server", "list item"))
    asked = screen(button(1, "Quit"), accepting, *choices, windows=(EDITOR,))
    assert answer(asked) == Click(element_id=3)
    assert answer(replace(asked, windows=(EDITOR, EDITOR_BEHIND))) is None


def test_dialog_of_a_page_is_put_aside_if_nothing_declines_it() -> None:
    fields = [button(1, "Minimize"), button(2, "Sign in"), button(3, "Name", "entry")]
    inside = [replace(each, path=("frame:Mail", "dialog:")) for each in fields]
    assert answer(screen(*inside)) == Click(element_id=1)
    assert answer(screen(*inside, replace(button(4, "Inbox"), path=("frame:Mail",)))) is None


def test_what_is_greyed_out_answers_nothing() -> None:
    greyed = replace(button(1, "Next"), states=frozenset({"disabled"}))
    assert answer(screen(greyed, windows=(MODAL,))) is None


@pytest.mark.parametrize("accepting", ["Next", "Compare"])
def test_what_cannot_be_accepted_at_once_is_declined_unless_that_ended_the_application(accepting: str) -> None:
    greyed = replace(button(3, accepting), states=frozenset({"disabled"}))
    page = screen(button(1, "Name of the account", "entry"), button(2, "Back"), greyed, button(4, "Cancel"))
    shown = replace(page, windows=(MODAL,))
    assert answer(shown) == Click(element_id=4)
    assert answer(shown, declines=False) is None


def test_pages_of_an_assistant_are_gone_through() -> None:
    pages = [screen(button(number, name), windows=(MODAL,)) for number, name in ((1, "Next"), (2, "Finish"))]
    desktop = FakeDesktop([*pages, USABLE])
    assert started(desktop) is USABLE
    assert desktop.performed == [Click(element_id=1), Click(element_id=2)]


def test_another_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exploration.search.starting._program", lambda pid: "browser")
    desktop = FakeDesktop([screen(button(1, "Save"), windows=(replace(EDITOR, pid=1),))])
    with pytest.raises(ApplicationUnusable, match="opens another program: Web"):
        started(desktop)


def test_an_ordinary_dialog_is_not_an_obstacle() -> None:
    assert started(asking(button(1, "Apply"), window=replace(EDITOR, title="Colours", modal=True)))


def test_terminals_are_left_alone() -> None:
    terminal = Application("xterm", "XTerm", ("xterm",), categories=("TerminalEmulator",))
    assert "terminal" in refusal(terminal)
    with pytest.raises(ApplicationUnusable, match="terminal"):
        started(FakeDesktop(), terminal)


def showing(desktop: FakeEditor, shown: list[Observation]) -> Launcher:
    """Return what starts a program that shows the first of some screens; a second passes at each look at the clock."""
    seconds = itertools.count()

    def look(check: bool) -> Look:
        return Look(shown[0], HomeState(), str(desktop.home))

    return Launcher(desktop, ("notes",), look, lambda: float(next(seconds)), lambda seconds: None)


def test_answers_to_first_dialogs_are_kept_as_steps(tmp_path: Path) -> None:
    greeting = screen(button(1, "OK"), windows=(MODAL, EDITOR_BEHIND))

    shown = [greeting]

    class Greeter(FakeEditor):
        def perform(self, action: Action, settle: Settles = True) -> ActionResult:
            shown[0] = USABLE
            return ActionResult(ok=True)

    launcher = showing(Greeter(tmp_path), shown)
    assert launcher.start().observation == USABLE
    (step,) = launcher.answers.values()
    assert (step.targets["element_id"].name, step.targets["element_id"].window) == ("OK", "Welcome to Notes")
    assert answer_step(Hotkey(keys=("alt", "F4")), greeting, "") is None


def test_an_answer_is_kept_behind_one_that_cannot_be_replayed(tmp_path: Path) -> None:
    splash = replace(EDITOR, title="", id=EDITOR.id + 1)
    menu = replace(button(1, "File", "menu"), window_id=EDITOR.id, path=("frame:Notes", "menu bar:"))
    shown = [
        screen(menu, windows=(splash, replace(EDITOR, active=False))),
        screen(button(1, "No"), button(2, "Yes"), windows=(MODAL, EDITOR_BEHIND)),
        USABLE,
    ]

    class Greeter(FakeEditor):
        def perform(self, action: Action, settle: Settles = True) -> ActionResult:
            del shown[0]
            return ActionResult(ok=True)

    launcher = showing(Greeter(tmp_path), shown)
    assert launcher.start().observation == USABLE
    assert [step.targets["element_id"].name for step in launcher.answers.values()] == ["No"]


def test_a_dialog_that_comes_again_is_told_not_to(tmp_path: Path) -> None:
    box = replace(button(2, "Show this dialog the next time", "check box"), states=frozenset({"checked"}))
    failed = [
        screen(*(replace(each, window_id=MODAL.id + number) for each in (button(1, "Continue"), box)),
               windows=(replace(MODAL, id=MODAL.id + number),))
        for number in range(9)
    ]  # fmt: skip
    clicked: list[int | None] = []
    shown = list(failed)

    class Failing(FakeEditor):
        def perform(self, action: Action, settle: Settles = True) -> ActionResult:
            assert isinstance(action, Click)
            clicked.append(action.element_id)
            if action.element_id == 1:
                shown[:] = [USABLE] if 2 in clicked else shown[1:]
            else:
                shown[0] = replace(shown[0], elements=(shown[0].elements[0], replace(box, states=frozenset())))
            return ActionResult(ok=True)

    launcher = showing(Failing(tmp_path), shown)
    assert launcher.start().observation == USABLE
    assert clicked == [1, 2, 1]


def test_start_accepts_a_dialog_where_declining_it_ended_the_application() -> None:
    notice = screen(button(1, "Cancel"), button(2, "I Agree"), windows=(MODAL, EDITOR_BEHIND))

    @dataclass
    class Notifier(FakeDesktop):
        def launch(self, *given: Any, **named: Any) -> Any:
            self.screens = [notice]
            return super().launch(*given, **named)

        def perform(self, action: Action) -> ActionResult:
            self.screens = [USABLE if action == Click(element_id=2) else screen(windows=())]
            return super().perform(action)

    desktop = Notifier()
    assert started(desktop) == USABLE
    assert desktop.performed == [Click(element_id=1), Click(element_id=2)]


def test_dialog_is_accepted_where_declining_it_ended_the_application(tmp_path: Path) -> None:
    notice = screen(button(1, "Cancel"), button(2, "I Agree"), windows=(MODAL, EDITOR_BEHIND))
    shown = [notice]
    clicked: list[int | None] = []

    class Notifier(FakeEditor):
        def launch(self, *given: Any, **named: Any) -> Any:
            shown[0] = notice
            return super().launch(*given, **named)

        def perform(self, action: Action, settle: Settles = True) -> ActionResult:
            assert isinstance(action, Click)
            clicked.append(action.element_id)
            shown[0] = USABLE if action.element_id == 2 else screen(windows=())
            return ActionResult(ok=True)

    now = [0.0]

    def look(check: bool) -> Look:
        now[0] += 1.0
        return Look(shown[0], HomeState(), str(tmp_path))

    launcher = Launcher(Notifier(tmp_path), ("notes",), look, lambda: now[0], lambda seconds: None)
    assert launcher.start().observation == USABLE
    assert clicked == [1, 2]
    assert [step.targets["element_id"].name for step in launcher.answers.values()] == ["I Agree"]
    assert launcher.start().observation == USABLE
    assert clicked == [1, 2, 2]


SPLASH = screen(
    replace(button(1, ""), role="text", text="Loading", states=frozenset({"multi_line"}), path=("frame:Notes",))
)


@pytest.mark.parametrize("early", [SPLASH, screen(button(1, "New"))])
def test_first_start_waits_for_what_comes_after_a_splash_screen_or_late(tmp_path: Path, early: Observation) -> None:
    looks = [early, early, USABLE]

    def look(check: bool) -> Look:
        return Look(looks.pop(0) if len(looks) > 1 else looks[0], HomeState(), str(tmp_path))

    now = [0.0]

    def pause(seconds: float) -> None:
        now[0] += seconds

    launcher = Launcher(FakeEditor(tmp_path), ("notes",), look, lambda: now[0], pause)
    assert launcher.start().observation == USABLE


def test_a_bare_terminal_is_not_taken_for_a_splash_screen(tmp_path: Path) -> None:
    line = replace(button(1, "Terminal", "terminal"), states=frozenset({"focused"}), path=("frame:Notes",))
    now = [0.0]

    def look(check: bool) -> Look:
        return Look(screen(line), HomeState(), str(tmp_path))

    def pause(seconds: float) -> None:
        now[0] += seconds

    (menu,) = Launcher(FakeEditor(tmp_path), ("notes",), look, lambda: now[0], pause).start().candidates
    assert menu.control.name == "context menu of the terminal"
    assert now[0] < 1.0


@pytest.mark.parametrize(("pictures", "shown"), [((0, 0, 0, 9), 9), ((5,), 5)])
def test_later_start_waits_until_the_window_is_drawn(tmp_path: Path, pictures: tuple[int, ...], shown: int) -> None:
    now = [0.0]
    brightness = [9]

    def look(check: bool) -> Look:
        number = brightness.pop(0) if len(brightness) > 1 else brightness[0]
        return Look(replace(USABLE, screenshot=np.full((400, 400, 3), number, np.uint8)), HomeState(), str(tmp_path))

    def pause(seconds: float) -> None:
        now[0] += seconds

    launcher = Launcher(FakeEditor(tmp_path), ("notes",), look, lambda: now[0], pause)
    assert launcher.start().observation.screenshot[0, 0, 0] == 9
    brightness[:] = pictures
    began = now[0]
    assert launcher.start().observation.screenshot[0, 0, 0] == shown
    assert now[0] - began < 0.5


@pytest.mark.parametrize("status", [-11, 0])
def test_later_start_that_ends_without_a_window_is_given_up_at_once(tmp_path: Path, status: int) -> None:
    now, crashed = [0.0], FakeProcess(returncode=status)
    processes, shown = [FakeProcess(), crashed], [USABLE]

    class Crashing(FakeEditor):
        def launch(
            self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
        ) -> Any:
            process = processes.pop(0)
            shown[:] = [screen(windows=())] if process is crashed else [USABLE]
            return process

    def look(check: bool) -> Look:
        return Look(shown[0], HomeState(), str(tmp_path))

    def pause(seconds: float) -> None:
        now[0] += seconds

    launcher = Launcher(Crashing(tmp_path), ("notes",), look, lambda: now[0], pause)
    launcher.start()
    began = now[0]
    with pytest.raises(ApplicationUnusable, match="no window that stays"):
        launcher.start()
    assert now[0] - began < 0.5


def test_settings_and_files_that_differ_from_start_to_start_are_waited_for_only_once(tmp_path: Path) -> None:
    now, starts = [0.0], itertools.count()
    settings = {"ui/theme": "dark"}
    files = {"Music/list": "1", ".cache/list": "1"}

    class Forgetful(FakeEditor):
        def launch(
            self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
        ) -> Any:
            settings["ui/token"] = files["Music/list"] = files[".cache/list"] = str(next(starts))
            return FakeProcess()

    def look(check: bool) -> Look:
        home = HomeState(dict(files), dict(settings)).without(launcher.by_products)
        return Look(USABLE, home, str(tmp_path))

    def pause(seconds: float) -> None:
        now[0] += seconds

    def took_s() -> float:
        began = now[0]
        launcher.start()
        return now[0] - began

    launcher = Launcher(Forgetful(tmp_path), ("notes",), look, lambda: now[0], pause)
    first, second, third = took_s(), took_s(), took_s()
    assert second > 1.0
    assert first < 0.7
    assert third < 0.5
    assert launcher.by_products == {"ui/token", "Music/list"}
