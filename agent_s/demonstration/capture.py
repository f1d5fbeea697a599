"""Capture of a demonstration: records the person's input, and observes the screen whenever they pause."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace

from aci.acting.actions import SwitchApplications, Type, Wait
from aci.acting.targets import window_at
from aci.applications.catalog import Catalog
from aci.applications.switching import find_window
from aci.desktop.desktop import Desktop
from aci.errors import Halted
from aci.input.clipboard import Clipboard
from aci.observation.observation import Element, Observation, Window
from aci.recording.listener import Input, Listener
from agent_s.demonstration.gestures import Gesture, Keys, Press, Wheel, read_gestures
from agent_s.demonstration.interpretation import Look, Shown, begins_line, interpret, is_hidden
from agent_s.demonstration.noise import look_of
from agent_s.safety.secrets import SecretDesktop, Secrets

PAUSE_S = 0.3  # time without input after which the screen is observed, s
_MOST_LOOKS = 4
IDLE_S = 0.5  # age of a look after which an idle screen is observed again, since pages load and notifications appear, s
_DASH = re.compile(r"\s+[-–—|·]\s+")


class Capture:
    """A demonstration in progress.

    Args:
        desktop: The desktop; its emergency stop ends the demonstration.
        catalog: The installed applications.
        own_processes: Ids of this process and its ancestors, in whose windows nothing is recorded.
        on_shown: Callback that receives the actions so far, after each look.

    Raises:
        NoDisplay: The input cannot be recorded.
        ConnectionLost: The screen went away.
    """

    def __init__(
        self,
        desktop: Desktop,
        catalog: Catalog,
        own_processes: frozenset[int] = frozenset(),
        on_shown: Callable[[list[Shown]], None] = lambda steps: None,
    ) -> None:
        self.steps: list[Shown] = []  # actions so far
        self.secrets: dict[str, str] = {}  # text typed into password fields, by name; never written anywhere
        self._pieces: dict[str, str] = {}  # the same by unique names, since two fields may have the same name
        self._passwords: list[Element] = []  # password fields at the last look
        self._desktop = desktop
        self._catalog = catalog
        self._own_processes = own_processes
        self.on_shown = on_shown
        self._app = ""
        self._waiting: list[Input] = []
        self._screen = SecretDesktop(desktop, Secrets(self.secrets.get), frozenset())
        with ExitStack() as opened:
            self._clipboard = opened.enter_context(closing(Clipboard(desktop.display)))
            self._listener = opened.enter_context(closing(Listener(desktop.display)))
            self.last = self._look()
            self._opened = opened.pop_all()

    def run(self, is_over: Callable[[], bool] = lambda: False) -> Look:
        """Record until the end key is pressed or `is_over` returns True; return the last look.

        Raises:
            ConnectionLost: The screen went away; the actions until then are in `steps`.
        """
        with self._opened:
            with suppress(Halted, KeyboardInterrupt):
                self._listen(lambda: is_over() or self._is_ended)
            events = [*self._waiting, *self._listener.take()]
            if self._is_ended:
                last = max((at for at, event in enumerate(events) if event.kind == "key"), default=len(events))
                events = events[:last]
            if self._desktop.halt is not None:
                self._desktop.halt.lift()
            self._read(events, self._look())
            self.last = self._at_rest()
        return self.last

    @property
    def _is_ended(self) -> bool:
        """Whether the end key was pressed."""
        return self._desktop.halt is not None and bool(self._desktop.halt.reason)

    def _listen(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            new = self._listener.take(PAUSE_S)
            self._waiting += new
            if new or self._listener.holds_button:
                continue
            if self._waiting:
                look = self._look()
                # Input in the meantime may have changed the screen during the look.
                if not (late := self._listener.take()):
                    self._read(self._waiting, look)
                    self._waiting = []
                self._waiting += late
            elif time.monotonic() - self.last.ended > IDLE_S:
                look = self._look(after_input=False)
                if late := self._listener.take():
                    self._waiting = late
                else:
                    self.last = look

    def _at_rest(self) -> Look:
        """Return a look at a settled screen, for example after a dialog has closed."""
        look = self.last
        for _ in range(_MOST_LOOKS):
            time.sleep(PAUSE_S)
            before, look = look, self._look()
            if look_of(before) == look_of(look) and before.seen.active_window == look.seen.active_window:
                break
        return look

    def _look(self, after_input: bool = True) -> Look:
        if after_input:
            self._screen.perform(Wait(time=0.0))  # makes the next look wait until the screen has settled
        began = time.monotonic()
        seen = self._screen.observe(read_texts=False)
        if self._hide_passwords_in(seen):
            seen = self._screen.observe(read_texts=False)
        return Look(seen, began, time.monotonic(), self._clipboard.changes())

    def _read(self, events: list[Input], look: Look) -> None:
        """Convert the input between the last look and this one to steps."""
        known = dict(self.secrets)
        gestures = [one for one in read_gestures(events) if not self._is_for_terminal(one)]
        if gestures:
            before = self.last
            self._switch(_window_of(gestures[0], before.seen), before)
            gestures, before = self._joined(gestures, before, look)
            steps = interpret(gestures, before, look, self._keep_secret)
            if self.secrets != known:
                self._hide()
                look = self._look(after_input=False)
                steps = [replace(step, after=look) for step in steps]
            self.steps += steps
            self.on_shown(self.steps)
        self.last = look

    def _is_for_terminal(self, gesture: Gesture) -> bool:
        """Return whether a gesture is for the terminal that this program runs in."""
        window = _window_of(gesture, self.last.seen)
        return window is not None and window.pid in self._own_processes

    def _switch(self, window: Window | None, look: Look) -> None:
        """Add a step that switches to the application of a window, unless the last step was in that application."""
        if window is None or not window.app or window.app == self._app:
            return
        self._app = window.app
        if code := code_of(window, self._catalog):
            self.steps.append(Shown(SwitchApplications(app_code=code), look, look, None))

    def _joined(self, gestures: list[Gesture], before: Look, after: Look) -> tuple[list[Gesture], Look]:
        """Merge keys with those typed into the same field before a pause."""
        last = self.steps[-1] if self.steps else None
        first = gestures[0]
        if last is None or not isinstance(first, Keys) or not isinstance(last.gesture, Keys) or not last.alone:
            return gestures, before
        field_id = before.seen.focus_id
        same = field_id is not None and field_id == last.before.seen.focus_id
        # A Return that submits the text may depend on what the application made of it during the pause.
        sends = first.typed.startswith("\n") and not begins_line(field_id, before.seen, after.seen)
        if not same or sends or not isinstance(last.action, Type) or last.action.enter or last.problem:
            return gestures, before
        self.steps.pop()
        return [last.gesture.then(first), *gestures[1:]], last.before

    def _hide_passwords_in(self, seen: Observation) -> bool:
        """Hide the texts of fields that have replaced password fields since the last look; return whether any have.

        A field that reveals its password is a new element, and its text may differ from what the keys alone suggest.
        """
        known = {(one.window_id, one.rect): len(one.text or "") for one in self._passwords}
        self._passwords = [one for one in seen.elements if is_hidden(one)]
        clear = [one for one in seen.elements if "editable" in one.states and not is_hidden(one) and one.text]
        shown = [one.text for one in clear if known.get((one.window_id, one.rect)) == len(one.text or "")]
        self._pieces |= {f"PASSWORD_{len(self._pieces) + number}": text or "" for number, text in enumerate(shown, 1)}
        if shown:
            self._hide()
        return bool(shown)

    def _hide(self) -> None:
        """Hide all secrets from now on."""
        hidden = Secrets({**self._pieces, **self.secrets}.get)
        for name in (*self.secrets, *self._pieces):
            hidden.value(name)
        self._screen = SecretDesktop(self._desktop, hidden, frozenset())

    def _keep_secret(self, text: str, called: str) -> str:
        name = re.sub(r"\W+", "_", called, flags=re.ASCII).strip("_").upper()[:64] or "PASSWORD"
        self.secrets[name] = self.secrets.get(name, "") + text
        self._pieces[f"{name}_{len(self._pieces) + 1}"] = text
        return f"{{{{secret:{name}}}}}"


def _window_of(gesture: Gesture, seen: Observation) -> Window | None:
    """Return the window that receives a gesture."""
    point = gesture.start if isinstance(gesture, Press) else gesture.point if isinstance(gesture, Wheel) else None
    return window_at(point, seen) if point is not None else seen.active_window


def code_of(window: Window, catalog: Catalog) -> str:
    """Return the name with which `switch_applications` finds a window and starts its application, if any."""
    names = [_DASH.split(window.title)[-1], window.app]
    return next((name for name in names if name and catalog.matches(name) and find_window(name, [window], catalog)), "")
