"""The screen as the X server knows it: pixels, windows in stacking order, and requests to the window manager.

Window properties follow the Extended Window Manager Hints (EWMH 1.5) and ICCCM 2.0.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aci.errors import NoDisplay
from aci.observation.geometry import Point, Rect
from aci.observation.pixels import is_changed
from aci.observation.snapshot import Snapshot, Window
from aci.screen.damage import Damage
from aci.screen.event_thread import connection_lost
from aci.screen.monitors import gaps
from aci.screen.window_watch import WindowWatch
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VIEWABLE = 2
_INPUT_OUTPUT = 1
_CLIENT_PID = 1 << 1  # XResClientIdPID mask of the X-Resource extension 1.2
_SERVER_INTERPRETED, _LOCAL_HOST = 5, 252  # families of the X server's access list (X.h, Xauth.h)
_DEEPEST_FRAME = 4
_POLL_S = 0.005
_Asked = dict[int, Any]  # requests for a property that were sent, by window
_PACKAGES = re.compile(r"^(?:[a-z][a-z0-9_]*-){2,}(?=\w*[A-Z]\w*$)")


@contextmanager
def lost_connection_is_reported() -> Iterator[None]:
    """Raise `ConnectionLost` for the errors of python-xlib and mss after the server is gone."""
    from mss.exception import ScreenShotError
    from Xlib.error import ConnectionClosedError

    try:
        yield
    except (ConnectionClosedError, ScreenShotError, OSError) as error:
        raise connection_lost(error) from error


_connecting = threading.Lock()


def _connect(name: str) -> Any:
    """Connect with separate tables: python-xlib shares those of extensions, which each server numbers differently."""
    from Xlib import error
    from Xlib.display import Display
    from Xlib.protocol import display, event

    tables = {
        "extension_major_opcodes": {},
        "error_classes": error.xerror_class.copy(),
        "event_classes": event.event_class.copy(),
    }
    for table, fresh in tables.items():
        setattr(display.Display, table, fresh)
    connection = Display(name)
    for table, filled in tables.items():
        setattr(connection.display, table, filled)
    return connection


def open_display(name: str) -> Any:
    """Connect to an X display.

    Raises:
        NoDisplay: There is none by that name, or it refuses the connection.
    """
    from Xlib.error import ConnectionClosedError, DisplayError, XauthError

    try:
        with _connecting:
            return _connect(name)
    except (ConnectionClosedError, DisplayError, XauthError, OSError) as error:
        raise NoDisplay(
            f"Cannot connect to the X display {name!r} ({error}). Set DISPLAY to a running X11 session, or use a "
            "virtual desktop (`--virtual`)."
        ) from error


@dataclass(frozen=True, slots=True)
class _Facts:
    """Properties that a window sets."""

    app: str
    pid: int | None
    dialog: bool
    tooltip: bool


class Screen:
    """A connection to an X display; usable from several threads.

    Args:
        display_name: Name of the display.
        private: Whether no compositor runs there. Its pixels are then fetched only after something was drawn.
        name_of: Names the application of a window by its class and process; otherwise its class is the name.

    Raises:
        NoDisplay: There is none by that name, or it refuses the connection.
    """

    def __init__(
        self, display_name: str, private: bool = False, name_of: Callable[[str, int], str] | None = None
    ) -> None:
        self._name = display_name
        self._name_of = name_of
        self._lock = threading.RLock()
        self._display = open_display(display_name)
        self._root = self._display.screen().root
        self._atoms: dict[str, int] = {}
        self._camera: Any = None
        self._camera_size = (0, 0)
        self._damage = Damage(self._display) if private and Damage.is_offered(self._display) else None
        self._frame: NDArray[np.uint32] | None = None  # the latest one, if it is current until something is drawn
        self._watch: WindowWatch | None = None
        self._windows: tuple[int, tuple[Window, ...]] | None = None  # at a number of changes

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, px."""
        with self._talking():
            geometry = self._root.get_geometry()
        return geometry.width, geometry.height

    @property
    def rect(self) -> Rect:
        """The whole screen."""
        return Rect(0, 0, *self.size)

    def dark(self) -> tuple[Rect, ...]:
        """Return disjoint rectangles that no monitor shows (RandR 1.5)."""
        shown = [Rect(one.x, one.y, one.width_in_pixels, one.height_in_pixels) for one in self._monitors()]
        return gaps(self.rect, shown)

    @cached_property
    def is_xwayland(self) -> bool:
        """Whether the server shows its windows in a Wayland session; the screen itself has no pixels then."""
        with self._talking():
            names = [str(self._display.get_atom_name(one.name)) for one in self._monitors()]
            return self._display.has_extension("XWAYLAND") or any(name.startswith("XWAYLAND") for name in names)

    def _monitors(self) -> list[Any]:
        if not self._display.has_extension("RANDR"):
            return []
        from Xlib.error import XError

        try:
            with self._talking():
                return list(self._root.xrandr_get_monitors(True).monitors)
        except XError:  # an older RandR
            return []

    def close(self) -> None:
        """Close the connection, which the server may already have done."""
        from mss.exception import ScreenShotError
        from Xlib.error import ConnectionClosedError

        with self._lock:
            camera, self._camera = self._camera, None
            watch, self._watch, self._windows = self._watch, None, None
            for connection in (watch, camera, self._display):
                if connection is not None:
                    with suppress(ConnectionClosedError, ScreenShotError, OSError):  # the server went first
                        connection.close()

    def screenshot(self) -> NDArray[np.uint8]:
        """Return the pixels, (H, W, 3) uint8 RGB, contiguous."""
        return to_rgb(self.frame())

    def frame(self) -> NDArray[np.uint32]:
        """Return the pixels as the server stores them, (H, W) uint32: quick to take and to compare.

        On a private display, it is the same object as long as nothing was drawn.
        """
        import numpy as np

        if self._damage is None:
            return self._grab(self.size).view(np.uint32)[:, :, 0]
        with self._talking():
            drawn, size = self._damage.since_last()
            if drawn or self._frame is None or self._frame.shape != (size[1], size[0]):
                self._frame = None  # if fetching fails, what was drawn must not be forgotten
                self._frame = self._grab(size).view(np.uint32)[:, :, 0]
            return self._frame

    def windows(self) -> tuple[Window, ...]:
        """Return the visible windows, topmost first, with menus and other popups."""
        with self._talking():
            if self._watch is None:
                self._watch = WindowWatch(open_display(self._name))
            changes = self._watch.changes()
            if self._windows is None or self._windows[0] != changes:
                self._windows = changes, self._read_windows(self._watch)
            return self._windows[1]

    def _read_windows(self, watch: WindowWatch) -> tuple[Window, ...]:
        tops, managed = self._viewable([child.id for child in self._root.query_tree().children])
        watch.follow([*tops, *managed])  # before their properties are read, so that no change is missed
        clients = self._clients_by_top(managed)
        return self._describe([(clients.get(top, top), top in clients) for top in reversed(tops)])

    def managed_windows(self) -> tuple[Window, ...]:
        """Return the windows that the window manager manages, minimized ones too, oldest first."""
        with self._talking():
            return self._describe([(client, True) for client in self._managed()])

    def window_at(self, point: Point) -> int | None:
        """Return the id of the window that receives a click at a point, or None for the background."""
        with self._talking():
            top = _id(self._root.translate_coords(self._root, point.x, point.y).child)
            if not top:
                return None
            return self._clients_by_top(self._managed()).get(top, top)

    def is_tooltip(self, window_id: int) -> bool:
        """Return whether a window is a tooltip."""
        with self._talking():
            facts = self._facts(self._facts_asked([window_id])).get(window_id)
            return facts is not None and facts.tooltip

    def active_window(self) -> int | None:
        """Return the id of the window with the keyboard focus, or None."""
        with self._talking():
            active = self._root_cardinals("_NET_ACTIVE_WINDOW")
        return active[0] if active and active[0] else None

    def pointer(self) -> Point:
        """Return the position of the mouse pointer."""
        with self._talking():
            answer = self._root.query_pointer()
        return Point(answer.root_x, answer.root_y)

    def activate(self, window_id: int, limit_s: float = 1.0) -> bool:
        """Bring a window, even a minimized one, to the front; return whether it was active within the limit."""
        if self.active_window() == window_id:
            self._raise(window_id)
            return True
        self._ask_manager("_NET_ACTIVE_WINDOW", window_id, (2, 0, 0))
        return Clock().until(lambda: self.active_window() == window_id, limit_s, _POLL_S)

    def close_window(self, window_id: int) -> None:
        """Ask the application to close a window, as its close button does; it may answer with a question."""
        self._ask_manager("_NET_CLOSE_WINDOW", window_id, (0, 2))

    def clear_clipboard(self) -> None:
        """Empty the clipboard and the selections, so that pasting gives nothing."""
        from Xlib import X
        from Xlib.protocol import request

        with self._talking():
            for selection in ("CLIPBOARD", "PRIMARY", "SECONDARY"):
                request.SetSelectionOwner(
                    display=self._display.display, window=X.NONE, selection=self._atom(selection), time=X.CurrentTime
                )
            self._display.sync()

    def admit_only_this_user(self) -> None:
        """Make the display's server refuse other users of the machine, which it admits by default."""
        change_hosts = _change_hosts_request()
        with self._talking():
            # Both are answered in order: the own user is admitted before all local ones are not.
            own = f"localuser\0#{os.getuid()}".encode()
            change_hosts(display=self._display.display, mode=0, family=_SERVER_INTERPRETED, host=list(own))
            change_hosts(display=self._display.display, mode=1, family=_LOCAL_HOST, host=[])
            self._display.sync()

    def wait_for_manager(self, limit_s: float) -> bool:
        """Wait until a window manager handles events; return whether one did within the limit.

        A window that maps while it is still starting gets no focus. It answers a request for the frame of an unmapped
        window once it has started; earlier requests are lost, so they are repeated.
        """
        if not Clock().until(self.has_manager, limit_s, _POLL_S):
            return False
        with self._talking():
            probe = self._root.create_window(0, 0, 1, 1, 0, 0)

        def answered() -> bool:
            self._ask_manager("_NET_REQUEST_FRAME_EXTENTS", probe.id, ())
            with self._talking():
                return bool(_cardinals(self._asked_for([probe.id], "_NET_FRAME_EXTENTS")))

        try:
            return Clock().until(answered, limit_s, _POLL_S)
        finally:
            with self._talking():
                probe.destroy()
                self._display.flush()

    def manager_name(self) -> str:
        """Return the name of the window manager; empty if it has none."""
        with self._talking():
            owner = self._root_cardinals("_NET_SUPPORTING_WM_CHECK")
            return _text(_values(self._asked_for(owner[:1], "_NET_WM_NAME"))[owner[0]]) if owner else ""

    def keyboard_layouts(self) -> str:
        """Return the keyboard layouts by their XKB names, such as "de,us"; empty if the server does not name them."""
        with self._talking():
            answer = self._root.get_full_property(self._atom("_XKB_RULES_NAMES"), 0)
        rules = _text(bytes(answer.value)).split("\0") if answer else []
        return rules[2] if len(rules) > 2 else ""

    def has_manager(self) -> bool:
        """Return whether a window manager runs, without which windows get neither places nor the keyboard."""
        with self._talking():
            owner = self._root_cardinals("_NET_SUPPORTING_WM_CHECK")
        return bool(owner)

    def _grab(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        import numpy as np
        from mss import MSS
        from mss.exception import ScreenShotError

        with lost_connection_is_reported(), self._lock:
            if self._camera is not None and self._camera_size != size:
                self._camera.close()  # its buffer has the size that the screen had
                self._camera = None
            if self._camera is None:
                self._camera, self._camera_size = MSS(display=self._name), size
            try:
                shot = self._camera.grab({"left": 0, "top": 0, "width": size[0], "height": size[1]})
            except ScreenShotError:
                if self.size == size:
                    raise
                return self._grab(self.size)  # the screen changed in between
            except AssertionError as error:  # so mss reports a connection that ended during a request
                raise OSError("no answer to a request for pixels") from error
        return np.frombuffer(shot.raw, dtype=np.uint8).reshape(shot.height, shot.width, 4)

    @contextmanager
    def _talking(self) -> Iterator[None]:
        with self._lock, lost_connection_is_reported():
            yield

    def _raise(self, window_id: int) -> None:
        from Xlib import X

        with self._talking():
            self._window(window_id).configure(stack_mode=X.Above)
            self._display.sync()

    def _ask_manager(self, message: str, window_id: int, data: Sequence[int]) -> None:
        from Xlib import X
        from Xlib.protocol.event import ClientMessage

        with self._talking():
            event = ClientMessage(
                window=self._window(window_id),
                client_type=self._atom(message),
                data=(32, [*data, *([0] * (5 - len(data)))]),
            )
            self._root.send_event(event, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            self._display.sync()

    def _window(self, window_id: int) -> Any:
        return self._display.create_resource_object("window", window_id)

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._display.intern_atom(name)
        return self._atoms[name]

    def _root_cardinals(self, name: str) -> list[int]:
        return _cardinals(self._asked_for([self._root.id], name))

    def _managed(self) -> list[int]:
        return self._root_cardinals("_NET_CLIENT_LIST")

    def _viewable(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return which of some windows are drawn, and the windows that the window manager manages."""
        from Xlib.protocol import request

        managed = self._asked_for([self._root.id], "_NET_CLIENT_LIST")
        answers = _replies(self._asked(request.GetWindowAttributes, "window", ids))
        viewable = [
            window
            for window, answer in zip(ids, answers, strict=True)
            if answer is not None and answer.map_state == _VIEWABLE and answer.win_class == _INPUT_OUTPUT
        ]
        return viewable, _cardinals(managed)

    def _clients_by_top(self, managed: Sequence[int]) -> dict[int, int]:
        """Return the client in each direct child of the root, such as a frame, by the child's id."""
        from Xlib.protocol import request

        holders = {client: client for client in managed}
        rising = list(managed)
        found: dict[int, int] = {}
        for _ in range(_DEEPEST_FRAME):
            answers = _replies(self._asked(request.QueryTree, "window", [holders[client] for client in rising]))
            still = []
            for client, answer in zip(rising, answers, strict=True):
                if answer is None:
                    continue
                if _id(answer.parent) in (self._root.id, 0):
                    found[holders[client]] = client
                else:
                    holders[client] = _id(answer.parent)
                    still.append(client)
            rising = still
        return found

    def _describe(self, shown: Sequence[tuple[int, bool]]) -> tuple[Window, ...]:
        from Xlib.protocol import request

        # Everything is asked for before the first answer, since on a busy machine each one takes a while.
        ids = [window for window, _ in shown]
        facts_asked = self._facts_asked(ids)
        sizes_asked = self._asked(request.GetGeometry, "drawable", ids)
        place_arguments = {"dst_wid": self._root.id, "src_x": 0, "src_y": 0}
        corners_asked = self._asked(request.TranslateCoords, "src_wid", ids, **place_arguments)
        names = "_NET_WM_NAME", "WM_NAME", "_NET_WM_STATE", "_NET_FRAME_EXTENTS"
        properties_asked = [self._asked_for(ids, name) for name in names]
        root = [self._root.id]
        active_asked, manager_asked = (
            self._asked_for(root, name) for name in ("_NET_ACTIVE_WINDOW", "_NET_SUPPORTING_WM_CHECK")
        )
        screen = self.rect

        facts = self._facts(facts_asked)
        rects = {
            window: Rect(corner.x, corner.y, size.width, size.height)
            for window, size, corner in zip(ids, _replies(sizes_asked), _replies(corners_asked), strict=True)
            if size is not None and corner is not None
        }
        titles, old_titles, states, borders = (_values(asked) for asked in properties_asked)
        active = next(iter(_cardinals(active_asked)), None) or None
        has_manager, modal = bool(_cardinals(manager_asked)), self._atom("_NET_WM_STATE_MODAL")
        apps = {known.pid: known.app for known in facts.values() if known.pid is not None and known.app}
        windows = []
        for window, is_managed in shown:
            known, rect = facts.get(window), rects.get(window)
            if known is None or rect is None or (not is_managed and rect.intersection(screen) is None):
                continue
            popup = not is_managed and has_manager
            windows.append(
                Window(
                    id=window,
                    title="" if popup else _text(titles[window] if titles[window] is not None else old_titles[window]),
                    app=known.app or apps.get(known.pid or 0, ""),
                    rect=rect,
                    active=window == active,
                    popup=popup,
                    pid=known.pid,
                    modal=known.dialog or (states[window] is not None and modal in list(states[window])),
                    frame=_framed(rect, borders.get(window)),
                )
            )
        return tuple(windows)

    def _facts_asked(self, ids: Sequence[int]) -> tuple[_Asked, ...]:
        """Ask for the properties that make up `_Facts`; always anew, since the server reuses ids."""
        names = "WM_CLASS", "_NET_WM_PID", "WM_TRANSIENT_FOR", "_NET_WM_WINDOW_TYPE"
        return tuple(self._asked_for(ids, name) for name in names)

    def _facts(self, asked: tuple[_Asked, ...]) -> dict[int, _Facts]:
        classes, pids, owners, types = map(_values, asked)
        dialog, tooltip = self._atom("_NET_WM_WINDOW_TYPE_DIALOG"), self._atom("_NET_WM_WINDOW_TYPE_TOOLTIP")
        found = {}
        for window in classes:
            kinds = [] if types[window] is None else list(types[window])
            pid = int(pids[window][0]) if pids[window] is not None and len(pids[window]) else self._pid_of(window)
            app = "" if classes[window] is None else _class_name(classes[window])
            if app and pid and self._name_of is not None:
                app = self._name_of(app, pid)
            if app or pid:
                is_dialog = owners[window] is not None and dialog in kinds
                found[window] = _Facts(app=app, pid=pid, dialog=is_dialog, tooltip=tooltip in kinds)
        return found

    def _pid_of(self, window: int) -> int | None:
        """Return the process of a window without _NET_WM_PID (X-Resource extension)."""
        if not self._display.has_extension("X-Resource"):
            return None
        from Xlib.error import XError

        try:
            answer = self._display.res_query_client_ids([{"client": window, "mask": _CLIENT_PID}])
        except XError:
            return None
        return next((int(found.value[0]) for found in answer.ids if len(found.value)), None)

    def _asked_for(self, ids: Sequence[int], name: str) -> _Asked:
        """Ask for a property of each window."""
        from Xlib.protocol import request

        arguments = {"property": self._atom(name), "type": 0, "delete": 0, "long_offset": 0, "long_length": 1024}
        return dict(zip(ids, self._asked(request.GetProperty, "window", ids, **arguments), strict=True))

    def _asked(self, kind: Any, named: str, ids: Sequence[int], **arguments: Any) -> list[Any]:
        """Send a request for each window, which its argument `named` names, without waiting for the replies."""
        display = self._display.display
        return [kind(display=display, defer=True, **{named: window}, **arguments) for window in ids]


def _replies(asked: Iterable[Any]) -> list[Any]:
    """Wait for the replies to requests; None for a window that has vanished."""
    from Xlib.error import XError

    answers = list(asked)
    for place, answer in enumerate(answers):
        try:
            answer.reply()
        except XError:
            answers[place] = None
    return answers


def _values(asked: _Asked) -> dict[int, Any]:
    """Wait for the values of a property, by window; None for a window without it."""
    return {
        window: answer.value[1] if answer is not None and answer.property_type else None
        for window, answer in zip(asked, _replies(asked.values()), strict=True)
    }


def _cardinals(asked: _Asked) -> list[int]:
    """Wait for a property of one window that holds numbers; [] without it."""
    [numbers] = _values(asked).values()
    return list(numbers) if numbers is not None else []


def to_rgb(frame: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return the pixels of `Screen.frame`, (H, W) uint32, as (H, W, 3) uint8 RGB, contiguous."""
    import numpy as np

    stored = np.ascontiguousarray(frame).view(np.uint8).reshape(*frame.shape, 4)
    pixels = np.empty((*frame.shape, 3), np.uint8)
    for channel in range(3):  # five times faster than a copy of the reversed axis
        pixels[:, :, channel] = stored[:, :, 2 - channel]
    return pixels


def looks_as_seen(seen: Snapshot, frame: NDArray[np.uint32], area: Rect) -> bool:
    """Return whether the pixels of an area, as far as it is on the screen, are as seen, but for a blinking caret."""
    part = area.intersection(seen.screen)
    if part is None or frame.shape != seen.screenshot.shape[:2]:
        return False
    rows, columns = slice(part.y, part.bottom), slice(part.x, part.right)
    return not is_changed(seen.screenshot[rows, columns], to_rgb(frame[rows, columns]))


def _change_hosts_request() -> Any:
    """Return the request ChangeHosts (X11 protocol, opcode 109); python-xlib's own knows no local family."""
    from Xlib.protocol import rq

    class ChangeHosts(rq.Request):  # type: ignore[misc]
        _request = rq.Struct(
            rq.Opcode(109),
            rq.Card8("mode"),
            rq.RequestLength(),
            rq.Card8("family"),
            rq.Pad(1),
            rq.LengthOf("host", 2),
            rq.List("host", rq.Card8Obj),
        )

    return ChangeHosts


def _id(window: Any) -> int:
    return window if isinstance(window, int) else int(window.id)


def _class_name(value: Any) -> str:
    """Return the class part of WM_CLASS, which holds two zero-terminated strings.

    Java gives the name of the main class with its packages, such as "org-example-Editor"; these are left out.
    """
    parts = [part for part in bytes(value).decode("latin-1").split("\0") if part]
    return _PACKAGES.sub("", parts[-1]) if parts else ""


def _text(answer: Any) -> str:
    """Decode a title: UTF-8 in new properties, Latin-1 in old ones."""
    raw = bytes(answer) if answer is not None else b""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _framed(rect: Rect, borders: Any) -> Rect | None:
    numbers = list(borders) if borders is not None else []
    if len(numbers) != 4 or not any(numbers):
        return None
    left, right, top, bottom = (int(number) for number in numbers)
    return Rect(rect.x - left, rect.y - top, rect.width + left + right, rect.height + top + bottom)
