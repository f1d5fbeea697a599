"""Text entry: pasted where that is safe, else key by key, and read back where possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from aci.errors import AciError, CannotType
from aci.input.clipboard import Clipboard
from aci.input.input_device import InputDevice
from aci.input.keys import chord
from aci.input.read_back import Delivery, Expected, Unread
from aci.observation.snapshot import Element
from aci.waiting import Clock

_TERMINALS = frozenset(
    {
        *("xterm", "uxterm", "urxvt", "rxvt", "kitty", "alacritty", "konsole", "foot", "tilix", "terminator"),
        *("gnome-terminal", "gnome-terminal-server", "xfce4-terminal", "lxterminal", "mate-terminal", "qterminal"),
    }
)
_TEXT_ROLES = frozenset({"text", "entry", "password text", "spin button", "combo box", "editbar", "autocomplete"})
_TYPED_ROLES = frozenset({"spin button", "date editor"})  # take digits key by key, and no paste
_LONG = 200
_TAKEN_LIMIT_S = 1.0
_READ_BACK_LIMIT_S = 1.2
_BUTTON_S = 0.3  # for which a button that a key has pressed may take no other press: 0.1 s in Qt, 0.25 s in GTK 3
_CHANGE_LIMIT_S = 0.1
_POLL_S = 0.015
_SHOWN = 80
_OBJECT = "\ufffc"

Way = Literal["keys", "paste", "accessibility"]


class NothingArrived(AciError):
    """Nothing of the typed text arrived in the requested element; the message is for the Worker."""


class PartlyArrived(AciError):
    """A part of the typed text arrived; the message is for the Worker."""


class TextAccess(Protocol):
    """The text of elements through accessibility."""

    def element_text(self, element_id: int) -> str | None:
        """Return the current text of an element; None if it has none or is gone."""

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether that was accepted."""


@dataclass(frozen=True, slots=True)
class Place:
    """The target of typing."""

    element: Element | None  # the element that has the keyboard, or None where that is not known
    app: str  # application of the window that has the keyboard, as its WM_CLASS says
    chosen: bool = False  # whether the element was asked for, rather than being what the keyboard happened to be on

    @property
    def terminal(self) -> bool:
        """Whether it is a terminal, where Ctrl+V does not paste."""
        return self.app.casefold() in _TERMINALS or (self.element is not None and self.element.role == "terminal")

    @property
    def cell(self) -> bool:
        """Whether it is a cell of a sheet, where typing replaces and Ctrl+A selects all cells."""
        return self.element is not None and self.element.role == "table cell" and not self.terminal

    @property
    def office_cell(self) -> bool:
        """Whether it is a cell of LibreOffice, which completes what is typed from the cells above."""
        return self.cell and self.app.casefold().startswith(("libreoffice", "soffice"))

    @property
    def paragraph(self) -> bool:
        """Whether it is one of the paragraphs of a document, each of which is an element."""
        return self.element is not None and self.element.role == "paragraph"

    @property
    def text_field(self) -> bool:
        """Whether it is known to hold editable text, so that pasting works."""
        element = self.element
        if element is None or self.terminal or self.cell:
            return False
        return "editable" in element.states or element.role in _TEXT_ROLES

    def suits_paste(self, text: str) -> bool:
        """Return whether pasting a text is better than typing it.

        Pasting into a field is quick, exact, and triggers no completions. Text at the focus may be meant as key presses
        (a calculator's "=" calculates), so there only long, multi-line or non-ASCII text is pasted, and what goes into
        a paragraph, which would be autocorrected; a tab may lead to the next cell. Passwords are kept out of the
        clipboard, and a paste of one that fails could not be noticed.
        """
        if (
            not self.text_field
            or self.unread == "password"
            or (self.element is not None and self.element.role in _TYPED_ROLES)
        ):
            return False
        prose = self.paragraph and "\t" not in text
        return self.chosen or prose or len(text) > _LONG or "\n" in text or not text.isascii()

    @property
    def buttons(self) -> bool:
        """Whether keys may press buttons, as in a calculator, rather than enter text."""
        element = self.element
        other = self.terminal or self.cell or self.text_field
        return element is not None and not other and not element.role.startswith("document")

    @property
    def echoes(self) -> bool:
        """Whether its text certainly changes with what is typed, unlike that of dates, numbers and choices."""
        element = self.element
        return element is not None and element.role not in _TYPED_ROLES and "editable" in element.states

    @property
    def unread(self) -> Unread:
        """Why typed text cannot be read back; empty if it can."""
        element = self.element
        if self.terminal:
            return "terminal"
        if element is None:
            return "no_field"
        if element.is_password:
            return "password"
        if self.cell:
            return "cell"
        if element.value is not None and not (element.text or self.chosen):
            return "no_text"  # such as the parts of a date, which pass on what is typed behind them
        return "" if self.text_field else "no_text"


