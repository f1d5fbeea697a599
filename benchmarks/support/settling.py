"""The actions after which observations must not be out of date: for each application, one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aci.acting.actions import Action, Click, Scroll, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from benchmarks.fixtures.documents import write_letter, write_sheet
from benchmarks.support.steps import pressed


@dataclass(frozen=True, slots=True)
class Act:
    """One action."""

    name: str  # its name in the list of late observations
    # returns the action, or None where the screen does not show its target
    choose: Callable[[Observation], Action | None]


@dataclass(frozen=True, slots=True)
class Scene:
    """An application and what is done with it."""

    name: str  # the application
    # returns the program and its arguments, after writing what it shows; gets the address of the slow pages
    argv: Callable[[VirtualDesktop, str], Sequence[str]]
    acts: Sequence[Act]  # the actions, in order


def key(keys: str) -> Act:
    """Return an action that presses keys, such as "ctrl+s"."""
    return Act(f"press {keys}", lambda _: pressed(keys))


def typed(text: str, enter: bool = False) -> Act:
    """Return an action that types at the focus."""
    return Act(f"type {text!r}{' and Return' if enter else ''}", lambda _: Type(text=text, enter=enter))


def click(role: str, name: str, count: int = 1, button: str = "left") -> Act:
    """Return an action that clicks the first element that fits, by patterns for the whole of role and name."""

    def choose(seen: Observation) -> Action | None:
        found = _first(seen, role, name)
        return None if found is None else Click(element_id=found.id, num_clicks=count, button_type=button)

    return Act(f"click {name}", choose)


def fill(role: str, name: str, text: str, enter: bool = False) -> Act:
    """Return an action that replaces the text of a field."""

    def choose(seen: Observation) -> Action | None:
        found = _first(seen, role, name)
        return None if found is None else Type(text=text, element_id=found.id, overwrite=True, enter=enter)

    return Act(f"fill {name}", choose)


def scroll(role: str, name: str, clicks: int) -> Act:
    """Return an action that turns the wheel over an element."""

    def choose(seen: Observation) -> Action | None:
        found = _first(seen, role, name)
        return None if found is None else Scroll(element_id=found.id, clicks=clicks)

    return Act(f"scroll {name} {clicks}", choose)


def _first(seen: Observation, role: str, name: str) -> Element | None:
    return next(
        (
            element
            for element in seen.elements
            if element.point is not None
            and re.fullmatch(role, element.role)
            and re.fullmatch(name, element.name, re.DOTALL)
        ),
        None,
    )


_ITEM = "(check |radio )?menu item"
_BUTTON = "(push|toggle) button"
_ANY = ".*"

SCENES: Sequence[Scene] = (
    Scene(
        "writer",
        lambda desktop, _: ["lowriter", "--norestore", str(write_letter(desktop.home))],
        (
            key("ctrl+End"), typed("A last line", enter=True), key("ctrl+b"), typed("bold words"), key("ctrl+i"),
            click(_BUTTON, "(Align )?Center( Horizontally)?|Centered"), key("ctrl+a"), key("ctrl+Home"),
            click("menu", "Insert"), key("Escape"), click("menu", "Format"), click(_ITEM, "Paragraph.*"),
            click("page tab", "Indents.*"), click("page tab", "Alignment"), key("Escape"), key("ctrl+h"),
            typed("fox"), click(_BUTTON, "Find All"), key("Escape"), key("ctrl+F12"), click(_BUTTON, "Insert"),
            typed("cell"), key("Tab"), key("F11"), key("F11"), key("ctrl+z"), click("menu", "View"),
            click(_ITEM, "Navigator"), key("F5"), key("Next"), key("alt+F12"), key("Escape"), key("ctrl+shift+s"),
            key("Escape"),
        ),
    ),
    Scene(
        "calc",
        lambda desktop, _: ["localc", "--norestore", str(write_sheet(desktop.home))],
        (
            click("table cell", "B3"), typed("12", enter=True), typed("=SUM(A1:A5)", enter=True), key("ctrl+Home"),
            click("table cell", "C4"), key("ctrl+b"), key("ctrl+1"), click("page tab", "Font"),
            click("page tab", "Borders"), key("Escape"), key("ctrl+Next"), key("ctrl+Prior"), key("ctrl+Down"),
            key("ctrl+Home"), click("menu", "Data"), click(_ITEM, "Sort.*"), key("Escape"), key("shift+ctrl+Down"),
            click("menu", "Insert"), click(_ITEM, "Chart.*"), click(_BUTTON, "Next.*"), click(_BUTTON, "Finish"),
            key("Escape"), key("Escape"), key("Delete"), key("ctrl+z"), click("table cell", "D6"),
            scroll("table cell", "D6", -5), key("ctrl+F3"), key("Escape"), key("ctrl+shift+l"), key("ctrl+Home"),
        ),
    ),
    Scene(
        "impress",
        lambda desktop, _: ["loimpress", "--norestore", "--nologo"],
        (
            key("Escape"), key("ctrl+m"), key("ctrl+m"), click("menu", "Slide"), key("Escape"),
            click("menu", "Slide"), click(_ITEM, "Slide Properties.*"), key("Escape"), key("F5"), key("Escape"),
            click("menu", "Format"), key("Escape"), click("menu", "View"), click(_ITEM, "Notes"),
            click("menu", "View"), click(_ITEM, "Normal"), key("F11"), key("F11"), key("ctrl+z"),
            key("ctrl+shift+s"), key("Escape"), key("Next"), key("Prior"), key("Tab"),
        ),
    ),
    Scene(
        "chromium settings",
        lambda *_: ["chromium"],
        (
            key("ctrl+l"), typed("chrome://settings", enter=True), click("(menu item|link)", "Appearance"),
            click("(menu item|link)", "Search engine"), click("(menu item|link)", "Default browser"),
            click("(menu item|link)", "On startup"), click("radio button", "Continue where.*"),
            click("(menu item|link)", "Languages"), click("(menu item|link)", "Downloads"),
            click("(menu item|link)", "Privacy and security"), click(_ANY, "Third-party cookies.*"),
            key("alt+Left"), click(_ANY, "Site [Ss]ettings.*"), key("alt+Left"), click(_ANY, "Security.*"),
            key("alt+Left"), click("(menu item|link)", "Accessibility"), click("(menu item|link)", "System"),
            click("entry", "Search settings"), typed("font"), key("Escape"), key("ctrl+t"),
            typed("chrome://version", enter=True), key("ctrl+Tab"), key("ctrl+w"), key("alt+f"), key("Escape"),
            key("ctrl+h"), key("ctrl+j"), key("ctrl+w"),
        ),
    ),
    Scene(
        "chromium pages",
        lambda _, url: ["chromium", url],
        (
            click("push button", "Prices"), click("push button", "Stock"), click("push button", "Reviews"),
            click("push button", "Details"), click("push button", "Everything"), click("link", "Offers"),
            click("link", "Back to the shop"), click("link", "Orders"), key("alt+Left"), click("link", "Archive"),
            click("link", "Back to the shop"), click("link", "Messages"), click("link", "Back to the shop"),
            fill("entry", "Search", "lamp"), fill("entry", "Search", "table"), click("push button", "Stock"),
            key("F5"), click("push button", "Prices"), scroll("push button", "Prices", -3), key("ctrl+Home"),
            click("push button", "Reviews"), click("push button", "Open Line.*1"), click("link", "Archive"),
            key("alt+Left"), key("ctrl+f"), typed("Stock"), key("Escape"), click("push button", "Details"),
        ),
    ),
    Scene(
        "gimp",
        lambda *_: ["gimp", "--no-splash"],
        (
            key("ctrl+n"), key("Return"), click("menu", "Edit"), click(_ITEM, "Preferences.*"), key("Escape"),
            click("menu", "File"), key("Escape"), click("menu", "Filters"), key("Escape"), click("menu", "Image"),
            click(_ITEM, "Scale Image.*"), key("Escape"), click("menu", "Image"), click(_ITEM, "Canvas Size.*"),
            key("Escape"), key("ctrl+shift+n"), key("Return"), key("ctrl+a"), key("shift+ctrl+a"), key("ctrl+z"),
            click("menu", "Colors"), click(_ITEM, "Brightness-Contrast.*"), key("Escape"), key("shift+ctrl+s"),
            key("Escape"), key("ctrl+w"),
        ),
    ),
    Scene(
        "vlc",
        lambda *_: ["vlc", "--no-qt-privacy-ask"],
        (
            click("menu item", "Media"), key("Escape"), click("menu item", "Tools"), key("Escape"), key("ctrl+p"),
            click(_ANY, "Audio( Settings)?"), click(_ANY, "Video( Settings)?"), click(_ANY, "Hotkeys.*"),
            key("Escape"), key("ctrl+e"), click("page tab", "Video Effects"), key("Escape"), key("ctrl+l"),
            key("ctrl+l"), key("ctrl+m"), key("Escape"), key("ctrl+b"), key("Escape"), click("menu item", "View"),
            key("Escape"), click("menu item", "Help"), key("Escape"), key("shift+F1"), key("Escape"), key("ctrl+o"),
            key("Escape"),
        ),
    ),
    Scene(
        "thunar",
        lambda desktop, _: ["thunar", str(desktop.home)],
        (
            click("menu", "File"), click(_ITEM, "Create Folder.*"), typed("letters", enter=True),
            click("menu", "View"), click(_ITEM, "Show Hidden Files"), key("ctrl+1"), key("ctrl+2"), key("alt+Up"),
            key("alt+Left"), key("ctrl+a"), key("alt+Return"), key("Escape"), key("F9"), key("F9"),
            click("menu", "Edit"), click(_ITEM, "Preferences.*"), click("page tab", "Side Pane"), key("Escape"),
            key("ctrl+l"), typed("/usr/share", enter=True), key("ctrl+t"), key("ctrl+w"), key("alt+Left"),
            key("F5"), key("ctrl+f"), key("Escape"),
        ),
    ),
    Scene(
        "mousepad",
        lambda *_: ["mousepad"],
        (
            typed("The first line", enter=True), typed("the second line"), key("ctrl+a"), key("ctrl+Home"),
            click("menu", "Edit"), key("Escape"), click("menu", "View"), click(_ITEM, "Line Numbers"), key("ctrl+h"),
            typed("line"), key("Escape"), key("ctrl+f"), typed("sec"), key("Escape"), click("menu", "Edit"),
            click(_ITEM, "Preferences.*"), click("page tab", "Editor"), key("Escape"), key("ctrl+n"), key("ctrl+w"),
            key("ctrl+shift+s"), key("Escape"), key("ctrl+z"), key("ctrl+y"),
        ),
    ),
    Scene(
        "xterm",
        lambda *_: ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "12"],
        (
            typed("ls /usr", enter=True), typed("echo hello world", enter=True),
            typed("sleep 0.7; echo waited", enter=True), typed("seq 1 40", enter=True), key("ctrl+l"),
            typed("ls -R /usr/share/doc | tail -5", enter=True), typed("cat /etc/hostname", enter=True),
            typed("expr 12 '*' 34", enter=True), typed("find /usr/lib -name 'libm.*'", enter=True), key("Up"),
            key("ctrl+c"), typed("sleep 1.2; date +%Y", enter=True), typed("clear", enter=True),
            typed("wc -c /etc/*.conf", enter=True),
        ),
    ),
    Scene(
        "calculator",
        lambda *_: ["gnome-calculator"],
        (
            typed("12*34", enter=True), click(_BUTTON, "7"), click(_BUTTON, "8"), key("Return"), key("ctrl+z"),
            key("Escape"), key("F10"), key("Escape"), key("ctrl+alt+a"), key("ctrl+alt+b"), key("F1"), key("Escape"),
        ),
    ),
)  # fmt: skip
"""Eleven scenes; the dialogs, menus, panes and pages differ in how late they fill."""
