"""Policies for text: into fields, documents and cells."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Click, Hotkey, SwitchApplications, Type, Wait
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.intents import (
    ClearField,
    EnterCells,
    FillIn,
    GoToCell,
    ReplaceText,
    SelectOptions,
    SetChecked,
    SetValue,
    TypeText,
)
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.choosing import select_options
from agent_s.offline.policies.common import (
    Steps,
    await_element,
    changed,
    click_best,
    evidence_of,
    finder,
    look_around,
    must,
    name_of,
    not_found,
    now,
    reads_back,
    seek,
    shorten,
    type_into,
)
from agent_s.offline.policies.values import set_checked, set_value
from agent_s.offline.roles import CHECKABLE, EDITABLE
from agent_s.offline.screen import Screen, content_of, is_cell_of_sheet
from agent_s.offline.targets import TargetQuery, named

_TYPABLE = EDITABLE | frozenset({"table cell", "paragraph", "document frame"})
_TRUE, _FALSE = {"yes", "true", "on", "checked", "x", "✓", "1"}, {"no", "false", "off", "unchecked", "0"}


def type_text(intent: TypeText, screen: Screen) -> Course:
    """Type into the element that is meant, else at the focus or into the main editor, and read it back."""
    text = intent.text if intent.kept is None else _kept_text(intent, screen)
    if intent.target is None:
        return (yield from _type_at_focus(intent, text, screen))
    if intent.target.every:
        return (yield from _type_into_all(intent, text, screen))
    screen, found = yield from _find_field(intent, intent.target, screen)
    if found:
        element = found[0].element
        screen, evidence = yield from type_into(screen, element, text, _overwrites(intent, element), intent.enter)
        return Achieved(evidence)
    if intent.otherwise is not None and not _window_named(intent.target, screen):
        return (yield from _type_at_focus(intent, intent.otherwise, screen))
    if intent.optional:
        return (yield from _type_at_focus(intent, text, screen))
    return (yield from _type_in_window(intent, intent.target, text, screen))


def _kept_text(intent: TypeText, screen: Screen) -> str:
    if not screen.buffer:
        give_up("nothing was copied that could be typed")
    return screen.buffer[-1]


def _find_field(intent: TypeText, query: TargetQuery, screen: Screen) -> Steps[tuple[Screen, list[Candidate]]]:
    find = finder(query, _TYPABLE, EDITABLE)
    if intent.otherwise is not None or intent.optional or _window_named(query, screen):
        return screen, [one for one in find(screen) if intent.optional or one.score >= 80]
    if not (query.kinds or query.quoted):
        return (yield from await_element(screen, find, query, waits=(0.5,)))
    return (yield from look_around(screen, find, query))


def _window_named(query: TargetQuery, screen: Screen) -> bool:
    return any(
        max(name_score(query.phrase, window.title)[0], name_score(query.phrase, window.app)[0]) >= 66
        for window in screen.windows
    )


def _overwrites(intent: TypeText, element: Element) -> bool:
    """Form fields are overwritten, documents and terminals are added to, unless the instruction says which."""
    if intent.mode != "usual":
        return intent.mode == "replace"
    if element.role in ("terminal", "document text", "paragraph", "document frame", "table cell"):
        return False
    return "multi_line" not in element.states and not _is_document(element)


def _is_document(element: Element) -> bool:
    """A text area without a name that fills much of a window is a document, whatever its states say."""
    return element.role == "text" and not element.name and not element.label and element.rect.height > 90


def _type_at_focus(intent: TypeText, text: str, screen: Screen) -> Course:
    screen, element = yield from _editor(screen)
    if element is not None:
        focused = element.id == screen.observation.focus_id
        chosen = element.id if not focused or intent.mode == "replace" else None
        overwrite = intent.mode == "replace"
        if chosen is not None or _is_document(element):
            screen, evidence = yield from type_into(screen, element, text, overwrite, intent.enter)
            return Achieved(evidence)
        return (yield from _type_here(intent, text, element, screen))
    return (yield from _type_here(intent, text, None, screen))


def _type_here(intent: TypeText, text: str, element: Element | None, screen: Screen) -> Course:
    """Type with the keyboard where it is."""
    before = content_of(element) if element is not None else ""
    sight = yield from must(
        Type(text=text, overwrite=intent.mode == "replace", enter=intent.enter),
        f"type {shorten(text)!r} where the keyboard is",
    )
    after = now(sight.screen, element) if element is not None else None
    if reads_back(after, text, before, overwrite=False):
        return Achieved(evidence_of(after, text))
    return Achieved("" if intent.enter else _shown_anywhere(text, screen, sight.screen))


def _shown_anywhere(text: str, before: Screen, after: Screen) -> str:
    """Find an element that shows the text now and did not before."""
    for element in after.front:
        old = before.observation.by_id.get(element.id)
        if text and text in content_of(element) and (old is None or text not in content_of(old)):
            return evidence_of(element, text)
    return ""


def _editor(screen: Screen) -> Steps[tuple[Screen, Element | None]]:
    """Find where text goes: the focused field, else the largest editor; None where only the keyboard is known."""
    focus = screen.focus
    if focus is not None and (focus.role in EDITABLE or "editable" in focus.states or focus.role == "table cell"):
        return screen, focus
    if screen.active is None or not screen.front:
        sight = yield Move(Wait(time=0.5), "wait for the window to be ready")
        screen = sight.screen
    if screen.focus is not None and screen.focus.role == "table cell":
        return screen, screen.focus
    editors = screen.editors()
    return screen, editors[0] if editors and not screen.has_sheet() else None


def _type_into_all(intent: TypeText, text: str, screen: Screen) -> Course:
    query = intent.target or TargetQuery()
    screen, found = yield from seek(screen, finder(query, _TYPABLE, EDITABLE), query)
    best = found[0].score
    evidence: list[str] = []
    for candidate in sorted(
        (one for one in found if one.score >= best - 6), key=lambda one: (one.element.rect.y, one.element.rect.x)
    ):
        current = now(screen, candidate.element) or candidate.element
        screen, shown = yield from type_into(screen, current, text, _overwrites(intent, current))
        evidence.append(shown)
    return Achieved("; ".join(part for part in evidence if part))


def _type_in_window(intent: TypeText, query: TargetQuery, text: str, screen: Screen) -> Course:
    """Read the place as a window or application ("type hello in Mousepad") and type into its editor."""
    if (
        query.kinds
        and not _window_named(query, screen)
        and not set(query.kinds) & {"window", "dialog", "terminal", "area"}
    ):
        give_up(not_found(query, screen))
    sight = yield Move(
        SwitchApplications(app_code=(query.name or query.phrase)[:200]),
        f"bring {query.describe()!r} to the front, to type there",
    )
    if not sight.ok:
        give_up(f"{not_found(query, screen)}, and no application either: {sight.error}")
    return (yield from _type_at_focus(replace(intent, target=None), text, sight.screen))


def fill_in(intent: FillIn, screen: Screen) -> Course:
    """Set one field after another by what each is, then click what submits where that was said."""
    evidence: list[str] = []
    for query, value in intent.fields:
        done = yield from _fill_one(query, value, screen)
        screen = done[0]
        evidence.append(done[1])
    if intent.submit:
        screen = yield from _submit(intent.submit, screen)
    return Achieved("; ".join(part for part in evidence if part))


def _fill_one(query: TargetQuery, value: str, screen: Screen) -> Steps[tuple[Screen, str]]:
    boxes = rank(query, screen, CHECKABLE)
    if value.casefold() in _TRUE | _FALSE and boxes and boxes[0].score >= 84:
        sub = set_checked(SetChecked((query,), value.casefold() in _TRUE, query.phrase), screen)
    else:
        sub = set_value(SetValue(query, value), screen)
    return (yield from _following(sub, screen))


def _following(course: Course, screen: Screen) -> Steps[tuple[Screen, str]]:
    """Run another policy inside of one, keeping hold of the screen that it leaves behind."""
    try:
        move = next(course)
        while True:
            sight = yield move
            screen = sight.screen
            move = course.send(sight)
    except StopIteration as stop:
        ending = stop.value
        return screen, ending.evidence if isinstance(ending, Achieved) else ""


def _submit(names: tuple[str, ...], screen: Screen) -> Steps[Screen]:
    for name in names:
        found = [one for one in rank(named(name, "button"), screen) if one.score >= 84]
        if found:
            screen, _ = yield from click_best(screen, found)
            return screen
    sight = yield from must(Hotkey(keys=("Return",)), "press Return to submit")
    return sight.screen


# Cells


def enter_cells(intent: EnterCells, screen: Screen) -> Course:
    """Put each text into its cell; a cell that is next to the last one is reached by the key that ended that one."""
    start = screen
    at = ""
    for address, text in intent.cells:
        screen = yield from _go_to_cell(address, screen, at)
        sight = yield from must(Type(text=text, enter=True), f"type {shorten(text)!r} into the cell {address}")
        screen = sight.screen
        at = _below(address)
    evidence = [
        f"cell {address} shows {content_of(cell)!r}"
        for address, _ in intent.cells
        if (cell := cell_at(address, screen)) is not None
    ]
    for address, text in intent.cells:
        cell = cell_at(address, screen)
        if cell is not None and cell.text is not None and not cell.text.strip() and text.strip():
            give_up(f"the cell {address} is empty after {shorten(text)!r} was typed into it")
    return Achieved("; ".join(evidence[:12]) or changed(start, screen))


def go_to_cell(intent: GoToCell, screen: Screen) -> Course:
    """Select a cell or range; where there is no sheet, what is called like the address."""
    if not screen.has_sheet() and not _name_boxes(screen):
        value = TargetQuery(phrase=intent.address, name=intent.address)
        return (yield from select_options(SelectOptions((value,), None, intent.address), screen))
    if ":" in intent.address:
        screen = yield from _by_name_box(intent.address, screen)
        return Achieved(f"the range {intent.address} is selected")
    screen = yield from _go_to_cell(intent.address, screen, "")
    return Achieved(f"the cell {intent.address} is selected")


def _name_boxes(screen: Screen) -> list[Candidate]:
    return rank(TargetQuery(phrase="Name Box", name="Name Box"), screen, EDITABLE | frozenset({"panel"}))


def cell_at(address: str, screen: Screen) -> Element | None:
    """Return the cell with an address, in the active window before others."""
    cells = [element for element in screen.elements if element.role == "table cell" and element.name == address]
    cells.sort(key=lambda element: not screen.is_active(element))
    return cells[0] if cells else None


def _go_to_cell(address: str, screen: Screen, at: str) -> Steps[Screen]:
    focus = screen.focus
    if at == address and focus is not None and focus.name == address and is_cell_of_sheet(focus):
        return screen
    cell = cell_at(address, screen)
    if cell is not None and cell.point is not None and screen.is_active(cell):
        sight = yield from must(Click(element_id=cell.id), f"select the cell {address}")
        return sight.screen
    return (yield from _by_name_box(address, screen))


def _by_name_box(address: str, screen: Screen) -> Steps[Screen]:
    """Type an address into the box that shows the current one."""
    query = TargetQuery(phrase="Name Box", name="Name Box")
    screen, found = yield from await_element(screen, _name_boxes, query)
    if not found:
        give_up(f"there is no cell {address} in sight, and no name box to go to it")
    sight = yield from must(
        Type(text=address, element_id=found[0].element.id, overwrite=True, enter=True),
        f"go to the cell {address} by the name box",
    )
    return sight.screen


def _below(address: str) -> str:
    letters = address.rstrip("0123456789")
    return f"{letters}{int(address[len(letters) :]) + 1}"


# Replacing and clearing


def replace_text(intent: ReplaceText, screen: Screen) -> Course:
    """Replace a text in the field or document that holds it."""
    if intent.target is not None:
        screen, found = yield from seek(screen, finder(intent.target, _TYPABLE, EDITABLE), intent.target)
        holder = found[0].element
    else:
        fields = [element for element in screen.editors() if intent.old in content_of(element)]
        if not fields:
            give_up(f"no field or document in sight holds {intent.old!r}")
        holder = fields[0]
    held = content_of(holder)
    if intent.old not in held:
        give_up(f"{name_of(holder)} does not hold {intent.old!r}; it reads {shorten(held)!r}")
    screen, evidence = yield from type_into(
        screen, holder, held.rstrip("\n").replace(intent.old, intent.new), overwrite=True
    )
    return Achieved(evidence)


def _clearing(query: TargetQuery, screen: Screen) -> list[Candidate]:
    """Find a button that is called like the wish: "Clear display"."""
    return [one for one in rank(named(f"Clear {query.phrase}"), screen) if one.score >= 88]


def clear_field(intent: ClearField, screen: Screen) -> Course:
    """Empty a field."""
    query = intent.target
    screen, found = yield from look_around(
        screen, lambda view: rank(query, view, _TYPABLE, EDITABLE) or _clearing(query, view), query
    )
    if not found:
        give_up(not_found(query, screen))
    if found[0].element.role not in _TYPABLE:
        screen, button = yield from click_best(screen, found)
        return Achieved(f"{name_of(button)} was clicked")
    element = found[0].element
    if element.text is not None and not element.text.strip():
        return Achieved(f"{name_of(element)} is empty")
    sight = yield from must(Type(text="", element_id=element.id, overwrite=True), f"empty {name_of(element)}")
    after = now(sight.screen, element)
    if after is not None and (after.text or "").strip():
        sight = yield from must(Hotkey(keys=("ctrl", "a")), f"select all of {name_of(element)}")
        sight = yield from must(Hotkey(keys=("Delete",)), "delete the selection")
        after = now(sight.screen, element)
    if after is not None and (after.text or "").strip():
        give_up(f"{name_of(element)} still reads {shorten(content_of(after))!r}")
    return Achieved(f"{name_of(element)} is empty")
