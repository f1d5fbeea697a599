"""Starts the application under exploration, waits until it is ready, and refuses what cannot be explored."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from aci.acting.actions import Action
from aci.acting.settle import Settles
from aci.applications.catalog import Application, Catalog
from aci.applications.launching import Process
from aci.desktop.desktop import ActionResult
from aci.errors import LaunchFailed
from aci.observation.observation import Observation
from aci.processes import MARK, belonging_to
from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.search.controls import CONTEXT_MENU
from exploration.search.first_dialogs import (
    MOST_ANSWERS,
    answer,
    answer_step,
    asks_for_password,
    comes_again,
    front_window,
    is_splash_screen,
)
from exploration.search.homes import is_hidden
from exploration.search.states import Look, drift, same_picture, same_texts

START_LIMIT_S = 40.0  # longest wait for the first window of an application, s
FILL_LIMIT_S = 12.0  # longest wait for the contents of that window, s
SAMPLES = {
    ".txt": "alpha beta\nGamma delta\nepsilon\n",
    ".csv": "name,amount\napples,3\npears,5\nplums,4\n",
}  # contents of a document that the application is started with and that does not exist, by its suffix

_POLL_S = 0.1
_FIRST_LIMIT_S, _EMPTY_LIMIT_S = 8.0, 30.0  # longest wait for rest, and for any control on a busy machine, s
_FIRST_STILL_S = 0.5  # time without a change after which a start is at rest, s; Krita adds its menus after 0.3 s
_AFTER_ANSWER_S = 8.0  # longest wait for a window after a dialog of the start was answered, s
_AGAIN_LIMIT_S, _AGAIN_TIMES = 5.0, 4.0
"""Longest wait for any control at a later start: this, and this many times the slowest start so far."""
_AGAIN_DIFFERS_S, _AGAIN_POLL_S = 3.0, 0.05  # longest wait for it to look as the first one, once something is shown
_AGAIN_STILL_S = 0.25  # time without a change after which a picture is whole that differs from that of earlier starts


class Startable(Protocol):
    """A desktop on which applications are started; `aci.VirtualDesktop` is one."""

    @property
    def home(self) -> Path:
        """HOME of the applications."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the applications."""

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program and return when its window is there, or at once."""

    def observe(self) -> Observation:
        """Return the current screen."""

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive."""


