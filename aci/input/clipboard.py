"""The clipboard of an X display (ICCCM 2.0, section 2)."""

from __future__ import annotations

import select
import threading
import time
from dataclasses import dataclass
from typing import Any

from aci.screen.event_thread import EventThread
from aci.screen.screen import open_display

_ANSWER_LIMIT_S = 0.4
_CHUNK = 1 << 16  # bytes of a property per request, well below the protocol's 256 KiB
_TEXT_TARGETS = ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT", "STRING")
_PLAIN_PREFIXES = ("text/plain", "application/x-gtk-text-buffer")
# Formats that hold only the plain text, or no content
_PLAIN_NAMES = frozenset(
    {
        *("UTF8_STRING", "STRING", "TEXT", "COMPOUND_TEXT", "GTK_TEXT_BUFFER_CONTENTS"),
        *("TARGETS", "MULTIPLE", "TIMESTAMP", "SAVE_TARGETS", "DELETE", "LENGTH"),
        *("HOST_NAME", "USER", "CLASS", "NAME", "PROCESS", "CLIENT_WINDOW"),
    }
)


@dataclass(frozen=True, slots=True)
class Content:
    """What the clipboard holds."""

    text: str | None  # its text; None where it holds none
    plain: bool  # whether the text is all of it, so that it can be put back. An empty clipboard is plain, too


