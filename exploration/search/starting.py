"""Starting an application for its exploration, and saying why one cannot be explored."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from aci.desktop.applications import Application, Catalog
from aci.desktop.launching import Process
from aci.errors import LaunchFailed
from aci.observation.observation import Element, Observation, Window
from exploration.errors import ApplicationUnusable

START_LIMIT_S = 40.0
"""How long an application may take until it shows a window, s."""
FILL_LIMIT_S = 12.0
"""How long its window may take until it shows what is in it, s."""
_POLL_S = 0.1
_FIRST_RUN = re.compile(
    r"\b(?:welcome|first[ -](?:run|start|time)|set ?up|getting started|get started|licen[cs]e|terms of|wizard|"
    r"assistant|tip of the day|what.s new|import your|default (?:browser|application)|choose your|"
    r"willkommen|einrichten|bienvenue|bienvenido|benvenut[oi]|bem-vindo)\b",
    re.IGNORECASE,
)
_SIGN_IN = re.compile(r"\b(?:log ?in|sign ?in|unlock|authenticat\w+|anmelden|connexion)\b", re.IGNORECASE)
_DIALOGS = ("dialog:", "alert:", "assistant:")


class Startable(Protocol):
    """What starting needs of a desktop; `aci.desktop.virtual.VirtualDesktop` is one."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the applications."""
        ...

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program and wait for its window."""
        ...

    def observe(self) -> Observation:
        """Look at the screen."""
        ...


@dataclass(frozen=True, slots=True)
class Started:
    """An application that is ready for use.

    Attributes:
        process: The program.
        observation: The screen after its start.
    """

    process: Process
    observation: Observation


def refusal(application: Application) -> str:
    """Return why an application is not explored at all; empty where it is."""
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
) -> Started:
    """Start an application and wait until it shows what it offers.

    Args:
        desktop: A fresh desktop.
        application: What is to be started.
        catalog: The installed applications, for telling when another one opens.
        limit_s: Longest wait for a window, s.
        fill_limit_s: Longest wait for what is in it, s.
        clock: Seconds that only go forward.
        pause: Waits for some seconds.

    Raises:
        ApplicationUnusable: It is missing, ends, hangs, opens another program, or asks something first.
    """
    refused = refusal(application)
    if refused:
        raise ApplicationUnusable(f"{application.name} is not explored: {refused}.")
    try:
        process = desktop.launch(application.argv, timeout_s=limit_s)
    except LaunchFailed as error:
        raise ApplicationUnusable(f"{application.name} cannot be started: {error}") from error
    deadline = clock() + fill_limit_s
    while True:
        observation = desktop.observe()
        if process.returncode not in (None, 0):
            raise ApplicationUnusable(
                f"{application.name} ended with status {process.returncode} right after its start. {process.last_words}"
            )
        if any(element.source == "accessibility" for element in observation.elements):
            break
        if clock() > deadline:
            raise ApplicationUnusable(_nothing_shown(application, observation))
        pause(_POLL_S)
    _refuse_other_program(application, catalog, observation)
    _refuse_questions(application, observation)
    return Started(process, observation)


def _nothing_shown(application: Application, observation: Observation) -> str:
    said = f" ({'; '.join(observation.notes)})" if observation.notes else ""
    if not observation.windows:
        return f"{application.name} closed its window right after its start."
    return f"{application.name} shows nothing that can be used, or hangs{said}."


def _refuse_other_program(application: Application, catalog: Catalog, observation: Observation) -> None:
    """Refuse where the window in front is that of another installed application."""
    window = observation.active_window or next(iter(observation.windows), None)
    running = _program(window.pid) if window is not None and window.pid is not None else ""
    if not running or running == application.program:
        return
    for other in sorted(catalog.applications, key=lambda other: len(other.argv)):  # plain "thunar" names it best
        if other.program == running and not set(other.argv[:1]) & set(application.argv[:1]):
            raise ApplicationUnusable(f"{application.name} opens another program: {other.name}.")


def _program(pid: int) -> str:
    """Return the name of the program that a process runs; empty where that is not told."""
    try:
        return (Path("/proc") / str(pid) / "exe").resolve(strict=True).name
    except OSError:
        return ""


def _refuse_questions(application: Application, observation: Observation) -> None:
    """Refuse where a password is asked for, or a dialog of a first run stands in front."""
    front = _front(observation)
    if front is None:
        return
    inside = [element for element in observation.elements if element.window_id == front.id]
    words = " ".join((front.title, *(element.name for element in inside)))
    for element in inside:
        if "password" in element.states and (len(inside) <= 20 or _SIGN_IN.search(words)):
            raise ApplicationUnusable(f"{application.name} asks for a password: {front.title or 'no title'}.")
    if _is_dialog(front, inside) and _FIRST_RUN.search(words):
        raise ApplicationUnusable(
            f"{application.name} shows a first-run dialog: {front.title or 'no title'}. Answer it once with a home of "
            "your own, or leave the application out."
        )


def _front(observation: Observation) -> Window | None:
    return observation.active_window or next((window for window in observation.windows if not window.popup), None)


def _is_dialog(window: Window, inside: Sequence[Element]) -> bool:
    return window.modal or any(element.path[:1] and element.path[0].startswith(_DIALOGS) for element in inside)
