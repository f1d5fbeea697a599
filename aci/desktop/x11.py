"""Desktops on an X display: the user's own screen, or the inside of a virtual desktop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from aci.accessibility.connection import BackEnd, connect_accessibility
from aci.accessibility.reading import Documents, Reading
from aci.accessibility.roles import MENU_ENTRIES
from aci.acting.actions import LOOKS, Action, Click
from aci.acting.activity import Activity
from aci.acting.performer import Performer
from aci.acting.result import ActionResult
from aci.acting.settle import QUIET_S, REPORTED_S, Settle, Settles, is_change
from aci.acting.spans import Spans
from aci.acting.targeting import Aim
from aci.applications.catalog import Catalog, installed_applications
from aci.applications.launching import Launcher, Process
from aci.applications.naming import WindowNames
from aci.desktop.machine import Machine, read_machine
from aci.errors import ConnectionLost, NoDisplay
from aci.input.backends import InputName, open_input_device
from aci.input.clipboard import Clipboard
from aci.input.input_device import InputDevice
from aci.input.typist import Typist
from aci.input.user_watch import UserWatch
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from aci.observation.pixels import changed_areas
from aci.observation.window_pictures import WindowPictures
from aci.screen.emergency_stop import Halt, StopBy
from aci.screen.monitors import shown
from aci.screen.screen import Screen, to_rgb
from aci.screen.wayland import limits
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.accessibility.client import AccessibilityClient
    from aci.candidates.finder import CandidateFinder
    from aci.ocr.screen_text import TextReader
    from aci.ocr.text_engine import TextEngine

_LAUNCH_QUIET_S = 0.3  # applications map their window first and draw its content afterwards
_DRAWN_QUIET_S = 0.05
_CRASH_LIMIT_S = 2.0  # longest time that a crashed program takes to write a core file after its connection is lost
_LOADING_POLL_S = 0.2
_FILLED_LIMIT_S, _FILLED_POLL_S = 1.5, 0.05  # GTK 4 shows a new window before its tree has content
_MAX_LOOKS = 4  # maximum number of looks at a screen that does not settle
_CHECK_LIMIT_S = 3.0
_BLANK_S, _LOADING_LIMIT_S = 1.0, 5.0  # an empty page looks like a loading one, but uses no processor time
_SILENCE_LIMIT_S = 6.0  # KDE's programs answer nobody while they make their settings, for up to 4 s
_MINOR_SHARE = 0.05  # share of the screen that a status bar or some toolbar buttons take
_COMPLETE_LIMIT_S = 0.5  # longest wait for the complete reading that checks a look; it continues in the background
_TOOLTIP_S = 0.75  # Qt opens a tooltip 0.7 s after a window opened under the resting pointer, GTK 0.5 s
_OPENS_S = 0.6  # on a busy machine, Java opens a menu or list of choices this long after it has reacted to the click
_OPENERS = frozenset({"menu", "combo box"})
_SCROLL_S = 0.65  # Qt scrolls to a clicked entry 0.1 s after the time for a double click, 0.4 s
_REST_S = 1.0  # less than a model takes for a step; faster callers leave no time for background reads


class X11Desktop:
    """The desktop on an X display.

    ```python
    with X11Desktop(":0") as desktop:
        print(desktop.observe().to_text())
    ```

    Attributes:
        display: Name of the X display.
        screen: The screen, with its pixels and windows.
        accessibility: The client of its accessibility bus.
        rest_s: Idle time after an observation until partly read applications are read completely in the background;
            None for never.
        awaits_text_engine: Whether the first observations wait until the OCR engine is loaded, even if elements
            account for most of a window.
        private: Whether the desktop belongs to the agent alone.
        home: HOME of the applications.
        halt: The emergency stop, which stays in effect until it is lifted.
    """

    def __init__(
        self,
        display: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        private_home: Path | None = None,
        accessibility: Callable[[], AccessibilityClient] | BackEnd = "dbus",
        ocr: TextEngine | Literal["auto"] | None = "auto",
        ids: Iterator[int] | None = None,
        input: InputName = "xtest",
        stop_by: StopBy | None = StopBy(),  # noqa: B008 - immutable
    ) -> None:
        """Connect to the display.

        Args:
            display: Name of the X display, such as ":0"; by default DISPLAY of the environment.
            environment: Environment that names the session bus and is passed to launched applications; by default that
                of this process.
            private_home: HOME of a private desktop, in which settings of applications may be written.
            accessibility: Back end for the accessibility bus of the session, or a callback that connects a client.
                Without such a bus, observations have no elements, and a note says so.
            ocr: OCR engine for text that is only pixels; "auto" for RapidOCR if it is installed, None for no OCR.
            ids: Source of element ids, shared with a given `accessibility`; by default counted from 1.
            input: Back end that moves the pointer and presses keys.
            stop_by: How the person at the screen triggers the emergency stop; None to disable it.

        Raises:
            NoDisplay: There is no display, or it refuses the connection.
            UnknownKey: The name of the stop key is unknown.
            MissingDependency: The accessibility back end is not installed.
        """
        self._environment = dict(os.environ if environment is None else environment)
        name = display or self._environment.get("DISPLAY", "")
        if not name:
            raise NoDisplay(
                "DISPLAY is not set, so there is no screen to work on. Run this inside an X11 session, name a display "
                "(`--display :0`), or use a virtual desktop (`--virtual`)."
            )
        self._environment["DISPLAY"] = self.display = name
        self.private = private_home is not None
        self.home = private_home or Path.home()
        self._ids = count(1) if ids is None else ids
        self._open = ExitStack()
        self._seen: Observation | None = None
        self._looked_at = 0.0
        self._by_look = False  # whether nothing was done since the latest observation
        self._whole = False  # whether the latest observation is complete, so that any change causes an event
        self._frame: NDArray[np.uint32] | None = None
        self._glimpsed: tuple[NDArray[np.uint32], NDArray[np.uint8]] | None = None  # a frame, and its RGB pixels
        self._pictures = WindowPictures()
        self._documents = self._documents_before = Documents()
        self._silent = self._silent_before = frozenset[int]()
        self._acted = False
        self._acted_at = 0.0  # end of the latest action, on the monotonic clock
        self._delays_places = False  # whether an application in the latest reading reports places at intervals
        self._clicked = ""  # the button that the latest action clicked; empty if it was no click
        self._settles = True  # whether the caller of the current action wants the screen to settle
        self._latest_look = True, True  # its `read_texts` and `check`, reused for looks during an action
        # areas of text without an element at the latest look; None if OCR was off
        self._text_areas: Sequence[Rect] | None = None
        self._buffer: list[str] = []
        self._lost: dict[int, str] = {}
        self._crash_notes: list[str] = []
        self._input: InputName = input
        self.rest_s: float | None = _REST_S
        self.awaits_text_engine = True
        self.halt = Halt()
        with self._open:
            names = WindowNames(lambda: self.applications)
            self.screen = Screen(name, private=self.private, name_of=names.of)
            self._open.callback(self.screen.close)
            self._user_watch = None if stop_by is None else UserWatch(name, stop_by, self.halt)
            if self._user_watch is not None:
                self._open.callback(self._user_watch.close)
            self.accessibility = self._connect_accessibility(accessibility)
            self._open.callback(self.accessibility.close)
            self._open = self._open.pop_all()
        self._launcher = Launcher(
            self.screen, self._environment, lambda: self.applications, private_home, self.halt.pause
        )
        self._settle = Settle(
            self.screen.frame,
            self.accessibility.last_event_at,
            pause=self.halt.pause,
            activity=Activity(self._processes_in_front),
            popups=lambda: [window.rect for window in self.screen.windows() if window.popup],
        )
        self._camera = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aci-camera")
        self._ocr = ocr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def applications(self) -> Catalog:
        """The installed applications."""
        return installed_applications(self._environment)

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Return an observation: take a screenshot, and read the elements where pixels or events indicate changes.

        With `check`, the first observation after an action is verified: meanwhile the applications are read completely,
        and if anything has changed, the screen is observed again. Without it, the previous observation is returned if
        nothing was done and neither pixels nor events have changed. If the accessibility bus is lost, only recognized
        texts are found, and a note says so.

        Raises:
            ConnectionLost: The screen went away.
            Halted: The person triggered the emergency stop.
        """
        same_texts = read_texts == self._latest_look[0]
        self._latest_look = read_texts, check
        if self._seen is not None and not check and same_texts and self._is_current(self._seen):
            if (pointer := self.screen.pointer()) != self._seen.pointer:
                self._seen = replace(self._seen, pointer=pointer)
            return self._seen
        seen = self._observe(read_texts, check)
        if self.rest_s is not None:
            self.accessibility.rest(self.rest_s)
        return seen

    def _is_current(self, seen: Observation) -> bool:
        """Return whether an observation is still current, as far as pixels and events show."""
        if not (self._by_look and self._whole) or self._frame is None or len(seen.buffer) != len(self._buffer):
            return False
        self.halt.check()
        if self.accessibility.last_event_at() >= self._looked_at or self.accessibility.was_corrected:
            return False
        return changed_areas(self._frame, self.screen.frame()) == () and self.screen.windows() == seen.windows

    def _observe(self, read_texts: bool, check: bool) -> Observation:
        """Observe the screen; during an action, no application is read in the background."""
        started = time.monotonic()
        check = check and self._acted
        self._acted = self._acted and not check
        confirmed = False  # whether a complete reading agreed with a look; later changes show in pixels and events
        for _ in range(_MAX_LOOKS if check else 1):
            seen = self._look(read_texts, check and not confirmed)
            candidates = self._camera.submit(self._find_candidates, seen, self._text_areas)
            if not check:
                break
            self._settle.wait_for_late_updates(started + _CHECK_LIMIT_S, _in_menu(seen), self._delayed_s(seen))
            loaded = self._wait_for_answers(started) or self._wait_for_documents(started)
            changed = self._changed_share()
            waits_s = 0.0 if loaded or changed else _COMPLETE_LIMIT_S
            corrected = None if confirmed else self.accessibility.finish_rest(waits_s)
            if not (loaded or changed or corrected):
                break
            confirmed = (confirmed or corrected is False) and not loaded and changed <= _MINOR_SHARE
        self._documents_before = self._documents
        self._silent_before = self._silent if check else self._silent & self._silent_before
        for process in self._launcher.take_crashed():
            self._report_crash(process, "if it is started again")
        notes, self._crash_notes = (*seen.notes, *self._crash_notes), []
        found = shown(candidates.result(), self.screen.dark())
        self._seen = replace(seen, notes=notes, candidates=found)
        return self._seen

    def _delayed_s(self, seen: Observation) -> float:
        """Return how long a toolkit may wait before it reacts to the pointer, s."""
        pointer = self.screen.pointer()
        if _may_open_tooltip(self._seen, seen, pointer):
            return _TOOLTIP_S
        if not self._clicked:
            return 0.0
        there = [each for each in seen.elements if each.rect.contains(pointer)]
        pointed = min(there, key=lambda each: each.rect.area, default=None)
        opens = self._clicked == "right" or (pointed is not None and pointed.role in _OPENERS)
        if opens and self._seen is not None and self._seen.by_id.keys() == seen.by_id.keys():
            return _OPENS_S
        return _SCROLL_S if pointed is not None and self.accessibility.scrolls_late(pointed.id) else 0.0

    def _wait_for_answers(self, started: float) -> bool:
        """Wait while an application does not answer that did before, and return whether there was one.

        Some answer nobody while they prepare a dialog. One that hangs is waited for once.
        """
        waited = False
        while self._silent - self._silent_before and time.monotonic() - started < _SILENCE_LIMIT_S:
            waited = True
            self.halt.pause(_LOADING_POLL_S)
            self._silent = self._read(self.screen.windows()).silent
        return waited

    def _wait_for_documents(self, started: float) -> bool:
        """Wait while a page is loading, and return whether one was.

        A browser's own pages load without a visible request; they simply have no content until they are ready.
        """
        waited = False
        while self._documents.is_loading(self._documents_before):
            passed_s = time.monotonic() - started
            if passed_s > _LOADING_LIMIT_S or (passed_s > _BLANK_S and not self._settle.is_computing()):
                break
            waited = True
            self.halt.pause(_LOADING_POLL_S)
            self._documents = self._read(self.screen.windows()).documents
        return waited

    def _changed_share(self) -> float:
        """Return the share of pixels changed since the latest look; events do not count, since looks cause some."""
        now = self.screen.frame()
        if self._frame is None or not is_change(self._frame, now) or self._settle.only_blinks(self._frame):
            return 0.0
        areas = changed_areas(self._frame, now)
        return 1.0 if areas is None else max(sum(area.area for area in areas), 1) / now.size

    def _look_closely(self) -> Observation:
        self._acted = True
        return self._observe(self._latest_look[0], check=True)

    def _look(self, read_texts: bool, check: bool) -> Observation:
        self.halt.check()
        self._launcher.reap()
        if self._delays_places:
            self._settle.wait_for_report(self._acted_at + REPORTED_S)
        frame = self.screen.frame()
        picture = self._camera.submit(to_rgb, frame)
        windows = self.screen.windows()
        # Loading the engine takes a second of processor time, which an empty screen does not need.
        text_reader = self._text_reader if windows and read_texts else None
        if text_reader is not None:
            self._camera.submit(_prefetch_texts, text_reader, picture, windows)
        self._looked_at, self._by_look = time.monotonic(), True
        if self._frame is None:
            self._pictures.forget()
        self._frame = None
        reading = self._read(windows, self._nudge_pointer, self._pictures.changed(frame, windows))
        self._documents, self._delays_places = reading.documents, reading.delays_places
        self._silent = reading.silent
        self._whole = not (reading.lags or reading.unfilled or reading.notes)
        self._frame = frame
        if check:
            self.accessibility.rest(0.0)  # while texts are recognized
        elements, notes, unread = reading.elements, reading.notes, 0
        self._text_areas = None
        if text_reader is not None:
            texts = text_reader.read(picture.result(), elements, windows, meanwhile=self._settle.watch)
            elements, notes, unread = texts.elements, (*notes, *texts.notes), len(texts.unread)
            self._text_areas = (*texts.unread, *texts.repeated)
        elements = shown(elements, self.screen.dark())
        if self.screen.is_xwayland:
            notes = (*notes, *limits(reading.windowless))
        performer = self.__dict__.get("_performer")  # created by the first action
        held_keys = performer.held_keys if performer is not None else ()
        buttons = self._device.held.buttons if performer is not None else ()
        if held := [*held_keys, *(f"the {button} mouse button" for button in buttons)]:
            notes = (*notes, f"Held down: {', '.join(held)}.")
        return Observation(
            held_keys=held_keys,
            pointer=self.screen.pointer(),
            screenshot=picture.result(),
            elements=elements,
            windows=windows,
            notes=notes,
            buffer=tuple(self._buffer),
            focus_id=reading.focus_id if any(element.id == reading.focus_id for element in elements) else None,
            unread=unread,
        )

    def _find_candidates(self, seen: Observation, texts: Sequence[Rect] | None) -> tuple[Element, ...]:
        """Return unnamed candidates in the picture; runs in the background, as it takes as long as a look."""
        if texts is None or self._candidates is None:
            return ()
        return self._candidates.find(seen.screenshot, seen.elements, seen.windows, texts)

    def windows(self) -> tuple[Window, ...]:
        """Return the visible windows, topmost first."""
        return self.screen.windows()

    def element_now(self, element: Element) -> Element | None:
        """Return the current state of an element; see `aci.desktop.desktop.Desktop.element_now`."""
        self._whole = False  # it may reveal a change that the next observation has to show
        return self.accessibility.now([element])[0]

    def glance(self, ids: Collection[int]) -> Observation | None:
        """Refresh a part of the latest observation; see `aci.desktop.desktop.Desktop.glance`."""
        seen = self._seen
        if seen is None:
            return None
        wanted = {*ids} if seen.focus_id is None else {*ids, seen.focus_id}
        asked = [seen.by_id[each] for each in wanted if each in seen.by_id]
        looked_at, frame, windows = time.monotonic(), self.screen.frame(), self.screen.windows()
        if len(asked) < len(wanted) or list(map(_geometry, windows)) != list(map(_geometry, seen.windows)):
            return None
        now = {each.id: each for each in self.accessibility.now(asked) if each is not None}
        if len(now) < len(asked):
            return None
        focused = [each.id for each in now.values() if "focused" in each.states]
        self._looked_at, self._by_look, self._whole = looked_at, True, False
        self._seen = replace(
            seen,
            screenshot=to_rgb(frame),
            elements=tuple(now.get(each.id, each) for each in seen.elements),
            windows=windows,
            pointer=self.screen.pointer(),
            focus_id=focused[0] if len(focused) == 1 else None,
        )
        return self._seen

    def glimpse(self) -> Observation:
        """Return the present pixels, windows and pointer without elements; the latest observation stays as it is.

        No application is asked, so that it takes a few milliseconds.

        Raises:
            ConnectionLost: The screen went away.
        """
        self.halt.check()
        frame = self.screen.frame()
        if self._glimpsed is None or self._glimpsed[0] is not frame:
            self._glimpsed = frame, to_rgb(frame)
        pixels = self._glimpsed[1]
        return Observation(pixels, (), self.screen.windows(), pointer=self.screen.pointer())

    def resume(self, earlier: Observation) -> None:
        """Take an earlier observation for the latest one, because the screen shows the same again, as `glimpse` tells.

        The next observation reads all that has changed since the applications were last read.
        """
        self._looked_at, self._by_look, self._whole = time.monotonic(), True, False
        self._seen = earlier

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled.

        Element ids refer to the latest observation. No key or button stays pressed except those that `key_down` and
        `mouse_down` hold, and a stop or an error releases these too.

        Args:
            action: The primitive.
            settle: Whether to wait until the screen has settled; otherwise the wait is short, and a callback that
                detects the known effect ends it early.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
            Halted: The person triggered the emergency stop, before or during the action.
            MissingDependency: The input back end is not installed.
        """
        self.halt.check()
        self.accessibility.prepare_for_action()
        self._settles = settle is True
        try:
            return self._performer.perform(action, self._seen, settle, by_look=self._by_look)
        except BaseException:  # a stop or a lost connection; no later action may release the keys
            self.release_all()
            raise
        finally:
            if not isinstance(action, LOOKS):
                self._acted, self._by_look = settle is True, False
                self._clicked = action.button_type if isinstance(action, Click) else ""
                self._acted_at = time.monotonic()

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program on this screen, with accessibility enabled for it.

        Args:
            argv: Program and arguments; never a shell command line.
            cwd: Working directory; the desktop's home by default.
            wait_for_window: Whether to wait until it has a window and the screen has settled.
            timeout_s: Longest wait for the window, s.

        Raises:
            LaunchFailed: There is no such program, it ended at once, crashed, or showed no window in time.
        """
        return self._launch(argv, cwd, wait_for_window, timeout_s)

    def _launch(
        self,
        argv: Sequence[str],
        cwd: Path | None = None,
        wait_for_window: bool = True,
        timeout_s: float = 30.0,
        settle: bool = True,
    ) -> Process:
        for again in (False, True):
            before, started = self._settle.look(until_idle=settle), time.monotonic()
            process = self._launcher.launch(argv, cwd, wait_for_window, timeout_s)
            if wait_for_window and settle:
                self._settle.wait(before, started, quiet_s=_LAUNCH_QUIET_S, until_idle=True)
                self._wait_for_content(time.monotonic() + _FILLED_LIMIT_S)
            self._acted, self._by_look = settle, False
            if again or not self._lost.get(process.pid) or process.wait(_CRASH_LIMIT_S) is None or not process.crash:
                break
            self._launcher.forget(process)
            self._report_crash(process, "since it was started again")
        if wait_for_window:
            self._launcher.check(process)
        return process

    def _report_crash(self, process: Process, since: str) -> None:
        """Report a crash in the next observation; if reading the program caused it, read it gently from now on.

        Qt 5, for example, crashes on calls that all other toolkits answer.
        """
        name = self._lost.pop(process.pid, None)
        if name is None:
            self._crash_notes.append(f"{process.argv[0]} crashed ({process.crash}).")
            return
        self.accessibility.read_gently(name)
        self._crash_notes.append(
            f"{process.argv[0]} crashed ({process.crash}) while its elements were read; {since}, they are asked for "
            "one at a time."
        )

    def _read(
        self,
        windows: Sequence[Window],
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        try:
            reading = self.accessibility.read(windows, self.screen.rect, pointer_nudge, changed)
        except ConnectionLost as error:
            return Reading(notes=(f"No elements but recognized texts can be seen: {error}",))
        for lost in reading.lost:
            if self._launcher.has_launched(lost.session):
                self._lost[lost.session] = lost.name
            elif not Path(f"/proc/{lost.pid}").exists():
                # It is unknown how a program that was started elsewhere ended; reading it gently does no harm.
                self.accessibility.read_gently(lost.name)
        return reading

    def _wait_for_content(self, deadline: float) -> None:
        while self.screen.active_window() in self._read(self.screen.windows()).unfilled:
            if time.monotonic() >= deadline:
                return
            time.sleep(_FILLED_POLL_S)

    @property
    def started(self) -> tuple[Process, ...]:
        """Running programs that were started through this desktop, oldest first."""
        return self._launcher.started

    def reset(self) -> None:
        """End the programs that were started here, and release every key and button.

        Unsaved changes are lost. Everything else on the screen stays as it is.
        """
        self.release_all()
        self.clear_buffer()
        for process in reversed(self.started):
            process.terminate()

    def wait_for_processes(self) -> None:
        """Collect the exit status of launched programs that have been asked to end."""
        self._launcher.wait()

    def machine(self) -> Machine:
        """Return current facts about the machine and the user's folders."""
        manager, keyboard = self.screen.manager_name(), self.screen.keyboard_layouts()
        return read_machine(self._environment, self.home, self.screen.size, self.applications, manager, keyboard)

    def clear_buffer(self) -> None:
        """Clear the texts kept by `save_to_buffer`, which belong to one task."""
        self._buffer.clear()

    def release_all(self) -> None:
        """Release every key and button that is held; on a screen that went away, none is."""
        if "_device" in self.__dict__:
            with suppress(ConnectionLost):
                self._device.release_all()

    def close(self) -> None:
        """Disconnect from the screen, leaving the applications as they are; calling it again does nothing."""
        self._camera.shutdown(wait=True)
        self._launcher.reap()
        self._open.close()

    @cached_property
    def _device(self) -> InputDevice:
        moving = self._user_watch.own_motion if self._user_watch is not None else lambda point: None
        device = open_input_device(self._input, self.display, self.private, self.halt, moving)
        self._open.callback(device.close)
        return device

    @cached_property
    def _clipboard(self) -> Clipboard:
        clipboard = Clipboard(self.display)
        self._open.callback(clipboard.close)
        return clipboard

    @cached_property
    def _performer(self) -> Performer:
        clock = Clock(pause=self.halt.pause)
        return Performer(
            screen=self.screen,
            device=self._device,
            typist=Typist(self._device, lambda: self._clipboard, self.accessibility, self._wait_for_drawing, clock),
            locator=self.accessibility,
            aim=Aim(
                self.screen,
                self.accessibility,
                self.screen.frame,
                lambda: self._observe(*self._latest_look),
                self._look_closely,
                self._device.move,
                self._rest,
                lambda: self.accessibility.last_event_at() > self._looked_at,
                Spans(self.accessibility, self._recognize),
                clock,
            ),
            settle=self._settle,
            launch=lambda argv, settle: self._launch(argv, settle=settle),
            catalog=lambda: self.applications,
            buffer=self._buffer,
            clipboard_changes=lambda: self._clipboard.changes(),
            is_stop_key=self._user_watch.refuses if self._user_watch is not None else lambda symbols: False,
            values=self.accessibility,
            clock=clock,
        )

    def _processes_in_front(self) -> set[int]:
        """Return the processes that own the active window, and menus and other popups."""
        active = self.screen.active_window()
        return {
            window.pid
            for window in self.screen.windows()
            if window.pid is not None and (window.popup or window.id == active)
        }

    def _rest(self) -> None:
        if not self._settles:
            self._wait_for_drawing(by_events=True)
            return
        self._settle.wait(self._settle.look(), time.monotonic(), first_change_s=QUIET_S, limit_s=1.0)

    def _wait_for_drawing(self, by_events: bool = False) -> None:
        before, quiet_s = self._settle.look(), _DRAWN_QUIET_S
        self._settle.wait(
            before, time.monotonic(), quiet_s=quiet_s, first_change_s=quiet_s, limit_s=1.0, by_events=by_events
        )

    def rest_pointer(self) -> None:
        """Move the pointer to the lower right corner of the screen, where it points at nothing."""
        width, height = self.screen.size
        self._device.move(Point(width - 1, height - 1))

    def _nudge_pointer(self, window: Window) -> None:
        """Move the pointer over a window and back, which makes LibreOffice report correct extents."""
        before = self.screen.pointer()
        visible = window.rect.intersection(self.screen.rect)
        if visible is None:
            return
        center = visible.center
        self._device.move(Point(center.x + 1, center.y))
        self._device.move(center)
        self._wait_for_drawing()
        self._device.move(before)

    def _recognize(self, area: Rect) -> list[tuple[str, Rect]]:
        """Return the lines of text in an area of the screen, px."""
        engine = self._text_engine
        if engine is None:
            return []
        pixels = to_rgb(self.screen.frame())[area.y : area.bottom, area.x : area.right]
        return [(box.text, box.rect.moved(area.x, area.y)) for box in engine.recognize(pixels)]

    @cached_property
    def _text_engine(self) -> TextEngine | None:
        from aci.ocr.engines import default_engine

        return default_engine() if self._ocr == "auto" else self._ocr

    @cached_property
    def _text_reader(self) -> TextReader | None:
        from aci.ocr.screen_text import TextReader

        if self._text_engine is None:
            return None
        reader = TextReader(self._text_engine, self._ids)
        reader.awaits_engine = self.awaits_text_engine
        self._open.callback(reader.close)
        return reader

    @cached_property
    def _candidates(self) -> CandidateFinder | None:
        from aci.candidates.finder import candidate_finder

        return candidate_finder(self._ids)

    def _connect_accessibility(self, accessibility: Callable[[], AccessibilityClient] | BackEnd) -> AccessibilityClient:
        if callable(accessibility):
            return accessibility()
        try:
            return connect_accessibility(accessibility, self._environment, self._ids)
        except ConnectionLost as error:
            from aci.accessibility.client import AccessibilityClient
            from aci.accessibility.dbus.bus import MissingBus

            return AccessibilityClient(MissingBus(str(error)), self._ids)


def _geometry(window: Window) -> Hashable:
    return window.id, window.rect, window.active


def _in_menu(seen: Observation) -> bool:
    """Return whether a menu is open; a popup without entries is a tooltip."""
    menus = {element.window_id for element in seen.elements if element.role in MENU_ENTRIES}
    return any(window.popup and window.id in menus for window in seen.windows)


def _may_open_tooltip(before: Observation | None, seen: Observation, pointer: Point) -> bool:
    """Return whether a window has opened under the resting pointer, on an element with a tooltip."""
    if before is None:
        return False
    known = {window.id for window in before.windows}
    if any(window.popup and window.id not in known for window in seen.windows):
        return False  # a menu, or the tooltip itself
    top = next((window.id for window in seen.windows if window.rect.contains(pointer)), None)
    there = [each for each in seen.elements if each.window_id == top and each.rect.contains(pointer)]
    return top not in known and bool(there) and bool(min(there, key=lambda each: each.rect.area).description)


def _prefetch_texts(reader: TextReader, picture: Future[NDArray[np.uint8]], windows: Sequence[Window]) -> None:
    reader.look_ahead(picture.result(), windows)
