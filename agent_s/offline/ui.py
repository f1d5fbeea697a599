"""Operations on the current screen: find an element, wait, scroll, click, type and read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypeVar

from aci.acting.actions import Action, Click, Hotkey, Scroll, Type, Wait
from aci.observation.observation import Element, Window
from agent_s.offline.execution import Move, Result, give_up, what_changed
from agent_s.offline.finding.matching import Candidate, best, nearest_names, rank
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE, LABELS, ROLES, kind_name
from agent_s.offline.finding.screen import Screen, content_of, in_page, name_of
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.words import FIELDS

T = TypeVar("T")
Steps = Generator[Move, Result, T]
Finder = Callable[[Screen], list[Candidate]]
Button = Literal["left", "middle", "right"]

WAITS = (0.5, 0.7, 1.0)  # pauses before a missing element is searched for elsewhere, s
_SURE = 78.0  # score below which to wait briefly for a better match
_MAX_SCROLLS = 7
_NOTCHES = 4  # wheel notches per scroll; browsers move by 120 px per notch, and nothing may be skipped
_SCROLLED = ("document web", "document text", "list", "list box", "tree", "tree table", "table", "document frame")


@dataclass(eq=False, slots=True)
class UI:
    """The current screen, and the operations on it; each operation is a generator of moves."""

    screen: Screen  # the screen after the last move
    following: tuple[Target, ...] = ()  # targets of the next part, to which a question with such a button is left
    worked: bool = True  # whether, as far as known, the last move had an effect

    # Moves

    def try_to(self, action: Action, purpose: str, seen: str = "") -> Steps[Result]:
        """Perform a primitive, tolerating a refusal."""
        result = yield Move(action, purpose, seen)
        self.screen, self.worked = result.screen, result.worked
        return result

    def do(self, action: Action, purpose: str, seen: str = "") -> Steps[None]:
        """Perform a primitive; give up if it is refused."""
        result = yield from self.try_to(action, purpose, seen)
        if not result.ok:
            give_up(f"could not {purpose}: {result.error}")

    def press(self, *keys: str, purpose: str) -> Steps[None]:
        """Press a chord."""
        yield from self.do(Hotkey(keys=keys), purpose)

    def wait(self, seconds: float, purpose: str, seen: str = "") -> Steps[None]:
        """Wait."""
        yield from self.try_to(Wait(time=seconds), purpose, seen)

    def wait_until(self, holds: Callable[[], T], pauses: tuple[float, ...], purpose: str) -> Steps[T]:
        """Wait until a condition holds, at most as long as the pauses; return the last value of `holds`."""
        for pause in pauses:
            if held := holds():
                return held
            yield from self.wait(pause, purpose)
        return holds()

    # Elements

    def rank(
        self, target: Target, only: frozenset[str] | None = None, prefer: frozenset[str] = ACTIONABLE
    ) -> list[Candidate]:
        """Return the elements that match a description now, best first."""
        return rank(target, self.screen, only, prefer)

    def now(self, element: Element) -> Element | None:
        """Return the current state of an element; None if it is gone."""
        return self.screen.observation.by_id.get(element.id)

    def find(self, target: Target, find: Finder | None = None, scroll: bool = True) -> Steps[list[Candidate]]:
        """Find an element by waiting briefly, scrolling, and waiting longer; return None if it does not exist."""
        find = find or (lambda screen: rank(target, screen))
        found = yield from self.await_element(target, find, WAITS[:1])
        if found and found[0].score < _SURE and found[0].element.role in LABELS:
            found = yield from self.await_element(target, find, WAITS[1:2])
        if not found and scroll:
            found = yield from self.scroll_for(target, find)
        if not found:
            found = yield from self.await_element(target, find, WAITS[1:])
        return found

    def seek(self, target: Target, find: Finder | None = None, scroll: bool = True) -> Steps[list[Candidate]]:
        """Find an element as `find` does; give up if it does not exist."""
        found = yield from self.find(target, find, scroll)
        if not found:
            give_up(self.not_found(target))
        return found

    def await_element(
        self, target: Target, find: Finder | None = None, pauses: tuple[float, ...] = WAITS
    ) -> Steps[list[Candidate]]:
        """Find an element, waiting briefly for it and for a better match."""
        find = find or (lambda screen: rank(target, screen))
        found = find(self.screen)
        for number, pause in enumerate(pauses):
            if found and (number or found[0].score >= _SURE):
                break
            what = repr(target.describe())
            yield from self.wait(pause, f"wait for {what} to appear", f"There is no {what} yet.")
            found = find(self.screen)
        return found

    def not_found(self, target: Target) -> str:
        """Return a message with the missing element and the nearest names on the screen."""
        near = nearest_names(target, self.screen)
        what = repr(target.describe())
        if target.name:
            what = f"{kind_name(target.kinds)} {target.name!r}"
        where = f" in the window {self.screen.title!r}" if self.screen.title else " on the screen"
        there = f"; the nearest names are {', '.join(map(repr, near))}" if near else ""
        return f"there is no {what}{where}{there}"

    # Scrolling

    def scroll_for(self, target: Target, find: Finder) -> Steps[list[Candidate]]:
        """Scroll down and then up until an element is visible or nothing moves any more."""
        browser = any(one.name in FIELDS["address"] for one in self.screen.front if one.role == "entry")
        if self.screen.has_sheet() or (self.surface() is None and not browser):
            return []
        for direction in ("down", "up"):
            for _ in range(_MAX_SCROLLS):
                moved = yield from self.scroll(direction, f"scroll {direction} to look for {target.describe()!r}")
                if found := find(self.screen):
                    return found
                if not moved:
                    break
        return []

    def scroll(self, direction: str, purpose: str) -> Steps[bool]:
        """Scroll by a part of the view with the wheel or a key; return whether anything moved."""
        surface, before = self.surface(), _places(self.screen)
        if surface is None:
            key = "Page_Up" if direction == "up" else "Page_Down"
            yield from self.try_to(Hotkey(keys=(key,)), purpose, "No visible element takes the wheel.")
            return before != _places(self.screen)
        notches = _NOTCHES if direction in ("up", "left") else -_NOTCHES
        result = yield from self.try_to(Scroll(element_id=surface.id, clicks=notches), purpose)
        if result.ok and before == _places(self.screen):
            yield from self.wait(0.4, "see whether it still scrolls")
        return result.ok and before != _places(self.screen)

    def surface(self) -> Element | None:
        """Return an element over which the wheel scrolls the main part of the active window, or None."""
        front = [element for element in self.screen.front if element.point is not None]
        window = self.screen.active
        if self.screen.has_sheet():
            return next((element for element in front if element.role == "table cell"), None)
        for role in _SCROLLED:
            if surfaces := [element for element in front if element.role == role]:
                return max(surfaces, key=lambda element: element.rect.area)
        held = [
            element
            for element in front
            if any(part.split(":")[0] in (*_SCROLLED, "scroll pane", "viewport") for part in element.path)
            and element.role not in ("combo box", "spin button", "slider", "menu")
        ]
        if not held or window is None:
            return None
        width = max(element.rect.right for element in held) - min(element.rect.x for element in held)
        height = max(element.rect.bottom for element in held) - min(element.rect.y for element in held)
        if width * height * 4 < window.rect.area:  # a side pane or a display need not be searched
            return None
        middle = window.rect.center
        return min(held, key=lambda one: abs(one.rect.center.x - middle.x) + abs(one.rect.center.y - middle.y))

    # Clicking and typing

    def click(
        self, found: list[Candidate], clicks: int = 1, button: Button = "left", hold: tuple[str, ...] = ()
    ) -> Steps[Element]:
        """Click the best candidate, or the next one if the desktop refuses; give up if all are refused."""
        refused = ""
        usable = [one for one in best(found, found[0].score - 12) if one.element.point is not None]
        for one in [one for one in usable if "disabled" not in one.element.states][:3]:
            action = Click(element_id=one.element.id, num_clicks=clicks, button_type=button, hold_keys=hold)
            called = name_of(one.element)
            result = yield from self.try_to(action, f"click {called}", f"{called} is on the screen ({one.reason}).")
            if result.ok:
                return one.element
            refused = refused or result.error
        element = found[0].element
        if "disabled" in element.states:
            give_up(f"{name_of(element)} is disabled", final=True)
        give_up(f"could not click {name_of(element)}: {refused or 'it is covered'}")

    def click_element(self, element: Element) -> Steps[Element]:
        """Click an element."""
        return (yield from self.click([Candidate(element, 100.0, "the described element")]))

    def type_into(self, element: Element, text: str, overwrite: bool) -> Steps[str]:
        """Type into a field and read it back; if it differs, type all of it once more.

        Returns:
            The evidence that the text is there; "" if nothing shows it.
        """
        before, purpose = content_of(element), f"type {shorten(text)!r} into {name_of(element)}"
        yield from self.do(Type(text=text, element_id=element.id, overwrite=overwrite), purpose)
        after = self.now(element)
        verdict = reads_back(after, text, before, overwrite)
        if verdict is not False:
            return evidence_of(after) if verdict else ""
        if after is not None and overwrite:
            yield from self.press("ctrl", "a", purpose=f"select the content of {name_of(element)} to replace it")
            again = Type(text=text) if text else Hotkey(keys=("Delete",))
            yield from self.do(again, f"type {shorten(text)!r} again over it")
            after = self.now(element)
            verdict = reads_back(after, text, before, overwrite)
        rewritten = after is not None and letters(text) and letters(text) in letters(content_of(after))
        if verdict is False and after is not None and not after.is_password and not rewritten:
            give_up(f"{name_of(element)} reads {shorten(content_of(after))!r} after {shorten(text)!r} was typed")
        return evidence_of(after)

    # Windows and dialogs

    def buttons(self, names: tuple[str, ...], window: Window | None = None, least: float = 90.0) -> list[Candidate]:
        """Return the button with the first available name, in a window, or else anywhere in front."""
        for name in names:
            found = [
                one
                for one in best(self.rank(named(name, "button"), ROLES["button"] | {"link"}), least)
                if (one.element.window_id == window.id if window is not None else one.element in self.screen.front)
            ]
            if found:
                return found
        return []

    def is_left_to_next(self) -> bool:
        """Return whether answering an open dialog is left to the next part of the instruction."""
        dialogs = {window.id for window in self.screen.dialogs}
        return any(
            one.element.window_id in dialogs
            for target in self.following
            for one in best(self.rank(target, ROLES["button"]))[:1]
        )


def _places(screen: Screen) -> list[tuple[int, int, str]]:
    return [(element.rect.y, element.rect.x, element.name) for element in screen.front]


def opens_on_pointing(element: Element) -> bool:
    """Return whether an entry in a web page opens a submenu on hover, while a click might choose the entry itself."""
    return element.role == "menu item" and "has_popup" in element.states and in_page(element)


def reads_back(element: Element | None, text: str, before: str, overwrite: bool) -> bool | None:
    """Return whether a field contains the typed text; None if it cannot be read."""
    if element is None or element.text is None:
        return None
    if element.is_password:  # it shows mask characters at most, but one for each letter
        return False if text and not element.text else None
    if element.role not in EDITABLE and "editable" not in element.states:
        return None
    held = element.text.replace("\r\n", "\n").strip("\n ")
    wanted = text.strip("\n ")
    if overwrite:
        return held == wanted or (element.value is not None and same_number(held, wanted))
    return wanted in held and (held != before.strip("\n ") or not wanted)


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, since applications may change the rest."""
    return "".join(char for char in text.casefold() if char.isalnum())


def number_in(text: str) -> float | None:
    """Return the first number in a text."""
    match = re.search(r"-?\d{1,15}(?:[.,]\d{1,9})?", text)
    return float(match[0].replace(",", ".")) if match else None


def same_number(one: str, other: str) -> bool:
    """Return whether two texts are the same number, regardless of units and trailing zeros."""
    return number_in(one) is not None and number_in(one) == number_in(other)


def evidence_of(element: Element | None) -> str:
    """Return the text of an element as evidence; empty if it cannot be read."""
    if element is None or element.text is None or element.is_password:
        return ""
    return f"{name_of(element)} reads {shorten(element.text)!r}"


def shorten(text: str, longest: int = 80) -> str:
    """Return a text shortened for a message."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def changed(before: Screen, after: Screen) -> str:
    """Return a brief description of the changes between two screens."""
    return what_changed(before.observation, after.observation)
