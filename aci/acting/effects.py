"""Effects of actions: the differences between the screens before and after, and whether they are as intended."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    Read,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.result import ActionResult, Difference, DifferenceKind, Effect, Remark
from aci.acting.settle import is_change
from aci.acting.targets import element_at, element_meant
from aci.acting.wording import NAMELESS, describe_element
from aci.input.read_back import Delivery, is_rewritten
from aci.observation.geometry import Rect
from aci.observation.pixels import BLOCK_PX, changed_areas
from aci.observation.quoting import quote
from aci.observation.sheet_text import is_sheet_cell
from aci.observation.visibility import uncovered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.observation.snapshot import Element, Snapshot, State, Window

_SWITCHES = frozenset({"check box", "radio button", "toggle button", "switch"})
_FIELDS = frozenset({"entry", "text", "password text", "spin button"})
_MOVES_TO_END = ({"home"}, {"end"}, {"ctrl", "home"}, {"ctrl", "end"})
_SELECT_ALL = {"ctrl", "a"}
_ON_ALL = (_SELECT_ALL, {"backspace"}, {"delete"})
_EFFECT_ELSEWHERE = frozenset({"push button", "button", "link", "menu item"})
"""Roles whose effect is never just a change of their own appearance."""
_NOT_DRAWING = (Hotkey, HoldAndPress, KeyDown, KeyUp, Type, Scroll)
"""Actions after which a narrow and long change is a fading scroll bar and not a drawn line."""
_DOCUMENTS = frozenset({"document text", "document web", "document frame", "terminal"})
_HEADLINES = frozenset({"heading", "alert", "info bar", "label", "notification", "status bar"})
_CLEAR_EFFECTS: frozenset[DifferenceKind] = frozenset(
    {"opened", "closed", "title", "front", "text", "value", "appeared", "vanished"}
)
_SIGNS_OF_A_HIT: frozenset[DifferenceKind] = frozenset({"focus", "pixels", "caret"})
_ADDRESS = re.compile(r"(?:\w+://|[\w-]+(?:\.[\w-]+)+(?::\d+)?/)\S*$")
_MAX_MESSAGE = 300
_REPORTED_STATES: frozenset[State] = frozenset(
    {"checked", "mixed", "selected", "expanded", "pressed", "disabled", "invalid", "read_only", "busy"}
)
_MAX_QUOTED = 60
_LOOK_ALIKE = str.maketrans("il|!o;,", "11110:.")
_MIN_RECOGNIZED = 6  # minimum length of a text for which confusing similar letters cannot produce another one
_CONTEXT = 10  # number of characters shown before a change in a long text
_JITTER_PX = 3  # smaller moves do not count, since the position of recognized text varies


def with_effect(result: ActionResult, action: Action, before: Snapshot, after: Snapshot) -> ActionResult:
    """Return a result with its effect; a typed text that was not read back is looked up on the screen.

    Args:
        result: The result of the action; returned unchanged if it was not carried out.
        action: The action.
        before: The screen that it was chosen from.
        after: The screen after it.
    """
    if not result.ok or isinstance(action, Wait | Done | Fail | CallUser | SaveToBuffer | Zoom | Read):
        return result
    effect = effect_of(action, before, after, result)
    update: dict[str, object] = {"effect": effect}
    if isinstance(action, Type) and result.delivery is not None:
        if result.delivery.state == "unread":
            update["delivery"] = _check_on_screen(action, result.delivery, before, after)
        elif result.delivery.state == "different":
            update["delivery"] = _check_rewritten_field(action, result.delivery, before, after)
    return result.model_copy(update=update)


def effect_of(action: Action, before: Snapshot, after: Snapshot, result: ActionResult) -> Effect:
    """Return the effect of an action, with the most significant differences first."""
    differences = tuple(_find_differences(action, before, after, result))
    if result.copied:
        differences = (Difference(kind="clipboard"), *differences)
    kinds = {one.kind for one in differences}
    remark = _find_remark(action, before, after, result, kinds)
    if not differences or _only_shows_the_hit(action, before, after, kinds, result):
        remark = remark or ("already" if _is_already_so(action, before, after, result) else "")
        return Effect(kind="none", differences=differences, remark=remark)
    return Effect(kind="other" if remark else "expected", differences=differences, remark=remark)


def acted_on(action: Action, seen: Snapshot) -> Element | None:
    """Return the last target element of an action, or the focused element for keyboard input."""
    if targets := action.targets():
        return element_meant(targets[-1], seen)
    if isinstance(action, Hotkey | HoldAndPress | Type | KeyDown | KeyUp):
        return seen.focused
    return None


def _find_differences(action: Action, before: Snapshot, after: Snapshot, result: ActionResult) -> Iterator[Difference]:
    yield from _window_differences(before, after)
    areas = changed_pixels(before.screenshot, after.screenshot)
    targets = (acted_on(action, before), *(element_meant(target, before) for target in action.targets()))
    own = {target.id for target in targets if target is not None}
    moving = {
        one.id for seen in (before, after) for one in seen.elements if _intersects(one.rect, result.restless)
    } - own
    elements = [(number, one) for number, one in _changed_elements(before, after, areas) if number not in moving]
    elements.sort(key=lambda found: found[1].what.endswith(NAMELESS))
    yield from (one for number, one in elements if number in own)
    yield from _grouped([one for number, one in elements if number not in own])
    if before.focus_id != after.focus_id and after.focused is not None:
        yield Difference(kind="focus", what=describe_element(after.focused))
    if before.buffer != after.buffer or elements:
        return
    lit = [rect.grown(BLOCK_PX, BLOCK_PX) for rect in _hover_highlights(result, before, after)]
    areas = tuple(area for area in areas or () if not _intersects(area, result.restless) and uncovered(area, lit))
    if not areas:
        return
    x, y = min(area.x for area in areas), min(area.y for area in areas)
    right, bottom = max(area.right for area in areas), max(area.bottom for area in areas)
    was, now = (_pack_pixels(seen.screenshot[y:bottom, x:right]) for seen in (before, after))
    if not isinstance(action, _NOT_DRAWING) or is_change(was, now):
        yield Difference(kind="pixels", what=f"{x},{y} ({right - x}x{bottom - y})")


def _hover_highlights(result: ActionResult, before: Snapshot, after: Snapshot) -> Iterator[Rect]:
    """Yield the areas of buttons and links that gain or lose a hover highlight under the resting pointer."""
    for seen in (before, after):
        under = element_at(result.pointer, seen) if result.pointer is not None else None
        if under is not None and under.role in _EFFECT_ELSEWHERE:
            yield under.rect


def _window_differences(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    old, new = ({window.id: window for window in seen.windows} for seen in (before, after))
    for number, window in new.items():
        if number not in old:
            yield Difference(kind="opened", what=_describe_window(window))
    for number, window in old.items():
        if number not in new:
            yield Difference(kind="closed", what=_describe_window(window))
    for number, window in new.items():
        was = old.get(number)
        if was is None:
            continue
        if was.title != window.title:
            yield Difference(
                kind="title", what=_describe_window(was), before=quote(was.title), after=quote(window.title)
            )
        if window.active and not was.active and (old.keys() == new.keys()):
            yield Difference(kind="front", what=_describe_window(window))


def _describe_window(window: Window) -> str:
    kind = "popup" if window.popup and not window.title else "dialog" if window.modal else "window"
    return f"{kind} {quote(window.title or window.app, _MAX_QUOTED)}"


def _changed_elements(
    before: Snapshot, after: Snapshot, areas: Collection[Rect] | None
) -> Iterator[tuple[int, Difference]]:
    """Yield the differences of elements with their ids; recognized text counts only where pixels changed.

    Elements that a newly opened window covers have not vanished.
    """
    old, new = ({element.id: element for element in seen.elements} for seen in (before, after))
    known = {window.id for window in before.windows}
    opened = [window.rect for window in after.windows if window.id not in known]
    for number, element in new.items():
        was = old.get(number)
        if was is element:
            continue
        if was is not None:
            read_later = was.text is None and areas is not None and not _intersects(element.rect, areas)
            then = replace(was, text=element.text) if read_later else was
            yield from ((number, one) for one in _element_differences(then, element))
        elif _is_relevant(element, areas):
            yield number, Difference(kind="appeared", what=describe_element(element))
    for number, element in old.items():
        if number not in new and _is_relevant(element, areas) and not _intersects(element.rect, opened):
            yield number, Difference(kind="vanished", what=describe_element(element))


def _element_differences(was: Element, now: Element) -> Iterator[Difference]:
    if was == now:
        return
    what = describe_element(was)
    gained, lost = now.states - was.states, was.states - now.states
    states = [
        *(state for state in sorted(gained) if state in _REPORTED_STATES),
        *(f"not {state}" for state in sorted(lost) if state in _REPORTED_STATES),
    ]
    if states:
        yield Difference(kind="states", what=what, after=", ".join(states))
    if now.value is not None and now.value != was.value:
        yield Difference(
            kind="value", what=what, before="" if was.value is None else f"{was.value:g}", after=f"{now.value:g}"
        )
    elif now.text is not None and (now.text, now.name) != (was.text, was.name):
        yield _text_difference(what, was.text or "", now.text)
    elif now.name != was.name:
        yield _text_difference(what, was.name, now.name)
    elif now.selection != was.selection and now.caret is not None:
        selected = (now.text or "")[slice(*now.selection)] if now.selection is not None else ""
        yield Difference(kind="selection", what=what, after=quote(selected, _MAX_QUOTED))
    elif now.caret != was.caret and now.caret is not None and was.caret is not None:
        yield Difference(kind="caret", what=what)
    both = now.source == "accessibility" and was.point is not None and now.point is not None
    if both and abs(was.rect.x - now.rect.x) + abs(was.rect.y - now.rect.y) > _JITTER_PX:
        yield Difference(kind="moved", what=what)


def _text_difference(what: str, before: str, after: str) -> Difference:
    """Return a change of text; of a long text, only the changed part."""
    same = next((at for at, (was, now) in enumerate(zip(before, after, strict=False)) if was != now), len(before))
    start = after.rfind(" ", 0, max(0, same - _CONTEXT)) + 1 if max(len(before), len(after)) > _MAX_QUOTED else 0
    return Difference(kind="text", what=what, before=_excerpt(before, start), after=_excerpt(after, start))


def _excerpt(text: str, start: int) -> str:
    return f"{'... ' if start else ''}{quote(text[start:], _MAX_QUOTED)}"


def _is_relevant(element: Element, areas: Collection[Rect] | None) -> bool:
    return element.source != "ocr" or ((areas is None or _intersects(element.rect, areas)) and not _is_address(element))


def _is_address(element: Element) -> bool:
    """Return whether recognized text is an address, as browsers show it while the pointer is over a link."""
    return element.source == "ocr" and bool(_ADDRESS.match(element.name))


def _grouped(differences: Collection[Difference]) -> Iterator[Difference]:
    """Group differences: texts and values stay separate, equal changes of states and others of one kind are counted."""
    kinds: tuple[DifferenceKind, ...] = (
        "text", "value", "states", "selection", "caret", "appeared", "vanished", "moved",
    )  # fmt: skip
    for kind in kinds:
        found = [one for one in differences if one.kind == kind]
        if kind == "states":
            alike = [
                [one for one in found if one.after == after] for after in dict.fromkeys(one.after for one in found)
            ]
            yield from (_with_count(one) for one in sorted(alike, key=lambda one: _only_enables(one[0])))
        elif kind in ("appeared", "vanished", "moved") or len(found) > len(kinds):
            yield from [_with_count(found)] if found else []
        else:
            yield from found


def _with_count(alike: Sequence[Difference]) -> Difference:
    return alike[0].model_copy(update={"count": len(alike)})


def _only_enables(difference: Difference) -> bool:
    """Return whether elements were merely enabled or disabled, which is less significant."""
    return difference.after in ("disabled", "not disabled")


def changed_pixels(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> tuple[Rect, ...] | None:
    """Return where two pictures, (H, W, 3), differ, without blinking carets; None if their sizes differ."""
    import numpy as np

    if before.shape != after.shape:
        return None
    height, width, _ = before.shape
    differs = before.reshape(height, -1) != after.reshape(height, -1)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return ()
    top, bottom = _whole_blocks(rows)
    left, right = _whole_blocks(np.flatnonzero(differs[top:bottom].any(axis=0).reshape(width, -1).any(axis=1)))
    parts = (_pack_pixels(picture[top:bottom, left:right]) for picture in (before, after))
    return tuple(area.moved(left, top) for area in changed_areas(*parts) or ())


def _intersects(rect: Rect, areas: Collection[Rect]) -> bool:
    return any(rect.intersection(area) is not None for area in areas)


def _whole_blocks(places: NDArray[np.intp]) -> tuple[int, int]:
    """Return the range of rows or columns, extended to whole blocks."""
    return int(places[0]) // BLOCK_PX * BLOCK_PX, -(-(int(places[-1]) + 1) // BLOCK_PX) * BLOCK_PX


def _pack_pixels(picture: NDArray[np.uint8]) -> NDArray[np.uint32]:
    import numpy as np

    wide = np.zeros((*picture.shape[:2], 4), np.uint8)
    wide[..., :3] = picture
    return wide.view(np.uint32)[..., 0]


def _find_remark(
    action: Action, before: Snapshot, after: Snapshot, result: ActionResult, kinds: set[DifferenceKind]
) -> Remark:
    """Return the remark on the effect of an action; empty if it is as intended."""
    element = acted_on(action, before)
    now = after.by_id.get(element.id) if element is not None else None
    if any("crashed" in note for note in after.notes if note not in before.notes):
        return "crashed"
    if _reports_error(action, before, after):
        return "alert"
    if result.started and not kinds & {"opened", "front"}:
        return "no_window"
    if isinstance(action, Type | Scroll | DragAndDrop) and _opened_dialog(before, after) and not _ends_line(action):
        return "unasked_window"
    return _find_element_remark(action, element, now, after, kinds) if element is not None else ""


def _find_element_remark(
    action: Action, element: Element, now: Element | None, after: Snapshot, kinds: set[DifferenceKind]
) -> Remark:
    if "disabled" in element.states and (now is None or "disabled" in now.states) and not kinds & _CLEAR_EFFECTS:
        return "disabled"
    if now is None:
        return ""
    if "invalid" in now.states - element.states:
        return "invalid"
    if not isinstance(action, Click) or (action.button_type, action.num_clicks) != ("left", 1):
        return ""
    if element.role in _SWITCHES and _is_unswitched(element, now) and not kinds & _CLEAR_EFFECTS:
        return "not_switched"
    elsewhere = element.role in _FIELDS and after.focus_id not in (None, element.id) and "opened" not in kinds
    return "focus_elsewhere" if elsewhere else ""


def _only_shows_the_hit(
    action: Action, before: Snapshot, after: Snapshot, kinds: set[DifferenceKind], result: ActionResult
) -> bool:
    """Return whether nothing changed but the appearance of the button, link or menu entry itself, and the focus."""
    element = acted_on(action, before)
    hits = isinstance(action, Click | Hotkey | HoldAndPress)
    if not hits or element is None or element.role not in _EFFECT_ELSEWHERE or not kinds <= _SIGNS_OF_A_HIT:
        return False
    places = [element.rect, *result.restless, *_hover_highlights(result, before, after)]
    places += [seen.by_id[seen.focus_id].rect for seen in (before, after) if seen.focus_id in seen.by_id]
    places += [one.rect for seen in (before, after) for one in seen.elements if _is_address(one)]
    areas = changed_pixels(before.screenshot, after.screenshot) or ()
    grown = [place.grown(BLOCK_PX, BLOCK_PX) for place in places]  # areas consist of whole blocks
    return not any(uncovered(area, grown) for area in areas)


def _is_unswitched(element: Element, now: Element) -> bool:
    same = not (element.states ^ now.states) & {"checked", "mixed", "pressed"}
    return same and not (element.role == "radio button" and "checked" in now.states)


def _is_already_so(action: Action, before: Snapshot, after: Snapshot, result: ActionResult) -> bool:
    """Return whether an action was unnecessary: the choice is made, or the field or window has the focus, already.

    The same holds for keys if the caret is at that end, the text is selected, or there is nothing to delete.
    """
    element = acted_on(action, before)
    if isinstance(action, SwitchApplications):
        return not result.started
    if isinstance(action, Hotkey) and element is not None and (element.role in _FIELDS or "editable" in element.states):
        keys = {key.casefold() for key in action.keys}
        whole = not element.text or (keys == _SELECT_ALL and element.selection == (0, len(element.text)))
        return keys in _MOVES_TO_END or (keys in _ON_ALL and whole)
    if not isinstance(action, Click) or element is None:
        return False
    chosen = element.role not in _SWITCHES - {"radio button"} and bool(element.states & {"selected", "checked"})
    return chosen or (element.role in _FIELDS and before.focus_id == after.focus_id == element.id)


def _opened_dialog(before: Snapshot, after: Snapshot) -> bool:
    known = {window.id for window in before.windows}
    return any(window.modal and not window.popup for window in after.windows if window.id not in known)


def _ends_line(action: Action) -> bool:
    return isinstance(action, Type) and (action.enter or "\n" in action.text)


def _reports_error(action: Action, before: Snapshot, after: Snapshot) -> bool:
    """Return whether an error message appeared; typed text and long texts do not count."""
    typed = action.text if isinstance(action, Type) else ""
    old, here = before.by_id, {window.title for window in before.windows}
    elsewhere = {window.id for window in after.windows if not window.popup and window.title not in here}
    for element in after.elements:
        was = old.get(element.id)
        if was is element or "editable" in element.states or element.role in _DOCUMENTS:
            continue
        if was is None and element.window_id in elsewhere and element.role not in _HEADLINES:
            continue  # part of another page or document, which may be about anything
        if was is None and is_sheet_cell(element):
            continue  # scrolled into view
        for now, then in ((element.name, was and was.name), (element.text, was and was.text)):
            fresh = now and now != then and len(now) <= _MAX_MESSAGE and now not in typed
            if fresh and now and error_pattern().search(now) and not (then and error_pattern().search(then)):
                return True
    return False


@cache
def error_pattern() -> re.Pattern[str]:
    """Return the pattern of words with which applications report errors, loaded on first use."""
    import yaml

    words = yaml.safe_load(resources.files("aci.acting").joinpath("error_words.yaml").read_text("utf-8"))
    return re.compile("|".join(f"(?:{word})" for word in words), re.IGNORECASE)


def _is_recognized(recognized: Sequence[str], part: str) -> bool:
    """Return whether recognized texts contain a text, ignoring blanks, case and confusion of similar letters."""
    wanted, *found = ("".join(text.casefold().translate(_LOOK_ALIKE).split()) for text in (part, *recognized))
    return len(wanted) >= _MIN_RECOGNIZED and any(wanted in text for text in found)


def _check_rewritten_field(action: Type, delivery: Delivery, before: Snapshot, after: Snapshot) -> Delivery:
    """Return the delivery of a text to a field that reformats it, such as one for a date."""
    target = acted_on(action, before)
    now = after.by_id.get(target.id) if target is not None else None
    if target is None or now is None or not now.text or now.text in (target.text, delivery.reads):
        return delivery
    if not is_rewritten(action.text, now.text):
        return delivery
    state = "exact" if now.text == action.text else "rewritten"
    return delivery.model_copy(update={"state": state, "reads": now.text[:80]})


def _is_among(texts: Sequence[str], part: str, numbers: bool) -> bool:
    """Return whether a part of a typed text occurs in one of some texts; with `numbers`, numbers in any format."""
    number = numbers and not any(one.isalpha() for one in part)
    return any(part in text or (number and is_rewritten(part, text)) for text in texts)


def _check_on_screen(action: Type, delivery: Delivery, before: Snapshot, after: Snapshot) -> Delivery:
    """Return the delivery of a text that could not be read back, judged by what the screen shows."""
    target = acted_on(action, before)
    parts = [part.strip() for part in action.text.replace("\t", "\n").splitlines() if part.strip()]
    new = [element for element in after.elements if before.by_id.get(element.id) != element]
    fresh = [text for element in new if (text := element.text or element.name)]
    recognized = [element.name for element in new if element.source == "ocr"]
    cells = delivery.unread == "cell"
    table = cells and len(parts) > 1
    told = [part for part in parts if not (table and part.startswith("="))]  # formulas show their results
    if told and all(_is_among(fresh, part, numbers=table) or _is_recognized(recognized, part) for part in told):
        return delivery.model_copy(update={"state": "shown"})
    if table:
        return delivery
    now = after.by_id.get(target.id) if target is not None else None
    if target is None or now is None or not now.text or now.text == target.text or delivery.unread == "password":
        return delivery
    computed = cells and action.text.startswith("=")
    taken = computed or (len(parts) == 1 and is_rewritten(parts[0], now.text))
    state = "rewritten" if taken else "different"
    return delivery.model_copy(update={"state": state, "reads": now.text[:80]})
