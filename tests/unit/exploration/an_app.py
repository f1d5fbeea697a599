"""A made-up editor on a made-up desktop: menus, a dialog, a switch, what is greyed out, and what never works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from aci.acting.actions import Action, Click, Hotkey, Type, Wait
from aci.acting.settle import Settles
from aci.desktop.desktop import ActionResult
from aci.errors import LaunchFailed
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State, Window

APP = "Editor"
MENUS = {
    "File": ("Open...", "Save", "Print", "Quit"),
    "Edit": ("Upper Case", "Unlucky", "Preferences..."),
    "View": ("Line Numbers", "Zoom", "Web", "Stuck"),
}
SUBMENU = ("50%", "200%")
DRAWN = slice(-20, None), slice(-15, None)
CELL = Rect(300, 10, 40, 30)
MAIN, POPUP, DIALOG, OTHER, KEYS, PALETTE = 1, 2, 3, 4, 5, 6


class FakeEditor:
    """Behaves like a private desktop with one editor.

    Attributes:
        starts: How often it was started anew. At the first start its item "Unlucky" writes the first of `lucky`, then
            the second and so on; nothing where that is empty.
        clicked: Names of what was clicked.
        checked: What was clicked last, at each look that was checked after a click.
        environment: Of its programs. The button "Link" does nothing but call `link`, and "Keys" opens a window that
            lists `shortcuts`, each of which writes its name. The buttons `after_undo` are
            greyed out until something was undone. The buttons `dialogs` open dialogs of their own. With `cells`, the
            screen is larger and shows a cell that has the focus, which every dialog leaves selected until it is
            clicked, and a button "Select All", which a click on the cell takes back. The buttons `inserts` open dialogs
            that have added something when they close, and a button "Undo" can be used then. The switch `palette` opens
            a window that only it closes. The menu "View" has `switches`. Of the buttons `modes`, one is checked.
        resumed: How often an earlier look was taken for the present one.
        waited: How often rest was waited for; nothing changes meanwhile, but with `works` it is at work.
    """

    def __init__(
        self, home: Path, lucky: tuple[str, ...] = ("lucky",), shows: str = "window", zooms: tuple[str, ...] = SUBMENU,
        undoes: bool = False, buttons: tuple[str, ...] = (), crashes: int = 0, tabs: tuple[str, ...] = (),
        link: Callable[[], None] | None = None, environment: Mapping[str, str] | None = None,
        shortcuts: Mapping[str, tuple[str, ...]] | None = None, after_undo: tuple[str, ...] = (),
        dialogs: tuple[str, ...] = (), cells: bool = False, inserts: tuple[str, ...] = (), palette: str = "",
        works: bool = False, switches: tuple[str, ...] = (), modes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self._home = home
        self._lucky = lucky
        self._zooms = zooms
        self._undoes = undoes
        self._buttons = buttons
        self._crashes = crashes
        self._tabs = tabs
        self._link = link
        self.environment = environment or {}
        self._shortcuts = shortcuts or {}
        self._inserts = inserts
        self._palette = palette
        self._works = works
        self._switches = switches
        self._modes = modes
        self._undoes |= bool(inserts)
        undo = ("Undo",) if inserts else ()
        selects = ("Select All",) if cells else ()
        self._buttons = (*buttons, *selects, *(("Keys",) if shortcuts else ()), *after_undo, *dialogs, *inserts, *undo)
        self._dialogs = (*dialogs, *inserts)
        self._cells = cells
        self._size = (300, 400) if cells else (60, 160)
        self._after_undo = after_undo
        self._shows = shows
        self._next_id = 1
        self._ids: dict[tuple[str, str], int] = {}
        self.starts = self.waited = self.resumed = 0
        self._glimpsed = np.zeros(0, np.uint8)
        self.clicked: list[str] = []
        self.checked: list[str] = []
        self.reset()

    @property
    def home(self) -> Path:
        return self._home

    def reset(self) -> None:
        self._running = self._selected = self._numbers = self._other = self._keys = self._marked = False
        self._has_palette = False
        self._dialog = ""
        self._on: set[str] = set()
        self._latest, self._undone = "", False
        self._menu, self._zoom, self._text, self._wrap = "", "100%", "alpha beta", False
        self._tab, self._mode = next(iter(self._tabs), ""), next(iter(self._modes), "")
        self._before = self._text
        for path in sorted(self._home.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()

    def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> object:
        if self._shows == "nothing" or (self.starts and self._crashes):
            self._crashes -= 1
            raise LaunchFailed("it ended with status 1")
        self._running = True
        self.starts += 1
        return self

    def observe(self, *, check: bool = True) -> Observation:
        if check and self._latest:
            self.checked.append(self._latest)
        if not self._running:
            return Observation(np.zeros((*self._size, 3), np.uint8), (), ())
        pixels = np.full((*self._size, 3), 10 + self._numbers + 7 * self._selected + len(self._zoom), np.uint8)
        pixels += np.uint8(20 * len(self._on))
        if self._marked:
            pixels[CELL.y : CELL.bottom, CELL.x : CELL.right] += 50
        windows = [Window(MAIN, "note - Editor", APP, Rect(0, 0, 80, 60), active=not self._dialog, pid=7)]
        elements = [*self._in_main()]
        if self._menu:
            windows.insert(0, Window(POPUP, "", APP, Rect(0, 10, 40, 40), popup=True, pid=7))
            elements = [*self._in_menu(), *elements]
        if self._dialog:
            windows.insert(0, Window(DIALOG, self._dialog, APP, Rect(5, 5, 50, 50), active=True, modal=True, pid=7))
            elements = [*self._in_dialog(), *elements]
        if self._keys:
            windows.insert(0, Window(KEYS, "Keys", APP, Rect(5, 5, 50, 50), active=True, pid=7))
            elements = [*self._in_keys(), *elements]
        if self._has_palette:
            windows.insert(0, Window(PALETTE, self._palette, APP, Rect(5, 5, 50, 50), pid=7))
            path = (f"tool bar:{self._palette}",)
            elements = [self._element("push button", f"Tool of {self._palette}", PALETTE, path=path), *elements]
        if self._other:
            windows.insert(0, Window(OTHER, "Web", "Browser", Rect(5, 5, 50, 50), active=True, pid=9))
        focus = next((each.id for each in elements if each.role == "table cell"), None)
        # what the elements show is drawn in a place that the pointer is never near
        shown = repr([(each.role, each.name, each.text, sorted(each.states)) for each in elements])
        pixels[DRAWN] = np.frombuffer(sha256(shown.encode()).digest()[:3], np.uint8)
        return Observation(pixels, tuple(elements), tuple(windows), focus_id=focus)

    def glimpse(self) -> Observation:
        seen = self.observe(check=False)
        if not np.array_equal(seen.screenshot, self._glimpsed):
            self._glimpsed = seen.screenshot
        return Observation(self._glimpsed, (), seen.windows)

    def resume(self, earlier: Observation) -> None:
        self.resumed += bool(earlier.elements)

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        if isinstance(action, Hotkey):
            self._press(action.keys)
        elif isinstance(action, Type):
            self._text = self._text + action.text if action.element_id is None else self._text
            self._selected = False
        elif isinstance(action, Wait):
            self.waited += 1
            return ActionResult(ok=True, still=not self._works)
        elif isinstance(action, Click):
            element = self.observe(check=False).by_id[action.element_id]
            if element.name == "Stuck":
                return ActionResult(ok=False, error="it did not answer")
            self.clicked.append(element.name)
            self._latest = element.name
            self._click(element)
        return ActionResult(ok=True)

    def _press(self, keys: tuple[str, ...]) -> None:
        if keys == ("Escape",):
            self._marked |= self._cells and bool(self._dialog)
            self._menu, self._dialog, self._keys = "", self._dialog if self._menu else "", False
        elif keys == ("ctrl", "a"):
            self._selected = True
        elif keys == ("ctrl", "z") and self._undoes:
            self._undone |= self._text != self._before
            self._text = self._before
        elif keys in self._shortcuts.values() and not self._keys:
            self._text = next(name.lower() for name, listed in self._shortcuts.items() if listed == keys)

    def _click(self, element: Element) -> None:
        if element.role == "menu":
            self._menu = element.name
            return
        menu, self._menu = self._menu, ""
        match element.name:
            case "Upper Case":
                self._text = self._text.upper()
            case "Preferences...":
                self._dialog = "Preferences"
            case "Line Numbers":
                self._numbers = not self._numbers
                self._set("line-numbers", "true" if self._numbers else "false")
            case "Wrap lines":
                self._wrap = not self._wrap
                self._set("wrap", "true" if self._wrap else "false")
            case "Close":
                self._dialog = ""
            case "Web":
                self._other = True
            case "Select All" | "A1":
                self._selected = element.name == "Select All"
                self._marked &= self._selected
            case "Unlucky":
                self._before, self._text = self._text, self._lucky[min(self.starts, len(self._lucky)) - 1] or self._text
            case name:
                self._choose(name, menu)

    def _choose(self, name: str, menu: str) -> None:
        if name == "Link" and self._link is not None:
            self._link()
        elif name == "Keys":
            self._keys = True
        elif name in self._dialogs:
            self._dialog = name
            self._before, self._text = self._text, self._text + name * (name in self._inserts)
        elif name and name == self._palette:
            self._has_palette = not self._has_palette
        elif name in self._switches:
            self._on ^= {name}
        elif name in self._buttons and not name.endswith("..."):
            self._text += name
        elif name in self._tabs:
            self._tab = name
        elif name in self._modes:
            self._mode = name
        elif menu == "Zoom":
            self._zoom = name
            self._set("zoom", f"'{name}'")

    def _set(self, key: str, value: str) -> None:
        path = self._home / ".config/glib-2.0/settings/keyfile"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else ["[org/editor]"]
        kept = [line for line in lines if not line.startswith(f"{key}=")]
        path.write_text("\n".join([*kept, f"{key}={value}"]) + "\n")

    def _in_main(self) -> list[Element]:
        if self._shows == "password":
            return [self._element("password text", "Password", MAIN), self._element("push button", "Sign in", MAIN)]
        shown = [self._element("menu", name, MAIN, path=("frame:note - Editor", "menu bar:")) for name in MENUS]
        for name in self._buttons:
            usable = self._text != self._before if name == "Undo" else name not in self._after_undo or self._undone
            greyed: tuple[State, ...] = () if usable else ("disabled",)
            shown.append(self._element("push button", name, MAIN, path=("tool bar:",), states=greyed))
        if self._palette:
            shown.append(self._element("toggle button", self._palette, MAIN, path=("tool bar:",)))
        if self._cells:
            cell = self._element("table cell", "A1", MAIN, states=("selected", "focused"))
            shown.append(replace(cell, rect=CELL, point=CELL.center))
        for name in self._modes:
            checked: tuple[State, ...] = ("checked",) if name == self._mode else ()
            shown.append(self._element("toggle button", name, MAIN, path=("tool bar:",), states=checked))
        for name in self._tabs:
            shown.append(self._element("page tab", name, MAIN, states=("selected",) if name == self._tab else ()))
        states: tuple[State, ...] = ("editable", "multi_line", "focused")
        return [*shown, self._element("text", "", MAIN, text=self._text, states=states)]

    def _in_menu(self) -> list[Element]:
        top = "View" if self._menu == "Zoom" else self._menu
        path = ("frame:note - Editor", "menu bar:", f"menu:{top}")
        found = [self._item(name, path) for name in MENUS[top]]
        for name in self._switches if top == "View" else ():
            states: tuple[State, ...] = ("checkable", "checked") if name in self._on else ("checkable",)
            found.append(self._element("check menu item", name, POPUP, path=path, states=states))
        if self._menu == "Zoom":
            found += [self._element("radio menu item", name, POPUP, path=(*path, "menu:Zoom")) for name in self._zooms]
        return found

    def _item(self, name: str, path: tuple[str, ...]) -> Element:
        grey = (name == "Upper Case" and not self._selected) or name == "Save"
        states: tuple[State, ...] = ("disabled",) if grey else ()
        return self._element("menu" if name == "Zoom" else "menu item", name, POPUP, path=path, states=states)

    def _in_keys(self) -> list[Element]:
        found = [self._element("push button", "Search", KEYS, path=("dialog:Keys",))]
        for name, keys in self._shortcuts.items():
            found += [self._element("label", word.capitalize(), KEYS, path=("dialog:Keys",)) for word in (*keys, name)]
        return found

    def _in_dialog(self) -> list[Element]:
        path = (f"dialog:{self._dialog}",)
        if self._dialog in self._dialogs:
            return [self._element("check box", f"Option of {self._dialog}", DIALOG, path=path, states=("checkable",))]
        states: tuple[State, ...] = ("checkable", "checked") if self._wrap else ("checkable",)
        box = self._element("check box", "Wrap lines", DIALOG, path=path, states=states)
        grey = self._element("push button", "Reset", DIALOG, path=path, states=("disabled",))
        return [box, grey, self._element("push button", "Close", DIALOG, path=path)]

    def _element(
        self, role: str, name: str, window: int, *, path: tuple[str, ...] = (), text: str | None = None,
        states: tuple[State, ...] = (),
    ) -> Element:  # fmt: skip
        number = self._ids.setdefault((role, name), len(self._ids) + 1)
        rect = Rect(number, 2, 1, 1)
        return Element(
            id=number, role=role, name=name, rect=rect, point=rect.center, window_id=window, app=APP, path=path,
            text=text, states=frozenset(states),
        )  # fmt: skip
