"""What there is to act on in an application, counted by opening its menus, without the search's own book-keeping.

Of the menus that a right-click opens, only entries that no other menu has are counted.
"""

from __future__ import annotations

from aci.acting.actions import Button, Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from exploration.search.controls import CONTEXT_MENU, MENU_ROLES, called
from exploration.search.navigator import Navigator, new_desktop
from exploration.search.records import Attempt

BUTTONS = ("push button", "toggle button", "push button menu")
FRAME = ("Minimize", "Maximize", "Close", "Restore")

Item = tuple[str, ...]
"""A menu item or button: the menus it lies in, and its name."""


def inventory(argv: tuple[str, ...]) -> set[Item]:
    """Return every menu item and toolbar button of an application, by opening all of its menus."""
    with new_desktop() as desktop:
        navigator = Navigator(desktop, argv)
        found = set[Item]()
        look = navigator.restart()
        start = look.observation
        home = navigator.place
        in_context_menus = {
            _item(entry, home)
            for menu in look.candidates
            if menu.control.role == CONTEXT_MENU
            for entry in _open(desktop, (menu.element,), "right")
            if entry.role in MENU_ROLES and entry.id not in {element.id for element in start.elements}
        }
        for element in start.elements:
            if element.role in BUTTONS and called(element, home) not in (*FRAME, ""):
                found.add((called(element, home),))
        chains: list[tuple[Element, ...]] = [
            (element,) for element in start.elements if element.role == "menu" or _opens_menu(element)
        ]
        found |= {(called(chain[0], home),) for chain in chains if chain[0].role == "menu"}
        known = {element.id for element in start.elements}
        opened = set[Item]()  # of LibreOffice, some entries have another id each time
        while chains:
            chain = chains.pop()
            for element in _open(desktop, chain):
                if element.id in known or element.role not in (*MENU_ROLES, "radio button"):
                    continue
                known.add(element.id)
                item = _item(element, home)
                if element.role == "menu" and "disabled" not in element.states and item not in opened:
                    opened.add(item)
                    chains.append((*chain, element))
                found.add(item)
        names = {item[-1] for item in found}
    return found | {item for item in in_context_menus if item[-1] not in names}


def _opens_menu(element: Element) -> bool:
    return "has_popup" in element.states or any("MenuButton" in part for part in element.path)


def _open(desktop: VirtualDesktop, chain: tuple[Element, ...], button: Button = "left") -> tuple[Element, ...]:
    """Open a menu by the menus that it lies in, and return what is to be seen then."""
    for _ in chain:
        desktop.perform(Hotkey(keys=("Escape",)))
    for wanted in chain:
        seen = desktop.observe().elements
        same = next((e for e in seen if (e.role, e.name, e.path) == (wanted.role, wanted.name, wanted.path)), None)
        if same is None or not desktop.perform(Click(element_id=same.id, button_type=button)).ok:
            return ()
    return desktop.observe().elements


def _item(element: Element, home: str) -> Item:
    menus = [part.removeprefix("menu:") for part in element.path if part.startswith("menu:")]
    return (*menus, called(element, home))


def item_of(attempt: Attempt) -> Item:
    """Return the menu item or button that an attempt acted on."""
    target = attempt.path[-1].targets.get("element_id") if attempt.path else None
    if target is None:
        return ("",)
    menus = [part.removeprefix("menu:") for part in target.path if part.startswith("menu:")]
    return (*menus, attempt.control.name)


def is_acted(attempt: Attempt) -> bool:
    """Tell whether an attempt was really made, whatever came of it; what was left alone does not count."""
    return attempt.classification != "skipped"
