"""Interpretation of gestures as actions on elements of the screen.

The element under the pointer is taken from the last look that ended before the button was pressed. The content of a
field afterwards takes precedence over the keys, since the application may have completed or corrected the text. Text in
a password field, or that no field shows, is treated as a secret and not stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from aci.acting.actions import Action, Click, DragAndDrop, Hotkey, Scroll, SelectText, Type
from aci.acting.targets import element_at, window_at
from aci.observation.geometry import Point
from aci.observation.observation import Element, Observation
from agent_s.demonstration.gestures import Chord, Gesture, Keys, Press, Wheel

_SURFACES = frozenset(
    {
        *("drawing area", "canvas", "image", "icon", "shape", "panel", "filler", "scroll pane", "viewport", "section"),
        *("document web", "document frame", "document text", "frame", "window", "dialog", "table", "tree table"),
        *("layered pane", "list box", "list", "terminal", "unknown", "paragraph", "split pane", "tree", "grouping"),
    }
)  # roles of elements in which a position matters
_SHOWS_KEYS_ONLY_LATER = frozenset({"table cell", "terminal", "spin button"})
"""Roles whose text is not what was typed but its result."""
_PASTES = frozenset({("ctrl", "v"), ("ctrl", "shift", "v"), ("shift", "Insert")})
_NO_ECHO = frozenset({"terminal", "table cell"})  # keys typed into these are never shortcuts
_LONGEST_SCROLL = 100

TOO_FAST = "it came before the screen that the last action led to had been seen: show it more slowly there"
UNKNOWN_PLACE = "no element is known at this place"
UNKNOWN_PASTE = "it pastes what was copied before the recording began, and no field shows what that was"
UNKNOWN_TEXT = "what these keys made of the text could not be read"


@dataclass(frozen=True, slots=True)
class Look:
    """An observation with its time on the monotonic clock, s."""

    seen: Observation
    began: float = 0.0
    ended: float = 0.0
    copies: int = 0  # number of changes of the clipboard so far


@dataclass(frozen=True, slots=True)
class Shown:
    """An action that a person has shown."""

    action: Action  # the action, with the ids of the look before it
    before: Look  # the last look before it
    after: Look  # the first look after it; other actions may lie in between
    # the person's gesture; None for a step that they did not perform, such as a switch of applications
    gesture: Gesture | None
    alone: bool = True  # whether it is the only action between the two looks
    problem: str = ""  # why it cannot be replayed; empty if it can


def interpret(
    gestures: Sequence[Gesture], before: Look, after: Look, keep_secret: Callable[[str, str], str]
) -> list[Shown]:
    """Convert the gestures between two looks to actions.

    Args:
        gestures: The gestures, oldest first.
        before: The last look that ended before the first of them.
        after: The first look after the last of them.
        keep_secret: Callback that receives a secret text and the name of its field, and returns a placeholder.
    """
    reader = _Reader(before, after, keep_secret, alone=len(gestures) == 1)
    found: list[Shown] = []
    earlier: list[Gesture] = []
    for gesture in gestures:
        clicked = reader.clicked_field(earlier[0]) if len(earlier) == 1 else None
        if clicked is not None and isinstance(gesture, Keys) and gesture.typed:
            found = [reader.typed(gesture, clicked, named=True)]
        else:
            found += reader.read(gesture, earlier)
        earlier.append(gesture)
    return found


def begins_line(field_id: int | None, before: Observation, after: Observation) -> bool:
    """Return whether a field has more lines than before, so that Return was part of the text."""
    old, new = (seen.by_id.get(field_id) if field_id is not None else None for seen in (before, after))
    return old is not None and new is not None and (new.text or "").count("\n") > (old.text or "").count("\n")


class _Reader:
    """Reads the gestures between two looks."""

    def __init__(self, before: Look, after: Look, keep_secret: Callable[[str, str], str], alone: bool) -> None:
        self._before, self._after = before, after
        self._old, self._new = before.seen, after.seen
        self._keep_secret = keep_secret
        self._alone = alone

    def clicked_field(self, gesture: Gesture) -> Element | None:
        """Return the field that a gesture focused by a single click."""
        if not isinstance(gesture, Press) or gesture.is_drag or (gesture.times, gesture.button) != (1, "left"):
            return None
        element = element_at(gesture.start, self._old)
        return element if _is_field(element) and self._new.focus_id == element.id else None

    def read(self, gesture: Gesture, earlier: Sequence[Gesture]) -> list[Shown]:
        """Interpret a gesture, given the gestures between the look before and it."""
        late = bool(earlier) and not all(isinstance(one, Keys) and "\n" not in one.typed for one in earlier)
        match gesture:
            case Press():
                return self._press(gesture, bool(earlier))
            case Wheel():
                element = element_at(gesture.point, self._old)
                return self._scroll(gesture, element, bool(earlier) and not self._is_still(gesture.point))
            case Chord():
                pastes = gesture.keys in _PASTES and not self._before.copies
                action = (self._pasted() if pastes else None) or Hotkey(keys=gesture.keys)
                unknown = UNKNOWN_PASTE if pastes and isinstance(action, Hotkey) else ""
                return [self._shown(action, gesture, TOO_FAST if late else unknown)]
            case Keys():
                return self._keys(gesture, late)

    def _pasted(self) -> Type | None:
        """Return the pasted text, which was copied before the demonstration; None if no field shows it."""
        field = self._old.focused
        now = self._new.by_id.get(field.id) if field is not None else None
        if field is None or now is None or not now.text or now.text == field.text or not _tells_keys(field, now.text):
            return None
        text, overwrite = _entered(field.text or "", now.text, "", plain=True)
        return Type(text=text, overwrite=overwrite)

    def _shown(self, action: Action, gesture: Gesture, problem: str = "") -> Shown:
        return Shown(action, self._before, self._after, gesture, self._alone, problem)

    def _is_still(self, point: Point) -> bool:
        """Return whether both looks show the same element at a position."""
        one, other = element_at(point, self._old), element_at(point, self._new)
        return one is not None and other is not None and one.id == other.id

    def _press(self, press: Press, follows: bool) -> list[Shown]:
        start = element_at(press.start, self._old)
        problem = TOO_FAST if follows and not self._is_still(press.start) else "" if start else UNKNOWN_PLACE
        window = window_at(press.start, self._old)
        if start is None and window is not None and not window.rect.contains(press.start):
            # A window frame is not an element: closing the window matters, moving it does not.
            closed = all(other.id != window.id for other in self._new.windows)
            return [self._shown(Hotkey(keys=("alt", "F4")), press)] if closed else []
        if not press.is_drag:
            where = _where(press.start, start, "element_id", "at")
            fields = {"num_clicks": press.times, "button_type": press.button, "hold_keys": press.held, **where}
            return [self._shown(Click.model_validate(fields), press, problem)]
        if (selected := self._selected(start)) is not None:
            return [self._shown(selected, press, problem)]
        ends = element_at(press.end, self._old)
        fields = {"hold_keys": press.held, **_where(press.start, start, "drag_from_id", "from_at")}
        if press.path:
            fields |= {"drag_from_id": None, "from_at": (press.start.x, press.start.y)}
            fields["path"] = tuple((point.x, point.y) for point in (*press.path, press.end))
        else:
            fields |= _where(press.end, ends, "drop_on_id", "drop_at")
        problem = problem or ("" if ends or press.path else UNKNOWN_PLACE)
        problem = problem or ("" if press.button == "left" else "only drags with the left button can be replayed")
        return [self._shown(DragAndDrop.model_validate(fields), press, problem)]

    def _selected(self, element: Element | None) -> SelectText | None:
        """Return the text selected by a drag."""
        now = self._new.by_id.get(element.id) if element is not None else None
        if now is None or element is None or now.selection is None or now.selection == element.selection:
            return None
        start, end = now.selection
        text = now.text or ""
        words = text[start:end]
        if not words.strip():
            return None
        return SelectText(element_id=now.id, text=words, occurrence=text.count(words, 0, start) + 1)

    def _scroll(self, wheel: Wheel, element: Element | None, late: bool) -> list[Shown]:
        if not wheel.clicks:
            return []
        clicks = max(-_LONGEST_SCROLL, min(_LONGEST_SCROLL, wheel.clicks))
        where = {"element_id": element.id} if element else {"at": (wheel.point.x, wheel.point.y)}
        fields = {"clicks": clicks, "horizontal": wheel.horizontal, "hold_keys": wheel.held, **where}
        problem = TOO_FAST if late else "" if element else UNKNOWN_PLACE
        return [self._shown(Scroll.model_validate(fields), wheel, problem)]

    def _keys(self, keys: Keys, late: bool) -> list[Shown]:
        if late and keys.typed.strip("\n"):
            field = self._only_field_that_reads(keys.typed.strip("\n"))
            return [self.typed(keys, field, named=field is not None, problem="" if field else TOO_FAST)]
        field = self._old.focused
        now = self._new.by_id.get(field.id) if field is not None else None
        corrected = "\n" not in keys.typed and _is_field(field) and now is not None and field.text != now.text
        single = len(keys.typed) == 1 and field is not None and not _is_field(field) and field.role not in _NO_ECHO
        if single or not (keys.typed.strip("\n") or corrected):
            return [self._shown(Hotkey(keys=one), keys, TOO_FAST if late else "") for one in keys.keys]
        return [self.typed(keys, field)]

    def _only_field_that_reads(self, text: str) -> Element | None:
        """Return the only field that contains a text now and did not before; None if there is none or several."""
        new = self._new.by_id
        fields = [one for one in self._old.elements if _is_field(one) and one.id in new and not is_hidden(one)]
        found = [one for one in fields if text in (new[one.id].text or "") and new[one.id].text != one.text]
        return found[0] if len(found) == 1 else None

    def typed(self, keys: Keys, field: Element | None, named: bool = False, problem: str = "") -> Shown:
        """Return the text that keys entered.

        Args:
            keys: The keys.
            field: The focused element.
            named: Whether it got the focus by a click that belongs to the action.
            problem: Why it cannot be replayed; may be empty.
        """
        now = self._new.by_id.get(field.id) if field is not None else None
        lines = field is not None and "multi_line" in field.states and field.role != "terminal"
        if keys.typed.endswith("\n") and field is not None and now is not None:
            lines = lines and begins_line(field.id, self._old, self._new)
        enter = keys.typed.endswith("\n") and not lines
        text = keys.typed.removesuffix("\n") if enter else keys.typed
        overwrite = False
        if self._is_secret(field, now, text):
            called = (field.name or field.label or field.description) if field is not None else ""
            text, overwrite = self._keep_secret(text, called), bool(field and field.text)
        elif field is not None and now is not None and _tells_keys(field, text):
            sent = enter and keys.plain and not (now.text or "").startswith(text)
            if not sent:  # otherwise the field may show the result
                text, overwrite = _entered(field.text or "", now.text or "", text, keys.plain)
            if overwrite and lines and ("ctrl", "a") not in keys.keys:
                problem = problem or UNKNOWN_TEXT
        elif not keys.plain:
            problem = problem or UNKNOWN_TEXT
        element = field.id if named and field is not None else None
        action = Type(text=text, element_id=element, overwrite=overwrite, enter=enter)
        gesture = keys if "{{secret:" not in text else Keys(keys.at, "", ())  # it must not contain the secret either
        return self._shown(action, gesture, problem)

    def _is_secret(self, field: Element | None, now: Element | None, text: str) -> bool:
        """Return whether a text went into a password field, or to a place that shows neither it nor its result."""
        if not text or is_hidden(field, now):
            return bool(text)
        if field is not None and field.role != "terminal" and (now is None or self._has_rewritten(field)):
            return False
        places = [now] if field is not None and field.role == "terminal" else self._new.elements
        texts = [f"{one.name} {one.text or ''}" for one in places if one is not None]
        shown = " ".join([*texts, *(window.title for window in self._new.windows)])
        return "".join(text.split()) not in "".join(shown.split())

    def _has_rewritten(self, field: Element) -> bool:
        """Return whether the text of a field, or of a similar one in its window, has changed."""
        alike = (one for one in self._old.elements if (one.role, one.window_id) == (field.role, field.window_id))
        return any(one.id in self._new.by_id and self._new.by_id[one.id].text != one.text for one in alike)


def _is_field(element: Element | None) -> TypeGuard[Element]:
    return element is not None and "editable" in element.states


def is_hidden(*fields: Element | None) -> bool:
    """Return whether one of these is a password field."""
    return any(one is not None and one.is_password for one in fields)


def _tells_keys(field: Element, text: str) -> bool:
    """Return whether the text of a field shows what was typed; office documents expose each paragraph separately."""
    return field.role not in _SHOWS_KEYS_ONLY_LATER and field.text is not None and "\n" not in text.strip("\n")


def _entered(old: str, new: str, typed: str, plain: bool) -> tuple[str, bool]:
    """Return the text entered into a field, given its content before and after, and whether it replaced all of it."""
    if new == old:
        return typed, False
    for at in (match.start() for match in re.finditer(re.escape(typed), new)) if typed and plain else ():
        if old.startswith(new[:at]) and old.endswith(new[at + len(typed) :]):
            return typed, bool(old) and new == typed
    head = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    most = min(len(old), len(new)) - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    if head + tail < len(old) or not plain:  # something was deleted as well, so only the whole text is certain
        return new, True
    return new[head : len(new) - tail], False


def _where(point: Point, element: Element | None, by_id: str, by_place: str) -> dict[str, object]:
    """Return the target fields of a primitive: the element if its position does not matter, else the pixel."""
    lines = element is not None and "multi_line" in element.states and bool(element.text)
    if element is None or lines or element.role in _SURFACES:
        return {by_place: (point.x, point.y)}
    return {by_id: element.id}