class Clipboard:
    """The CLIPBOARD selection of a display, served by a separate thread while a text is offered."""

    def __init__(self, display_name: str) -> None:
        self._display = open_display(display_name)
        self._root = self._display.screen().root
        self._window = self._root.create_window(-10, -10, 1, 1, 0, 0)
        self._atoms = {name: self._display.intern_atom(name) for name in (*_TEXT_TARGETS, "CLIPBOARD", "TARGETS")}
        self._offered: bytes | None = None
        self._changes = 0
        self._owner_changed = self._watch_owner()
        self._taken = threading.Event()
        self._thread = EventThread("aci-clipboard", self._display, self._handle)

    def content(self) -> Content:
        """Return the current content."""
        return self._thread.do(self._read)

    def offer(self, text: str) -> None:
        """Put a text on the clipboard."""
        self._taken.clear()
        self._thread.do(lambda: self._own(text.encode("utf-8", errors="replace")))

    def clear(self) -> None:
        """Empty the clipboard, unless another program owns it."""
        self._thread.do(self._disown)

    def changes(self) -> int:
        """Return how often something was put on the clipboard, or taken off it, since it was opened."""
        return self._thread.do(self._count)

    def wait_taken(self, limit_s: float) -> bool:
        """Wait until an application has fetched the offered text; return whether one did."""
        return self._taken.wait(limit_s)

    def close(self) -> None:
        """Stop serving, which drops an offered text."""
        self._thread.close()

    def _watch_owner(self) -> int:
        """Ask for events about the clipboard's owner; return their type."""
        from Xlib.ext import xfixes

        self._display.xfixes_query_version()
        clipboard, mask = self._atoms["CLIPBOARD"], xfixes.XFixesSetSelectionOwnerNotifyMask
        self._display.xfixes_select_selection_input(self._window, clipboard, mask)
        kind: int = self._display.extension_event.SetSelectionOwnerNotify[0]
        return kind

    # What follows runs in the serving thread, the only one that uses the connection.

    def _count(self) -> int:
        self._thread.handle_arrived()
        return self._changes

    def _own(self, data: bytes) -> None:
        from Xlib import X

        self._offered = data
        self._window.set_selection_owner(self._atoms["CLIPBOARD"], X.CurrentTime)
        self._display.sync()

    def _disown(self) -> None:
        from Xlib import X
        from Xlib.protocol.request import SetSelectionOwner

        self._offered = None
        owner = self._display.get_selection_owner(self._atoms["CLIPBOARD"])
        if not owner or owner.id != self._window.id:
            return
        SetSelectionOwner(
            display=self._display.display, window=X.NONE, selection=self._atoms["CLIPBOARD"], time=X.CurrentTime
        )
        self._display.sync()

    def _read(self) -> Content:
        owner = self._display.get_selection_owner(self._atoms["CLIPBOARD"])
        if not owner:
            return Content(None, plain=True)
        if owner.id == self._window.id and self._offered is not None:
            return Content(self._offered.decode("utf-8"), plain=True)
        targets = self._convert(self._atoms["TARGETS"])
        names = [self._display.get_atom_name(target) for target in targets or []]
        plain = all(name in _PLAIN_NAMES or name.startswith(_PLAIN_PREFIXES) for name in names)
        if "UTF8_STRING" not in names:
            return Content(None, plain=False)
        data = self._convert(self._atoms["UTF8_STRING"])
        if data is None:
            return Content(None, plain=False)
        return Content(bytes(data).decode("utf-8", errors="replace"), plain=plain)

    def _convert(self, target: int) -> Any:
        """Request the clipboard in one format; None if its owner has none, or sends it in pieces."""
        from Xlib import X

        clipboard = self._atoms["CLIPBOARD"]
        self._window.delete_property(clipboard)
        self._window.convert_selection(clipboard, target, clipboard, X.CurrentTime)
        self._display.flush()
        deadline = time.monotonic() + _ANSWER_LIMIT_S
        while (remaining := deadline - time.monotonic()) > 0:
            if not self._display.pending_events():
                select.select([self._display.fileno()], [], [], remaining)
                continue
            event = self._display.next_event()
            if event.type != X.SelectionNotify:
                self._handle(event)
            elif event.target == target:
                return self._fetched(clipboard) if event.property != X.NONE else None
        return None

    def _fetched(self, name: int) -> Any:
        answer = self._window.get_full_property(name, 0)
        in_pieces = answer is not None and self._display.get_atom_name(answer.property_type) == "INCR"
        return None if answer is None or in_pieces else answer.value

    def _handle(self, event: Any) -> None:
        from Xlib import X

        if event.type == self._owner_changed:
            self._changes += 1
        elif event.type == X.SelectionClear:
            self._offered = None
        elif event.type == X.SelectionRequest:
            self._answer(event)

    def _answer(self, request: Any) -> None:
        from Xlib import X
        from Xlib.error import CatchError, XError
        from Xlib.protocol.event import SelectionNotify

        place = request.property or request.target  # Clients before ICCCM name no property.
        caught = CatchError(XError)
        given = self._give(request.requestor, place, request.target, caught)
        answer = SelectionNotify(
            time=request.time,
            requestor=request.requestor,
            selection=request.selection,
            target=request.target,
            property=place if given else X.NONE,
        )
        request.requestor.send_event(answer, onerror=caught)
        self._display.flush()
        if given and request.target != self._atoms["TARGETS"]:
            self._taken.set()

    def _give(self, requestor: Any, place: int, target: int, caught: Any) -> bool:
        """Write the text in the requested format into a window's property; return whether there is that format."""
        from Xlib import X, Xatom

        if self._offered is None:
            return False
        if target == self._atoms["TARGETS"]:
            forms = [self._atoms[name] for name in ("TARGETS", *_TEXT_TARGETS)]
            requestor.change_property(place, Xatom.ATOM, 32, forms, onerror=caught)
            return True
        if target not in (self._atoms[name] for name in _TEXT_TARGETS):
            return False
        data, kind = self._offered, target
        if target == self._atoms["STRING"]:
            data = data.decode("utf-8").encode("latin-1", errors="replace")
        elif target == self._atoms["TEXT"]:
            kind = self._atoms["UTF8_STRING"]
        requestor.change_property(place, kind, 8, data[:_CHUNK], onerror=caught)
        for start in range(_CHUNK, len(data), _CHUNK):
            piece = data[start : start + _CHUNK]
            requestor.change_property(place, kind, 8, piece, mode=X.PropModeAppend, onerror=caught)
        return True