@dataclass(frozen=True, slots=True)
class Typist:
    """Types texts and reports the result."""

    device: InputDevice
    clipboard: Callable[[], Clipboard]
    access: TextAccess
    drained: Callable[[], None]  # waits until the application has handled the input
    clock: Clock

    def type(
        self, place: Place, text: str, overwrite: bool, click_again: Callable[[], None] | None = None
    ) -> Delivery | None:
        """Type a text at a place, replacing its content on request.

        `click_again` clicks the requested element; None if none was requested.

        Returns:
            How the text arrived; None if there was nothing to type.

        Raises:
            NothingArrived: The requested element did not change, though it was clicked and typed into twice.
            PartlyArrived: The element holds only a part of the text.
            CannotType: There are no keys for the text, and it cannot be pasted here.
        """
        if not text and not overwrite:
            return None
        before = self._text(place)
        if overwrite:
            self._select_content(place, nothing_follows=not text)
        way = self._entered(place, text, before) if text else "keys"
        if before is None or place.element is None:
            return Delivery(state="unread", by=way, unread=place.unread or "no_text")
        again = click_again if place.echoes else None
        expected = Expected(before, text, overwrite, place.element.selection)
        return self._checked(place, place.element.id, expected, way, again)

    def read(self, place: Place, expected: Expected, way: Way) -> Delivery | None:
        """Return how a text that was typed at a place arrived; None if it cannot be read.

        Raises:
            PartlyArrived: The element holds only a part of the text.
        """
        if place.element is None or self._text(place) is None:
            return None
        now = self._await_text(place.element.id, expected)
        return None if now is None else _delivery(place.element.id, expected, now, way)

    def _entered(self, place: Place, text: str, before: str | None) -> Way:
        if place.suits_paste(text):
            # A word processor leaves out the line ends behind the last word of what is pasted.
            pasted = text.rstrip("\r\n") if place.paragraph else text
            if pasted and self._paste(place, pasted, before):
                if pasted != text:
                    self.device.type_text(text[len(pasted) :], self.drained)
                return "paste"
        try:
            self._by_keys(place, text)
        except CannotType:
            if place.terminal or not self._paste(place, text, before):
                raise
            return "paste"
        return "keys"

    def _checked(
        self, place: Place, element_id: int, expected: Expected, way: Way, click_again: Callable[[], None] | None
    ) -> Delivery:
        now = self._await_text(element_id, expected)
        if expected.missed_by(now, way) and (way == "paste" or click_again is not None):
            way, now = self._typed_again(place, element_id, expected, way, click_again)
        if now is not None and expected.completed_by(now):
            self.device.press(chord(["Delete"]))
            now = self._await_text(element_id, expected)
        if not expected.met_by(now) and (expected.overwrite or now == expected.before):
            whole = expected.text if expected.overwrite else expected.before + expected.text
            if self.access.set_text(element_id, whole):
                way, now = "accessibility", self._await_text(element_id, expected)
        if click_again is not None and expected.missed_by(now, way):
            raise NothingArrived(
                f"Nothing of the text arrived in element {element_id}: it still reads {_shortened(now or '')!r}. "
                "It may not take this text, or something else has the keyboard."
            )
        if now is None:
            return Delivery(state="unread", by=way, unread="no_text")
        return _delivery(element_id, expected, now, way)

    def _typed_again(
        self, place: Place, element_id: int, expected: Expected, way: Way, click_again: Callable[[], None] | None
    ) -> tuple[Way, str | None]:
        """Type again, after a click if possible; return the method and the element's text then.

        Nothing arrived, so this cannot double the text, unless it was only late.
        """
        if click_again is not None:
            click_again()
            now = self.access.element_text(element_id)
            if now != expected.before:
                return way, self._await_text(element_id, expected)
        if expected.overwrite:
            self._select_content(place, nothing_follows=False)
        try:
            self._by_keys(place, expected.text)
        except CannotType:  # nothing was typed; what reads the field next decides
            return way, self.access.element_text(element_id)
        return "keys", self._await_text(element_id, expected)

    def _await_text(self, element_id: int, expected: Expected) -> str | None:
        deadline, read = self.clock.now() + _READ_BACK_LIMIT_S, self.access.element_text
        while (now := read(element_id)) is not None and not expected.met_by(now) and self.clock.now() < deadline:
            self.clock.pause(_POLL_S)
        return now

    def _changes(self, place: Place, before: str | None) -> bool:
        """Return whether the text of a place differs from that of before, within a moment; False if it has none."""
        if before is None or place.element is None:
            return False
        read, element_id = self.access.element_text, place.element.id
        return self.clock.until(lambda: read(element_id) not in (None, before), _CHANGE_LIMIT_S, _POLL_S)

    def _text(self, place: Place) -> str | None:
        if place.unread or place.element is None:
            return None
        text = self.access.element_text(place.element.id)
        # What holds its lines in objects of their own reads the same whatever is typed.
        return None if text is None or _OBJECT in text else text

    def _select_content(self, place: Place, nothing_follows: bool) -> None:
        if place.terminal:
            self.device.press(chord(["ctrl+u"]))  # The terminal's own line kill, whatever runs in it.
        elif not place.cell:
            self.device.press(chord(["ctrl+a"]))
            if nothing_follows:
                self.device.press(chord(["Delete"]))
        elif nothing_follows:
            self.device.press(chord(["Delete"]))

    def _by_keys(self, place: Place, text: str) -> None:
        if place.element is not None and place.element.role == "date editor":
            for number, part in enumerate(text.split()):
                if number:
                    self.device.press(chord(["Right"]))  # to the next part; a blank opens a picker
                self.device.type_text(part, self.drained)
            return
        if place.buttons and text.isascii():
            for number, run in enumerate(_without_repeated_keys(text)):
                if number:
                    self.clock.pause(_BUTTON_S)
                self.device.type_text(run, self.drained)
            return
        if not place.office_cell:
            self.device.type_text(text, self.drained)
            return
        # Delete takes away the completion that is offered behind the caret, before Tab or Return would accept it.
        for part in _up_to_cell_ends(text):
            body = part.rstrip("\t\n")
            self.device.type_text(body, self.drained)
            if body:
                self.device.press(chord(["Delete"]))
            self.device.type_text(part[len(body) :], self.drained)

    def _paste(self, place: Place, text: str, before: str | None) -> bool:
        """Paste a text and restore the clipboard; False if that would lose its content, or nobody took the text.

        The clipboard is restored once the content of the place differs from that of before, or its application is idle.
        """
        clipboard = self.clipboard()
        held = clipboard.content()
        if not held.plain:
            return False
        clipboard.offer(text)
        try:
            self.device.press(chord(["ctrl+v"]))
            taken = clipboard.wait_taken(_TAKEN_LIMIT_S)
            if taken and not self._changes(place, before):
                self.drained()
        finally:
            clipboard.clear() if held.text is None else clipboard.offer(held.text)
        return taken


def _without_repeated_keys(text: str) -> list[str]:
    """Split a text so that no part has a character twice."""
    parts = [""]
    for character in text:
        if character in parts[-1]:
            parts.append("")
        parts[-1] += character
    return parts


def _up_to_cell_ends(text: str) -> list[str]:
    """Split a text behind each tab and line end."""
    parts, current = [], ""
    for character in text.replace("\r\n", "\n"):
        current += character
        if character in "\t\n":
            parts.append(current)
            current = ""
    return [*parts, current] if current else parts


def _delivery(element_id: int, expected: Expected, now: str, way: Way) -> Delivery:
    arrival = expected.arrival(now)
    if arrival == "partial":
        raise PartlyArrived(
            f"Only a part of the text arrived in element {element_id}: it reads {_shortened(now)!r}. Look at what has "
            "the keyboard now, and type it again."
        )
    if arrival == "exact":
        return Delivery(state="exact", by=way)
    if arrival == "first_lines":
        return Delivery(state="unread", by=way, unread="lines")
    return Delivery(state="rewritten" if arrival == "rewritten" else "different", by=way, reads=_shortened(now))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
