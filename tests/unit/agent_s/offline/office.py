"""A small office made by hand: a form, a dialog and a sheet that react to primitives as applications do."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Action, Click, HoldAndPress, Hotkey, SaveToBuffer, Type
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from tests.unit.agent_s.offline.screens import element, field, seen, window

EDITABLE = ("editable",)
FORM = seen(
    field(1, "Name", (100, 10)),
    field(2, "City", (100, 50)),
    element(3, "label", "City", (10, 50)),
    element(4, "text", "", (300, 10), (400, 200), text="old text", states=("editable", "multi_line")),
    element(5, "check box", "News", (10, 90), states=("checkable",)),
    element(6, "check box", "Alarm", (10, 120), states=("checkable", "checked")),
    element(7, "combo box", "", (100, 150), text="Red", label="Colour", states=("has_popup",)),
    element(8, "slider", "Volume", (100, 190), value=50),
    element(9, "radio button", "Large", (10, 220)),
    element(10, "date editor", "Date", (100, 250), (120, 24), text="", states=EDITABLE),
    element(11, "menu", "File", (10, 300)),
    element(12, "page tab", "Details", (60, 300)),
    element(13, "table cell", "Reports", (300, 300)),
    element(14, "push button", "OK", (10, 400)),
    element(15, "push button", "Next", (100, 400)),
    element(16, "push button", "Submit", (200, 400)),
    element(17, "push button", "plus", (300, 400), (20, 20)),
    element(18, "label", "Order number: A-17", (10, 450)),
    element(19, "label", "Ready", (10, 480)),
    element(20, "label", "Page 3", (100, 480)),
    element(21, "list item", "Details", (300, 480), states=("expandable",)),
    element(22, "list item", "notes.txt", (300, 500)),
    field(23, "Search", (500, 450)),
    field(24, "Username", (500, 480)),
    element(25, "password text", "Password", (500, 510), text="", states=("editable", "password")),
    focus=4,
    buffer=("B-42",),
)
DIALOG = replace(
    FORM,
    elements=(
        *FORM.elements,
        element(50, "label", "Sure?", (10, 10), window_id=2),
        element(51, "push button", "No", (10, 40), window_id=2),
        element(52, "push button", "OK", (80, 40), window_id=2),
        element(53, "push button", "Cancel", (150, 40), window_id=2),
        element(54, "push button", "Yes", (220, 40), window_id=2),
    ),
    windows=(window(2, "Sure?", modal=True, rect=Rect(0, 0, 300, 90)), window(1, active=False)),
)
SHEET = seen(
    *(
        element(60 + 10 * c + r, "table cell", f"{'AB'[c]}{r}", (80 * c, 30 * r), text="")
        for c in range(2)
        for r in (1, 2)
    ),
    field(90, "Name Box", (300, 10)),
)
ENTRIES = {
    7: tuple(
        element(30 + n, "menu item", name, (100, 180 + 20 * n), window_id=3) for n, name in enumerate(("Red", "Blue"))
    ),
    11: (element(40, "menu item", "Save As...", (10, 330), window_id=3),),
}
SAVE_AS = replace(
    FORM,
    elements=(
        *FORM.elements,
        element(70, "text", "", (100, 10), text="Untitled", label="Name:", window_id=4, states=("editable", "focused")),
        element(71, "push button", "Save", (300, 300), window_id=4),
    ),
    windows=(window(4, "Save As", modal=True, rect=Rect(0, 0, 400, 350)), window(1, active=False)),
)


def open_popup(screen: Observation, entries: tuple[Element, ...]) -> Observation:
    popup = window(3, "", active=False, popup=True)
    return replace(screen, elements=screen.elements + entries, windows=(popup, *screen.windows))


def without_popup(screen: Observation) -> Observation:
    elements = tuple(one for one in screen.elements if one.window_id != 3)
    return replace(screen, elements=elements, windows=tuple(one for one in screen.windows if one.id != 3))


def changed(screen: Observation, number: int, **fields: object) -> Observation:
    elements = tuple(replace(one, **fields) if one.id == number else one for one in screen.elements)  # type: ignore[arg-type]
    return replace(screen, elements=elements)


def react(screen: Observation, action: Action) -> Observation:  # noqa: C901  # one case for each thing that happens
    """Return the screen after a primitive."""
    match action:
        case Click(element_id=number) if number in ENTRIES:
            return open_popup(without_popup(screen), ENTRIES[number])
        case Click(element_id=number) if number in (30, 31):
            return changed(without_popup(screen), 7, text=screen.by_id[number].name)
        case Click(element_id=number) if screen.by_id[number].window_id == 2:
            return FORM
        case Click(element_id=71):
            return replace(FORM, windows=(window(1, "draft.txt"),))
        case Click(element_id=number):
            one = screen.by_id[number]
            if one.role in ("check box", "radio button"):
                return changed(screen, number, states=one.states ^ {"checked"})
            return replace(screen, focus_id=number)
        case Hotkey(keys=("ctrl", "shift", "s")):
            return SAVE_AS
        case Hotkey(keys=("ctrl", "t" | "n" | "o" | "p") | ("F11",) as keys):
            return replace(screen, windows=(replace(screen.windows[0], title="+".join(keys)), *screen.windows[1:]))
        case Hotkey(keys=("alt", "F4")):
            gone = screen.windows[0].id
            left = tuple(one for one in screen.elements if one.window_id != gone)
            return replace(
                screen, elements=left, windows=tuple(replace(one, active=True) for one in screen.windows[1:])
            )
        case Hotkey(keys=("Right",)) if screen.focus_id == 21:
            return changed(screen, 21, states=frozenset({"expandable", "expanded"}))
        case HoldAndPress(press_keys=keys) if screen.focus_id == 8:
            step = 5 if keys[0] == "Right" else -5
            return changed(screen, 8, value=(screen.by_id[8].value or 0) + step * len(keys))
        case Type(text=text, element_id=number, overwrite=overwrite):
            number = number if number is not None else screen.focus_id or 0
            held = screen.by_id[number].text or ""
            return changed(screen, number, text=text if overwrite else held + text)
        case SaveToBuffer(text=text):
            return replace(screen, buffer=(*screen.buffer, text))
        case _:
            return without_popup(screen) if action == Hotkey(keys=("Escape",)) else screen


def brief(action: Action) -> str:
    """Return a primitive in few words, without what is the default."""
    fields = action.model_dump(exclude_defaults=True, exclude={"action"})
    values = (" ".join(value) if isinstance(value, list | tuple) else str(value) for value in fields.values())
    flags = [name for name, value in fields.items() if value is True]
    return " ".join([action.action, *(value for value in values if value != "True"), *flags])
