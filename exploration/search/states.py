"""Looks at a screen and home, fingerprints of screens, and whether two looks prove the same state."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation
from aci.observation.pixels import differing, is_more_than_a_caret
from aci.observation.visibility import bounding
from exploration.search.controls import (
    BUTTON_ROLES,
    Candidate,
    called,
    candidates,
    in_toolkit_dialogs,
    meant_parts,
    portable,
)
from exploration.search.homes import HomeState, is_hidden
from exploration.search.records import ScreenState
from intents.labels import label

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN_STATES = ("checked", "mixed", "pressed", "selected", "expanded", "disabled", "read_only", "editable")
"""States that an element is set to; focus and the like come and go by themselves."""
MESSAGE = "status bar"
"""Role of an element whose name is a message, which comes and goes by itself."""
_IGNORED = {
    # LibreOffice reports these as selected as long as the caret is in them.
    **dict.fromkeys(("paragraph", "heading", "text", "document text"), frozenset({"selected"})),
    "menu": frozenset({"selected", "checked"}),  # of Java, a menu stays selected after it was closed
}
"""States that elements of some roles are not set to."""
CHOSEN = frozenset({"table cell", "list item", "tree item", "icon"})
"""Roles of contents that may have the focus and be selected or not, which is drawn differently and reported alike."""
_NUMBERS = re.compile(r"-?\d+(?:[.,:/-]\d+)*")
_WORDS = 12
HOVER_PX = 4  # distance around a control within which it is drawn otherwise while the pointer is on it
_POINTED_PX = 48  # distance around the pointer within which hovering changes the picture
_MOST_LINES_PX, _LINES_SHARE = 3000, 0.01  # maximum number of pixels of lines, and their share of the area they span
_CARET_PX = 400  # pictures with fewer different pixels count as the same: carets blink and shadows fade


@dataclass(frozen=True)
class Look:
    """The screen and the home at one moment."""

    observation: Observation
    home: HomeState  # the contents of the home
    place: str  # the path of the home
    pointed: Rect | None = None  # the element that the pointer was moved to last; None before its first move
    # identities, without their numbers, of elements whose numbers change by themselves (`drift`)
    volatile: frozenset[str] = frozenset()

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The controls that can be acted on."""
        return candidates(self.observation, self.place)

    @cached_property
    def in_toolkit_dialogs(self) -> frozenset[int]:
        """See `exploration.search.controls.in_toolkit_dialogs`."""
        return in_toolkit_dialogs(self.observation)

    @cached_property
    def menus(self) -> frozenset[int]:
        """Ids of the popups that offer a choice; the others are tooltips, which come and go.

        Menus that Java draws inside of its windows have negative ids.
        """
        popups = {window.id for window in self.observation.windows if window.popup}
        offering = [candidate.element for candidate in self.candidates]
        chosen_from = (each for each in self.observation.elements if "selectable" in each.states)  # of a drop-down list
        drawn = {each.path for each in offering if each.path[-1:] == ("popup menu:",) and each.window_id not in popups}
        ids = {-1 - zlib.crc32("\n".join(path).encode()) for path in drawn}
        return frozenset(popups & {each.window_id for each in (*offering, *chosen_from)} | ids)

    @cached_property
    def windows(self) -> frozenset[int]:
        """Ids of the windows that are not popups."""
        return frozenset(window.id for window in self.observation.windows if not window.popup)

    @cached_property
    def tooltips(self) -> tuple[Rect, ...]:
        """The places of popups that offer no choice."""
        return tuple(w.rect for w in self.observation.windows if w.popup and w.id not in self.menus)

    @cached_property
    def messages(self) -> tuple[Rect, ...]:
        """The places of status bars, whose fields move when what they say gets longer."""
        bars: dict[tuple[int, tuple[str, ...]], list[Rect]] = {}
        for element in self.observation.elements:
            whole = (*element.path, f"{element.role}:")
            if bar := next((number for number, part in enumerate(whole, 1) if part.startswith(f"{MESSAGE}:")), 0):
                bars.setdefault((element.window_id, whole[:bar]), []).append(element.rect)
        return tuple(map(bounding, bars.values()))

    @cached_property
    def elements(self) -> dict[str, Element]:
        """Elements by identity, without those of tooltips."""
        return by_identity(
            (e for e in self.observation.elements if e.window_id in self.windows | self.menus),
            self.place,
            self.volatile,
        )

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Titles of the windows that are not popups, topmost first."""
        windows = [window for window in self.observation.windows if not window.popup]
        return tuple(portable(window.title, self.place) for window in windows)

    @cached_property
    def exact(self) -> dict[str, tuple[str, ...]]:
        """All states and texts of elements, windows and menus; equal for screens that a person sees as the same.

        The message of a status bar is left out, since it comes and goes by itself.
        """
        shown = {
            key: self._shown(element, key in self.volatile)
            for key, element in self.elements.items()
            if element.role != MESSAGE
        }
        sizes = (f"{w.rect.width}x{w.rect.height}" for w in self.observation.windows if not w.popup)
        return shown | {"windows": self.titles, "sizes": tuple(sizes), "menus": (str(len(self.menus)),)}

    @cached_property
    def in_menus(self) -> dict[str, tuple[str, ...]]:
        """The part of `exact` in popups that offer a choice."""
        return {key: self.exact[key] for key, each in self.elements.items() if each.window_id in self.menus}

    def has_same_entries(self, other: Look) -> bool:
        """Return whether another look shows the entries of the menus of this one, or all of it if they are no popups.

        Their states may differ.
        """
        if self.in_menus:
            return self.in_menus.keys() == other.in_menus.keys()
        return self.exact.keys() == other.exact.keys()

    @cached_property
    def title(self) -> str:
        """Title of the active window, else of the topmost one."""
        active = self.observation.active_window
        return portable(active.title, self.place) if active else next(iter(self.titles), "")

    @property
    def chosen(self) -> Element | None:
        """The cell, row or icon that has the keyboard focus and is selected; None if another kind of element has it."""
        focused = self.observation.focused
        is_chosen = focused is not None and focused.role in CHOSEN and "selected" in focused.states
        return focused if is_chosen else None

    @property
    def with_password_fields(self) -> frozenset[int]:
        """Ids of the windows that have a password field."""
        return frozenset(each.window_id for each in self.observation.elements if each.is_password)

    def state(self, depth: int, new: Iterable[Candidate] | None = None) -> ScreenState:
        """Return the screen as a node of the graph.

        Args:
            depth: Steps from the start.
            new: The controls that it offers beyond the screen before; all of them if None.
        """
        offered = list(self.candidates if new is None else new)
        keys = [candidate.control.key for candidate in offered]
        # Numbers and the mark of unsaved changes differ from time to time.
        title = re.sub(r"\d+", "0", self.title).lstrip("*• ")
        digest = hashlib.sha256("\n".join([title, *sorted(keys)]).encode()).hexdigest()[:16]
        words = tuple(dict.fromkeys(candidate.control.name for candidate in offered if candidate.control.name))
        return ScreenState(fingerprint=digest, title=self.title, words=words[:_WORDS], depth=depth)

    def redrawn(
        self,
        screenshot: NDArray[np.uint8],
        pointer: Point | None,
        pointed: Rect | None,
        home: HomeState | None = None,
    ) -> Look:
        """Return this look with the pixels and pointer of another moment, and with what was derived from its elements.

        Args:
            screenshot: The pixels, (H, W, 3) uint8 RGB.
            pointer: Where the pointer is, px.
            pointed: See `pointed` of this class.
            home: The contents of the home then; as they were if None.
        """
        observation = dataclasses.replace(self.observation, screenshot=screenshot, pointer=pointer)
        later = dataclasses.replace(self, observation=observation, pointed=pointed, home=home or self.home)
        fields = {each.name for each in dataclasses.fields(self)}
        later.__dict__.update({name: value for name, value in self.__dict__.items() if name not in fields})
        return later

    def menus_over(self, below: Look, seen: Observation) -> Look:
        """Return what shows the popups of this look over the rest of another one.

        Args:
            below: The look before the popups were opened.
            seen: The pixels, windows and pointer now.
        """
        popups = {window.id for window in self.observation.windows if window.popup}
        elements = [each for each in self.observation.elements if each.window_id in popups]
        elements += [each for each in below.observation.elements if each.window_id not in popups]
        observation = dataclasses.replace(
            self.observation,
            screenshot=seen.screenshot,
            elements=tuple(elements),
            windows=seen.windows,
            pointer=seen.pointer,
        )
        return dataclasses.replace(below, observation=observation)

    def _shown(self, element: Element, volatile: bool) -> tuple[str, ...]:
        text = portable(element.text or "", self.place)
        value = "" if element.value is None or volatile else f"{element.value:g}"
        text = without_numbers(text) if volatile else text
        ignored = _IGNORED.get(element.role, ())
        return (*(state for state in SHOWN_STATES if state in element.states and state not in ignored), text, value)


def later_ids(before: Look, after: Look) -> dict[int, int]:
    """Return the new ids of elements that are still there, by their ids before.

    An application may make its menus anew each time, which is not noticed where they are recognized by their picture.
    """
    known, now = before.observation.by_id, after.observation.by_id
    kept = {each.id: after.elements[key].id for key, each in before.elements.items() if key in after.elements}
    return {old: new for old, new in kept.items() if old not in now and new not in known}


def by_identity(elements: Iterable[Element], home: str, volatile: frozenset[str] = frozenset()) -> dict[str, Element]:
    """Return elements by place, role and name, those of volatile ones without numbers; duplicates are numbered."""
    seen: Counter[str] = Counter()
    places: dict[tuple[str, ...], str] = {}  # most elements, such as the cells of a sheet, share theirs
    found = {}
    for element in elements:
        name = portable(element.name or element.label or element.description, home)
        where = places.get(element.path)
        if where is None:
            where = places[element.path] = "/".join(portable(part, home) for part in meant_parts(element.path)[-3:])
        key = f"{where}/{element.role}:{name}"
        key = plain if volatile and (plain := without_numbers(key)) in volatile else key
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = element
    return found


def without_numbers(text: str) -> str:
    """Return a text with 0 in place of each number, time and date."""
    return _NUMBERS.sub("0", text)


def drift(one: Look, other: Look) -> frozenset[str]:
    """Return identities, without numbers, of elements that differ in numbers alone, such as a clock or free space.

    Empty if anything else differs between the two looks, or the number of a control outside of status bars.
    """
    differing = [
        {key: shown for key, shown in look.exact.items() if before.exact.get(key) != shown}
        for look, before in ((one, other), (other, one))
    ]
    plain = [
        Counter((without_numbers(key), *map(without_numbers, shown)) for key, shown in each.items())
        for each in differing
    ]
    controls = {
        id(each.element)
        for look in (one, other)
        for each in look.candidates
        if not any(part.startswith(f"{MESSAGE}:") for part in each.element.path)
    }
    keys = [(look, key) for look, each in zip((one, other), differing, strict=True) for key in each]
    fixed = any(key not in look.elements or id(look.elements[key]) in controls for look, key in keys)
    return frozenset() if fixed or plain[0] != plain[1] else frozenset(without_numbers(key) for _, key in keys)


def same(
    known: Look,
    look: Look,
    ignored: frozenset[str] | None = None,
    may_be_greyed: re.Pattern[str] | None = None,
    hidden_files_count: bool = True,
    besides: Sequence[Rect] = (),
    lines_count: bool = True,
) -> bool:
    """Return whether two looks prove the same state.

    Args:
        known: One look.
        look: The other.
        ignored: Settings that were switched there and back. If given, the pictures do not count either, since what is
            redrawn may move by a pixel, unless the later look has further elements.
        may_be_greyed: The names of controls that may be greyed out in one look alone; none if None.
        hidden_files_count: Whether a difference in hidden files counts, which may be by-products.
        besides: Places whose pixels do not count, px.
        lines_count: Whether thin lines across the picture count that no element tells of, such as the edges of a page.
    """
    homes_and_texts = (ignored or frozenset(), may_be_greyed, hidden_files_count)
    exact = same_texts(known, look, *homes_and_texts)
    if not exact and not same_texts(known, look, *homes_and_texts, more_counts=False):
        return False
    if exact and ignored is not None:
        return True
    greyed = [
        element.rect
        for key, element in look.elements.items()
        if key in known.exact and known.exact[key] != look.exact.get(key)
    ]
    changing = [
        element.rect for each in (known, look) for key, element in each.elements.items() if key in each.volatile
    ]
    return same_picture(known, look, (*greyed, *changing, *known.messages, *look.messages, *besides), lines_count)


def same_texts(
    known: Look,
    look: Look,
    ignored: frozenset[str] = frozenset(),
    may_be_greyed: re.Pattern[str] | None = None,
    hidden_files_count: bool = True,
    more_counts: bool = True,
) -> bool:
    """Return whether two looks are the same apart from pixels and ignored settings; see `same`.

    If not `more_counts`, the later look may have further elements (`only_adds`).
    """
    settings = [{k: v for k, v in each.home.settings.items() if k not in ignored} for each in (known, look)]
    files = [
        {k: v for k, v in each.home.files.items() if hidden_files_count or not is_hidden(k)} for each in (known, look)
    ]
    shown = known.exact == look.exact or (
        may_be_greyed is not None and same_but_greyed(known.exact, look.exact, may_be_greyed)
    )
    shown = shown or (not more_counts and only_adds(known, look))
    return shown and files[0] == files[1] and settings[0] == settings[1]


def only_adds(known: Look, look: Look) -> bool:
    """Return whether a look shows all that a known one shows, and further elements in the same windows.

    If their pictures are the same, too, nobody sees the further ones: GTK 4 goes on to report those of a page that was
    in front once.
    """
    return len(known.menus) == len(look.menus) and known.exact.items() <= look.exact.items()


def same_but_greyed(
    one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]], named: re.Pattern[str]
) -> bool:
    """Return whether two screens (`Look.exact`) differ at most in whether controls of some names are greyed out.

    What undoes or redoes may have another name as well, which says what it undoes.
    """
    one, other = (each if one.keys() == other.keys() else _without_history(each) for each in (one, other))
    return one.keys() == other.keys() and all(
        named.match(_name_in(key))
        and [word for word in one[key] if word != "disabled"] == [word for word in other[key] if word != "disabled"]
        for key in one
        if one[key] != other[key]
    )


def _without_history(shown: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    history = label("history")
    return {key: value for key, value in shown.items() if not history.match(_name_in(key))}


def _name_in(key: str) -> str:
    """Return the name of an element by its identity (`by_identity`)."""
    return key.rpartition("/")[2].partition(":")[2]


def can_undo(look: Look) -> bool:
    """Return whether a control is there that undoes the last change, and can be used."""
    undo = label("undoes")
    return any(undo.match(called(each)) and "disabled" not in each.states for each in look.elements.values())


def cannot_undo(look: Look) -> bool:
    """Return whether a control that undoes the last change is there and greyed out."""
    undo = label("undoes")
    found = [each for each in look.elements.values() if undo.match(called(each))]
    return bool(found) and all("disabled" in each.states for each in found)


def same_picture(one: Look, other: Look, ignored: Iterable[Rect] = (), lines_count: bool = True) -> bool:
    """Return whether two looks show the same pixels, apart from a caret, ignored places, tooltips and the pointer.

    If not `lines_count`, few pixels that are scattered over a large area do not count either.
    """
    if not _same_size(one, other):
        return False
    differs = _differs_elsewhere(one, other, ignored)
    count = int(differs.sum())
    if count < _CARET_PX or lines_count or count > _MOST_LINES_PX:
        return count < _CARET_PX
    rows, columns = differs.nonzero()
    spanned = int(rows.max() - rows.min() + 1) * int(columns.max() - columns.min() + 1)
    return count <= _LINES_SHARE * spanned


def lit_up(known: Look, look: Look) -> Element | None:
    """Return the one button that is drawn otherwise where two looks differ in nothing else; None if there is none.

    A button of Qt that has opened a menu stays drawn as if the pointer were on it.
    """
    if known.exact != look.exact or not _same_size(known, look):
        return None
    rows, columns = _differs_elsewhere(known, look, ()).nonzero()
    if not len(rows):
        return None
    corners = (Point(int(columns.min()), int(rows.min())), Point(int(columns.max()), int(rows.max())))
    buttons = (each.element for each in look.candidates if each.control.role in BUTTON_ROLES)
    around = ((button, button.rect.grown(HOVER_PX, HOVER_PX)) for button in buttons)
    return next((button for button, place in around if all(map(place.contains, corners))), None)


def same_to_the_pixel(
    known: Look, look: Look, besides: Sequence[Rect] = (), within: Sequence[Rect] | None = None
) -> bool:
    """Return whether two looks show exactly the same pixels, apart from one caret and some places.

    Args:
        known: One look.
        look: The other.
        besides: The places that do not count, px.
        within: The only places that count, px; the whole screen if None.
    """
    if not _same_size(known, look):
        return False
    differs = _differing(known, look, besides)
    if within is None:
        return not is_more_than_a_caret(differs)
    parts = (differs[max(0, each.y) : each.bottom, max(0, each.x) : each.right] for each in within)
    return not any(map(is_more_than_a_caret, parts))


def _same_size(one: Look, other: Look) -> bool:
    return one.observation.screenshot.shape == other.observation.screenshot.shape


def different_pixels(one: Look, other: Look, ignored: Iterable[Rect] = ()) -> int:
    """Count the different pixels of two looks of the same size, without ignored places, tooltips and the pointer."""
    return int(_differs_elsewhere(one, other, ignored).sum())


def _differs_elsewhere(one: Look, other: Look, ignored: Iterable[Rect]) -> NDArray[np.bool_]:
    """Return which pixels of two looks of the same size differ, (H, W), besides those places."""
    height, width = one.observation.screenshot.shape[:2]
    middle = Rect(width // 2, height // 2, 1, 1)  # of the pointer before its first move
    pointed = [place for look in (one, other) for place in (look.pointed or middle, *look.tooltips)]
    around = [place.grown(_POINTED_PX, _POINTED_PX) for place in pointed]
    return _differing(one, other, (*around, *ignored))


def _differing(one: Look, other: Look, ignored: Iterable[Rect]) -> NDArray[np.bool_]:
    """Return which pixels of two looks of the same size differ, (H, W), without ignored places."""
    differs = differing(one.observation.screenshot, other.observation.screenshot)
    for place in ignored:
        differs[max(0, place.y) : max(0, place.bottom), max(0, place.x) : max(0, place.right)] = False
    return differs
