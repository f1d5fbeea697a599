"""A virtual machine or container of OSWorld as a desktop."""

from __future__ import annotations

import logging
import math
import time
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from aci.acting.actions import (
    Action,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    SwitchApplications,
    Wait,
)
from aci.acting.result import ActionResult
from aci.acting.settle import Settle, Settles
from aci.applications.catalog import Application, Catalog
from aci.applications.switching import find_window
from aci.desktop.desktop import Desktop
from aci.errors import ConnectionLost, LaunchFailed, NotTranslatable
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from aci.remote.machine import PATIENCE_S, Machine, NotKnown
from aci.remote.pyautogui_code import pyautogui_code
from aci.remote.refusals import done_without_input, elements_of, refused, unusable_target
from aci.remote.view import View
from aci.remote.windows import listed_windows
from aci.screen.emergency_stop import Halt
from aci.screen.screen import looks_as_seen
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.ocr.text_engine import TextEngine

logger = logging.getLogger(__name__)

PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "
"""What OSWorld's own client puts before each line of code."""
QUIET_S, FIRST_CHANGE_S, LIMIT_S = 0.6, 1.0, 6.0
"""How long the screen must not change, how long the first change is waited for, and the longest wait, s."""
LAUNCH_LIMIT_S = 30.0


class OSWorldDesktop(Desktop):
    """The desktop of a machine in which OSWorld's server runs; a `Desktop`.

    ```python
    with OSWorldDesktop("http://192.168.122.10:5000") as desktop:
        print(desktop.observe().to_text())
    ```

    A target is verified before the input by the pixels of its window; if these have changed, the screen is looked at
    again. What is sent is code of this program with numbers, keys and literal texts in it, never code of a model.

    Args:
        address: Address of the server, with its token where it wants one (`http://TOKEN@HOST:5000`).
        ocr: Reads the texts that are only pixels; by default RapidOCR where it is installed. None leaves them unread.
        patience_s: How long a server that restarts is waited for, s.
        transport: Replaces the network, for tests.

    Attributes:
        halt: A call to stop.
        address: Address of the server, without its token.

    Raises:
        ConnectionLost: The address is not valid.
    """

    def __init__(
        self,
        address: str,
        *,
        ocr: TextEngine | Literal["auto"] | None = "auto",
        patience_s: float = PATIENCE_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._halt = Halt()
        self._machine = Machine(address, patience_s, transport, Clock(pause=self._halt.pause))
        self.address = self._machine.address
        self._view = View(ocr)
        self._buffer: list[str] = []
        self._held: list[KeyUp | MouseUp] = []
        self._seen: Observation | None = None
        self._lists_windows: bool | None = None  # whether it has done so; False if it could not at the first look
        self._settle = Settle(self._frame, lambda: -math.inf, pause=self._halt.pause)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def display(self) -> str:
        """Address of the machine, by which a run is resumed."""
        return self.address

    @property
    def private(self) -> bool:
        """Whether the machine belongs to the agent alone, as OSWorld's do."""
        return True

    @property
    def home(self) -> Path | None:
        """None: the files of the machine are not here."""
        return None

    @property
    def halt(self) -> Halt:
        """See `Desktop.halt`."""
        return self._halt

    @cached_property
    def applications(self) -> Catalog:
        """The applications of the machine; none where it cannot list them."""
        try:
            entries = _ENTRIES.validate_python(self._machine.ask("applications") or [])
        except ValidationError:
            entries = []
        found = {entry.id: entry.application() for entry in reversed(entries)}  # the first of an id counts
        return Catalog(list(found.values()), "")

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Look at the screen: fetch its pixels, its accessibility tree and its windows.

        Raises:
            ConnectionLost: The server did not answer in time.
            Halted: A stop was requested.
        """
        self._halt.check()
        screenshot = self._machine.screenshot()
        tree, notes = self._tree()
        windows = listed_windows(self._machine.ask("windows")) if self._lists_windows is not False else None
        self._lists_windows = self._lists_windows or windows is not None
        seen = self._view.observe(screenshot, tree, windows, read_texts)
        self._seen = replace(seen, notes=(*notes, *seen.notes), buffer=tuple(self._buffer))
        return self._seen

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive, and wait until the screen has settled; see `Desktop.perform`.

        Where the connection breaks after the input was sent, the result says that it may have arrived.

        Raises:
            ConnectionLost: The server cannot be reached; nothing was done.
            Halted: A stop was requested.
        """
        self._halt.check()
        if (result := done_without_input(action, self._buffer)) is not None:
            return result
        if isinstance(action, Wait):
            self._halt.pause(action.time)
            return ActionResult(ok=True)
        before, started = self._settle.look(), time.monotonic()
        try:
            done = self._switch(action) if isinstance(action, SwitchApplications) else self._input(action, before)
        except NotKnown as error:
            note = f"It is not known what of this was carried out: {error}. Look at the screen before repeating it."
            self._note_held(action)
            return refused(note, "interrupted")
        if not done.ok:
            return done
        self._note_held(action)
        if settle is not True:
            return done
        settled = self._settle.wait(before, started, QUIET_S, FIRST_CHANGE_S, LIMIT_S)
        return done.model_copy(update={"settled_after_s": settled})

    def clear_buffer(self) -> None:
        """See `Desktop.clear_buffer`."""
        self._buffer.clear()

    def release_all(self) -> None:
        """Release the keys and buttons that were pressed and kept down."""
        while self._held:
            release = self._held.pop()
            try:
                self._execute(pyautogui_code(release, self._seen or self.observe()))
            except (NotKnown, ConnectionLost) as error:
                logger.warning("%s was not released: %s", release, error)

    def close(self) -> None:
        """Disconnect; the machine stays as it is."""
        self._view.close()
        self._machine.close()

    def _tree(self) -> tuple[str | None, tuple[str, ...]]:
        try:
            return self._machine.accessibility(), ()
        except ValueError as error:
            return None, (f"The machine gives no accessibility tree ({error}); only texts are seen.",)

    def _input(self, action: Action, before: NDArray[np.uint32]) -> ActionResult:
        screen, problem = self._verified(action, before)
        if problem is not None:
            return problem
        try:
            code = pyautogui_code(action, screen)
        except NotTranslatable as error:
            return refused(str(error), "no_key")
        self._execute(code)
        return ActionResult(ok=True)

    def _note_held(self, action: Action) -> None:
        """Remember what releases keys and buttons that stay down."""
        match action:
            case KeyDown():
                self._held.append(KeyUp(keys=action.keys))
            case MouseDown():
                self._held.append(MouseUp(button_type=action.button_type))
            case KeyUp() | MouseUp():
                at_rest = action.model_copy(update={"element_id": None, "at": None}) if action.targets() else action
                self._held = [held for held in self._held if held != at_rest]

    def _execute(self, code: str) -> None:
        ended = self._machine.execute(["python", "-c", PREFIX + code])
        if ended.returncode != 0:
            reason = (ended.error.strip() or ended.output.strip())[-300:]
            raise NotKnown(f"the machine could not carry it out: {reason}")

    def _verified(self, action: Action, before: NDArray[np.uint32]) -> tuple[Observation, ActionResult | None]:
        """Return an observation in which the targets of an action are where they are now, or why there is none."""
        seen = self._seen or self.observe()
        if (problem := unusable_target(action, seen)) is not None:
            return seen, problem
        targets = elements_of(action, seen)
        front = seen.active_window if not action.targets() else None
        areas = [*(_window_of(target, seen) for target in targets), *([front.rect] if front is not None else [])]
        if all(looks_as_seen(seen, before, area) for area in areas):
            return seen, None
        now = self.observe()
        for target in targets:
            found = now.by_id.get(target.id)
            if found is None or (found.role, found.name) != (target.role, target.name):
                what = f"the {target.role} {target.name[:60]!r}"
                return now, refused(f"Element {target.id}, {what}, is no longer as it was seen. Look again.", "stale")
        if front is not None and now.active_window is not None and now.active_window.id != front.id:
            return now, refused(f"The keyboard now belongs to {now.active_window.title!r}. Look again.", "stale")
        return now, None

    def _switch(self, action: SwitchApplications) -> ActionResult:
        seen = self._seen or self.observe()
        window = find_window(action.app_code, seen.windows, self.applications)
        if window is not None and window.id > 0:
            self._machine.activate(window.id)
            return ActionResult(ok=True, switched_to=window.title or window.app)
        if window is None:
            with suppress(LaunchFailed):
                application = self.applications.find(action.app_code)
                self._machine.launch(application.argv)
                known = {each.id for each in seen.windows}
                self._wait_for_window(known)
                return ActionResult(ok=True, started=application.name)
        self._execute(pyautogui_code(action, seen))
        return ActionResult(ok=True)

    def _wait_for_window(self, known: set[int]) -> None:
        def came() -> bool:
            windows = listed_windows(self._machine.ask("windows"))
            return windows is None or any(window.id not in known and not window.popup for window in windows)

        Clock(pause=self._halt.pause).until(came, LAUNCH_LIMIT_S, 0.3)

    def _frame(self) -> NDArray[np.uint32]:
        import numpy as np

        rgb = self._machine.screenshot().astype(np.uint32)
        return (rgb[:, :, 0] << 16 | rgb[:, :, 1] << 8 | rgb[:, :, 2]).astype(np.uint32, copy=False)


class _Entry(BaseModel):
    """A desktop entry as `aci.remote.on_machine` prints it."""

    id: str
    name: str
    argv: tuple[str, ...]
    generic_name: str
    keywords: tuple[str, ...]
    categories: tuple[str, ...]
    window_class: str

    def application(self) -> Application:
        """Return it as the rest of the package knows applications."""
        return Application(**self.model_dump())


_ENTRIES = TypeAdapter(list[_Entry])


def _window_of(element: Element, seen: Observation) -> Rect:
    return next((window.rect for window in seen.windows if window.id == element.window_id), element.rect)