class PrivateDesktop(Startable, Protocol):
    """A desktop with nothing on it that anybody needs, such as `aci.VirtualDesktop`."""

    def reset(self) -> None:
        """End all applications and empty the home."""

    def observe(self, *, check: bool = True) -> Observation:
        """Return the current screen; if `check`, wait for what comes late after an action."""

    def glimpse(self) -> Observation:
        """Return the present pixels and windows without elements, which takes a few milliseconds."""

    def resume(self, earlier: Observation) -> None:
        """Take an earlier observation for the latest one, because the screen shows the same again."""

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive and wait until the screen is at rest.

        Without `settle`, the wait is short, and a callback that detects the known effect ends it early.
        """


def refusal(application: Application) -> str:
    """Return why an application is never explored; empty if it may be."""
    if application.in_terminal or "TerminalEmulator" in application.categories:
        return "it carries out what is typed into it, in a terminal"
    return ""


def start(
    desktop: Startable,
    application: Application,
    catalog: Catalog,
    *,
    limit_s: float = START_LIMIT_S,
    fill_limit_s: float = FILL_LIMIT_S,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Observation:
    """Start an installed application, wait until its window has contents, and return the screen.

    Args:
        desktop: A fresh desktop.
        application: The application.
        catalog: The installed applications; used to notice that another one opens.
        limit_s: Longest wait for a window, s.
        fill_limit_s: Longest wait for its contents, s.
        clock: Monotonic clock, s.
        pause: Waits for a number of seconds.

    Raises:
        ApplicationUnusable: It is missing, ends, hangs, opens another program, or asks for a password.
    """
    if refused := refusal(application):
        raise ApplicationUnusable(f"{application.name} is not explored: {refused}.")

    def opened() -> Observation:
        try:
            process = desktop.launch(application.argv, timeout_s=limit_s)
        except LaunchFailed as error:
            raise ApplicationUnusable(f"{application.name} cannot be started: {error}") from error
        return _filled(desktop, application, process, clock, clock() + fill_limit_s, pause)

    observation = opened()
    _refuse_other_program(application, catalog, observation)
    declines, again = True, False
    for _ in range(MOST_ANSWERS):
        click = answer(observation, declines, again)
        if click is None or not desktop.perform(click).ok:
            break
        limit = clock() + min(fill_limit_s, _AFTER_ANSWER_S)
        accepts = click == answer(observation, declines=False)
        before = observation
        try:
            observation = _filled(desktop, application, None, clock, limit, pause)
            again = comes_again(before, observation)
        except ApplicationUnusable:  # that ended it
            observation, declines = opened(), False
            if accepts:
                break
    if asks_for_password(observation):
        title = getattr(front_window(observation), "title", "") or "no title"
        raise ApplicationUnusable(f"{application.name} asks for a password: {title}.")
    return observation


def _filled(
    desktop: Startable,
    application: Application,
    process: Process | None,
    clock: Callable[[], float],
    deadline: float,
    pause: Callable[[float], None],
) -> Observation:
    """Wait until the window of an application has contents."""
    while True:
        observation = desktop.observe()
        if process is not None and process.returncode not in (None, 0):
            raise ApplicationUnusable(
                f"{application.name} ended with status {process.returncode} right after its start. {process.last_words}"
            )
        if any(element.source == "accessibility" for element in observation.elements):
            return observation
        if clock() > deadline:
            notes = f" ({'; '.join(observation.notes)})" if observation.notes else ""
            raise ApplicationUnusable(
                f"{application.name} shows nothing that can be used, or hangs{notes}."
                if observation.windows
                else f"{application.name} closed its window right after its start."
            )
        pause(_POLL_S)


@dataclass(eq=False)
class Launcher:
    """Starts one application again and again, each time on the desktop as it is after a reset.

    Dialogs of a first start are answered, unless that ends the application.
    """

    desktop: PrivateDesktop
    argv: tuple[str, ...]  # the program and its arguments
    look: Callable[[bool], Look]  # takes a look at the screen and the home; whether to wait for what comes late
    clock: Callable[[], float]  # monotonic, s
    pause: Callable[[float], None]  # waits, s
    app: str = field(default="", init=False)  # the application as its windows name it; empty before the first start
    # what differs from start to start (`exploration.search.states.drift`)
    volatile: frozenset[str] = field(default=frozenset(), init=False)
    by_products: frozenset[str] = field(default=frozenset(), init=False)  # settings and files that do, too
    # the steps that answer its first dialogs, by the number of the answer; some answers cannot be replayed
    answers: dict[int, GroundedStep] = field(default_factory=dict, init=False)
    _screens: list[Look] = field(default_factory=list, init=False)  # the latest looks at what a start shows in turn
    _most_answers: int = field(default=MOST_ANSWERS, init=False)
    _accepts: set[int] = field(default_factory=set, init=False)  # numbers of answers that may not decline
    _process: Process | None = field(default=None, init=False)
    _before: set[int] = field(default_factory=set, init=False)  # ids of the desktop's processes before the start
    _slowest_s: float = field(default=0.0, init=False)  # longest time from a start to the first controls

    def start(self) -> Look:
        """Start the application and return the first look at it when it is ready.

        Raises:
            ApplicationUnusable: It cannot be started, shows nothing, or asks for a password.
        """
        add_samples(self.desktop.home, self.argv)
        program, began, self._before = self.argv[0], self.clock(), self._running()
        try:
            # After the first start, the known first screen is awaited instead of rest.
            self._process = self.desktop.launch(list(self.argv), wait_for_window=not self._screens)
        except LaunchFailed as error:
            raise ApplicationUnusable(f"{program} cannot be started: {error}") from error
        shown = self._shown(0)
        self._slowest_s = max(self._slowest_s, self.clock() - began if shown.candidates else 0.0)
        look = self._past_dialogs(shown)
        if look is None:
            self.desktop.reset()
            return self.start()
        if not has_window(look.observation, self.app):
            raise ApplicationUnusable(f"{program} shows no window that stays; start it by hand to see why.")
        if asks_for_password(look.observation):
            raise ApplicationUnusable(f"{program} asks for a password; it is left alone.")
        if not look.candidates:
            notes = "; ".join(look.observation.notes)
            raise ApplicationUnusable(f"{program} shows nothing that can be acted on. {notes}".strip())
        return look

    def _past_dialogs(self, look: Look) -> Look | None:
        """Answer the dialogs of a first start; return the look after them, and None if that ended the application."""
        again = False
        for number in range(1, self._most_answers + 1):
            click = answer(look.observation, declines=number not in self._accepts, again=again)
            if click is None or not self.desktop.perform(click).ok:
                break
            app = self.app
            if number >= len(self._screens):
                self.app = ""  # a dialog may go by another name than the window
            before, look = look, self._shown(number)
            ended = all(window.popup for window in look.observation.windows)
            again = comes_again(before.observation, look.observation)
            if ended and number not in self._accepts and click != answer(before.observation, declines=False):
                self._accepts.add(number)
                del self._screens[number:]
            elif ended or (look.exact == before.exact and not again):
                self._most_answers = number - 1
            elif step := answer_step(click, before.observation, before.place):
                self.answers[number] = step
            if ended:
                self.app = app
                return None
        return look

    def _shown(self, number: int) -> Look:
        """Return what a start shows first, or after a number of answers."""
        if number < len(self._screens):
            look = self._wait_for(self._screens[number])
        else:
            look = self._wait_for_rest(_AFTER_ANSWER_S if number else _EMPTY_LIMIT_S)
        if look.candidates or number >= len(self._screens):
            self._screens[number : number + 1] = [look]
        return look

    def _wait_for_rest(self, empty_limit_s: float = _EMPTY_LIMIT_S) -> Look:
        """Wait until the same controls are shown for a while; longer while there are none, as in a splash screen."""
        began = changed_at = self.clock()
        previous = None
        while True:
            look = self.look(True)
            if not self.app:
                window = look.observation.active_window
                self.app = window.app if window is not None else ""
            now = self.clock()
            if previous is None or look.exact != previous.exact:
                changed_at = now
            # A splash screen has neither; a bare terminal has only the focus.
            shows_controls = any(each.control.role != CONTEXT_MENU for each in look.candidates) or (
                any("focused" in element.states for element in look.observation.elements)
            )
            covered = is_splash_screen(look.observation)
            at_rest = shows_controls and not covered and now - changed_at >= _FIRST_STILL_S
            if at_rest or now - began > (_FIRST_LIMIT_S if shows_controls else empty_limit_s):
                return look
            previous = look
            self.pause(_POLL_S)

    def _wait_for(self, known: Look) -> Look:
        """Wait until the screen is that of an earlier start; if it does not become so, until it is at rest.

        Another picture is enough if it stays for a while, since titles may show the path of the home. On a busy
        machine, the elements of a window are there before it is drawn.
        """
        began = self.clock()
        known = replace(known, home=known.home.without(self.by_products))
        # One that hangs at a start is started anew sooner than it would recover.
        limit, changed_at = began + min(_EMPTY_LIMIT_S, _AGAIN_LIMIT_S + _AGAIN_TIMES * self._slowest_s), began
        previous, look = None, self.look(False)
        while True:
            still = previous is not None and same_picture(previous, look)
            whole = same_picture(known, look) or (still and self.clock() - changed_at >= _AGAIN_STILL_S)
            if whole and same_texts(known, look, hidden_files_count=False):
                return look
            if still and (found := drift(known, look)):
                self.volatile |= found
                known, look = (replace(each, volatile=self.volatile) for each in (known, look))
                continue
            if look.candidates:
                limit = min(limit, self.clock() + _AGAIN_DIFFERS_S)
            if self.clock() > limit or (not look.observation.windows and self._has_ended()):
                if look.candidates and known.exact == look.exact:
                    one, other = known.home, look.home
                    self.by_products |= {key for key, _ in one.settings.items() ^ other.settings.items()}
                    files = {path for path, _ in one.files.items() ^ other.files.items()}
                    self.by_products |= {path for path in files if not is_hidden(path)}
                return self._wait_for_rest(_FIRST_LIMIT_S) if look.candidates else look
            self.pause(_AGAIN_POLL_S)
            previous, look = look, self.look(False)
            if not same_picture(previous, look):
                changed_at = self.clock()

    def _has_ended(self) -> bool:
        """Return whether the program has ended, and not by handing over to another process of the desktop."""
        status = self._process.returncode if self._process is not None else None
        return bool(status) or (status == 0 and self._running() <= self._before)

    def _running(self) -> set[int]:
        """Return the ids of the desktop's processes."""
        desktop_id = self.desktop.environment.get(MARK, "")
        return set(belonging_to(desktop_id)) if desktop_id else set()


def add_samples(home: Path, argv: Sequence[str]) -> None:
    """Write the documents that a program is started with and that do not exist, if their kind is in `SAMPLES`."""
    for argument in argv[1:]:
        suffix = "." + argument.rpartition(".")[2]
        document = home / argument
        if suffix in SAMPLES and not argument.startswith(("-", "/")) and not document.exists():
            document.write_text(SAMPLES[suffix], encoding="utf-8")


def has_window(observation: Observation, app: str) -> bool:
    """Return whether an application shows a window."""
    return any(window.app == app and not window.popup for window in observation.windows)


def _refuse_other_program(application: Application, catalog: Catalog, observation: Observation) -> None:
    """Refuse if the window in front belongs to another installed application."""
    window = observation.active_window or next(iter(observation.windows), None)
    running = _program(window.pid) if window is not None and window.pid is not None else ""
    if not running or running == application.program:
        return
    for other in sorted(catalog.applications, key=lambda other: len(other.argv)):  # "thunar" before "thunar --daemon"
        if other.program == running and not set(other.argv[:1]) & set(application.argv[:1]):
            raise ApplicationUnusable(f"{application.name} opens another program: {other.name}.")


def _program(pid: int) -> str:
    """Return the name of the program that a process runs; empty if the system does not say."""
    try:
        return (Path("/proc") / str(pid) / "exe").resolve(strict=True).name
    except OSError:
        return ""
