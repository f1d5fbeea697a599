"""The reference reading by pyatspi, and how far elements agree with it, every difference named by its kind."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from aci.observation.visibility import uncovered
from benchmarks.support.figures import NotMeasured

SYSTEM_PYTHON = Path("/usr/bin/python3")
DUMP = Path(__file__).parent.parent / "fixtures" / "pyatspi_dump.py"
DUMP_LIMIT_S = 90.0

MUST_SEE = frozenset(
    {
        "push button", "toggle button", "check box", "radio button", "menu", "menu item", "check menu item",
        "radio menu item", "text", "entry", "password text", "combo box", "spin button", "slider", "link", "list item",
        "page tab", "tree item", "table cell", "heading", "label", "static", "paragraph", "switch",
    }
)  # fmt: skip
"""Roles of what a person uses or reads; what pyatspi shows of them must be among the elements."""
TEXTUAL = frozenset({"heading", "label", "static", "paragraph"})
SAME_NAMES = ({"push button", "button"}, {"entry", "text", "password text"}, {"section", "panel", "filler"})
"""Names that libraries of different age give to the same role."""
BORDER_PX = 2
"""A box clips what scrolls in it at the inner edge of its border, but says that it ends at the outer one."""
_MARKER = re.compile(r"\s*([•◦▪]|[0-9a-z]{1,4}[.)])\s*")
_CLASS = re.compile(r"Gtk[A-Z]\w*")
"""What GTK 4 names a widget that has no name."""
_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as pyatspi sees it."""

    id: int  # its number in the dump
    parent: int  # number of its parent, -1 for none
    pid: int  # its process
    toolkit: str  # "gtk", "GTK" (4), "Chromium"
    role: str  # role name
    name: str  # accessible name
    rect: Rect | None  # extents as reported, px; None where there are none
    states: frozenset[str]  # names of states
    shows: bool  # whether it and all around it are marked as showing
    text: str | None = None  # its text, None where it has no such interface
    value: float | None = None  # its number, None where it has none
    label: str = ""  # names of what labels it


@dataclass(slots=True)
class Agreement:
    """How far elements and reference agree."""

    same: int = 0  # elements with the same role, name and rectangle
    # how many differ for a reason that geometry or names prove, by kind
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)  # descriptions of the others

    @property
    def total(self) -> int:
        """Everything that was compared."""
        return self.same + self.explained.total() + len(self.unexplained)

    @property
    def share(self) -> float:
        """Share that is the same or differs for a proven reason."""
        return 1.0 if not self.total else 1 - len(self.unexplained) / self.total

    def add(self, other: Agreement) -> None:
        """Add what was found on another screen."""
        self.same += other.same
        self.explained += other.explained
        self.unexplained += other.unexplained


def read_reference(environment: Mapping[str, str], observation: Observation) -> list[Seen]:
    """Have pyatspi read what the processes of an observation show.

    Raises:
        NotMeasured: pyatspi is not there, or did not end in time.
    """
    if not SYSTEM_PYTHON.exists():
        raise NotMeasured(f"there is no {SYSTEM_PYTHON}")
    pids = {str(window.pid) for window in observation.windows if window.pid is not None}
    cells = [_cell(match) for element in observation.elements if (match := _sheet_address(element))]
    try:
        done = subprocess.run(
            [SYSTEM_PYTHON, DUMP, *sorted(pids)],
            input=json.dumps(cells),
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=DUMP_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"pyatspi did not end within {DUMP_LIMIT_S:g} s") from error
    if done.returncode != 0 or not done.stdout:
        why = done.stderr.strip().splitlines()[-1:] or ["it printed nothing"]
        raise NotMeasured(f"pyatspi (Debian: gir1.2-atspi-2.0 python3-gi python3-pyatspi) failed: {why[0]}")
    return _with_entries_of_java([_seen(line) for line in map(json.loads, done.stdout.splitlines()) if "id" in line])


def compare(observation: Observation, reference: Sequence[Seen]) -> Agreement:
    """Compare the elements of an observation with what pyatspi saw at the same time."""
    return _Comparison(observation, reference).run()


class _Comparison:
    def __init__(self, observation: Observation, reference: Sequence[Seen]) -> None:
        self._elements = [element for element in observation.elements if element.source == "accessibility"]
        self._windows = {window.id: window for window in observation.windows}
        self._above = {
            window.id: [other.frame or other.rect for other in observation.windows[:place]]
            for place, window in enumerate(observation.windows)
        }
        self._by_number = {seen.id: seen for seen in reference}
        self._reference = [seen for seen in reference if seen.rect is not None and seen.rect.area]
        self._screen = Rect(0, 0, observation.screenshot.shape[1], observation.screenshot.shape[0])
        self._picture = observation.screenshot
        self._shifts = self._constant_shifts()
        self._taken: set[int] = set()
        self._result = Agreement()

    def run(self) -> Agreement:
        by_name: dict[tuple[int, str, str], list[Seen]] = defaultdict(list)
        by_role: dict[tuple[int, str], list[Seen]] = defaultdict(list)
        defunct = [seen for seen in self._reference if "defunct" in seen.states and seen.name]
        for seen in self._reference:
            by_role[seen.pid, _canonical(seen.role)].append(seen)
            by_name[seen.pid, _canonical(seen.role), _collapse(seen.name)].append(seen)
        for element in self._elements:
            pid, role = self._windows[element.window_id].pid or 0, _canonical(element.role)
            # Most have a namesake; comparing each with all would take minutes on a sheet.
            dead = [seen for seen in defunct if seen.pid == pid]
            self._judge(element, by_name[pid, role, _collapse(element.name)], by_role[pid, role], dead)
        for seen in self._reference:
            if seen.id not in self._taken and seen.shows and seen.role in MUST_SEE:
                self._judge_missing(seen)
        return self._result

    def _judge(self, element: Element, *tiers: Sequence[Seen]) -> None:
        fit = next((found for tier in tiers if (found := self._best(element, tier))), None)
        if fit is None:
            self._result.unexplained.append(f"only here: {_told(element.role, element.name, element.rect)}")
            return
        kind, seen = fit
        self._taken.add(seen.id)
        if kind:
            self._result.explained[kind] += 1
        else:
            self._result.same += 1

    def _best(self, element: Element, candidates: Sequence[Seen]) -> tuple[str, Seen] | None:
        """Return what an element is in the reference, and how it differs, "" where it does not."""
        best: tuple[int, str, Seen] | None = None
        for seen in candidates:
            named = _named(element.name, seen.name)
            if seen.id in self._taken or named is None:
                continue
            where = self._where(element, seen)
            if where is None:
                continue
            kinds = [kind for kind in (where, named, _marked(seen)) if kind]
            if not kinds:
                return "", seen
            if best is None or len(kinds) < best[0]:
                best = len(kinds), " and ".join(kinds), seen
        return best[1:] if best is not None else None

    def _where(self, element: Element, seen: Seen) -> str | None:
        """Return "" for the same place, the kind of difference, or None for another place."""
        assert seen.rect is not None
        shift = self._shifts.get(element.window_id, (0, 0))
        mended = seen.rect.moved(*shift) if shift != (0, 0) else seen.rect
        note = f"moved by the {seen.toolkit} offset {shift}" if shift != (0, 0) else ""
        for rect, kind in ((seen.rect, ""), (mended, note)):
            if rect == element.rect:
                return kind
            clipped = self._clipped(rect, seen, element.window_id, shift if rect is mended else (0, 0))
            if clipped == element.rect:
                return "clipped to what it scrolls in or to its window"
            above = self._above.get(element.window_id, [])
            if clipped is not None and element.rect.intersection(clipped) == element.rect:
                pieces = uncovered(clipped, above)
                if pieces and len(pieces) + sum(p.area for p in pieces) != 1 + clipped.area:
                    return "cut by windows above it"
                if seen.toolkit == "Chromium":
                    return "clipped to a box of the page"
        return None

    def _clipped(self, rect: Rect, seen: Seen, window_id: int, shift: tuple[int, int]) -> Rect | None:
        visible = rect.intersection(self._screen)
        window = self._windows.get(window_id)
        if visible is not None and window is not None:
            visible = visible.intersection(window.rect)
        parent = self._by_number.get(seen.parent)
        while parent is not None and visible is not None:
            box = parent.rect
            if box is not None and box.area and not _flows_over(parent):
                visible = visible.intersection(box.moved(*shift))
            parent = self._by_number.get(parent.parent)
        return visible

    def _constant_shifts(self) -> dict[int, tuple[int, int]]:
        """Return by how much all elements of a window lie beside where pyatspi sees them, where that is constant."""
        shifts = {}
        for window_id, window in self._windows.items():
            mine = [element for element in self._elements if element.window_id == window_id]
            there = [seen for seen in self._reference if seen.pid == window.pid]
            votes = Counter(
                (one.rect.x - other.rect.x, one.rect.y - other.rect.y)
                for one, other in _unique_pairs(mine, there)
                if other.rect is not None and (one.rect.width, one.rect.height) == (other.rect.width, other.rect.height)
            )
            if votes:
                shift, count = votes.most_common(1)[0]
                if shift != (0, 0) and count >= 3:
                    shifts[window_id] = shift
        return shifts

    def _judge_missing(self, seen: Seen) -> None:
        assert seen.rect is not None
        window = self._window_of(seen)
        if window is None:
            self._result.explained["in no window that can be seen"] += 1
            return
        shift = self._shifts.get(window.id, (0, 0))
        visible = self._clipped(seen.rect.moved(*shift), seen, window.id, shift)
        if visible is None:
            self._result.explained["scrolled out of sight or outside of its window"] += 1
        elif not uncovered(visible, self._above.get(window.id, [])):
            self._result.explained["wholly covered by windows above it"] += 1
        elif reason := self._stood_for(seen, visible, window) or self._excused(seen, shift, window):
            self._result.explained[reason] += 1
        else:
            self._result.unexplained.append(f"only in pyatspi: {_told(seen.role, seen.name, seen.rect)}")

    def _excused(self, seen: Seen, shift: tuple[int, int], window: Window) -> str:
        """Return why an object that pyatspi reports as showing need not be among the elements; "" if it must."""
        if self._only_border(seen, shift):
            return "scrolled out of sight but for the border of its box, which is of one colour"
        if self._parent_role(seen) == "menu bar" and self._has_namesake(seen, window):
            return "in a second menu bar, which LibreOffice reports and does not draw"
        if self._parent_role(seen) == "scroll bar":
            return "an arrow of a scroll bar"
        if self._in_closed_list(seen):
            return "in the list of a closed combo box, which Qt reports as showing"
        if not seen.name and seen.role in TEXTUAL:
            return "a text without words"
        return "the mark before a list item" if _MARKER.fullmatch(seen.name) else ""

    def _has_namesake(self, seen: Seen, window: Window) -> bool:
        return any((one.role, one.name, one.window_id) == (seen.role, seen.name, window.id) for one in self._elements)

    def _parent_role(self, seen: Seen) -> str:
        parent = self._by_number.get(seen.parent)
        return "" if parent is None else parent.role

    def _in_closed_list(self, seen: Seen) -> bool:
        parent = self._by_number.get(seen.parent)
        while parent is not None and parent.role != "combo box":
            parent = self._by_number.get(parent.parent)
        return parent is not None and "expanded" not in parent.states

    def _only_border(self, seen: Seen, shift: tuple[int, int]) -> bool:
        """Tell whether the boxes around an object leave no more of it than a line of pixels that are all alike."""
        assert seen.rect is not None
        left: Rect | None = seen.rect
        parent = self._by_number.get(seen.parent)
        while parent is not None and left is not None:
            if parent.rect is not None and parent.rect.area:
                left = left.intersection(parent.rect)
            parent = self._by_number.get(parent.parent)
        left = left.moved(*shift).intersection(self._screen) if left is not None else None
        if left is None or min(left.width, left.height) > BORDER_PX:
            return False
        pixels = self._picture[left.y : left.bottom, left.x : left.right].reshape(-1, 3)
        return bool((pixels == pixels[0]).all())

    def _stood_for(self, seen: Seen, visible: Rect, window: Window) -> str:
        free = sum(piece.area for piece in uncovered(visible, self._above.get(window.id, [])))
        for element in self._elements:
            if element.window_id != window.id:
                continue
            around = element.rect.intersection(visible)
            says = _said_by(seen.name, element)
            cut = around is not None and not same_role(element.role, seen.role) and 2 * around.area >= free
            if says and (around == visible or cut):
                return "its words are those of the element around it"
            if says and around == element.rect and same_role(element.role, seen.role):
                return "the element inside of it stands for it"
            alike = same_role(element.role, seen.role) or (_is_button(element.role) and _is_button(seen.role))
            hull = around is not None and 4 * around.area > visible.area and alike
            if hull and not _collapse(seen.name):
                return "its hull stands for it"
        return ""

    def _window_of(self, seen: Seen) -> Window | None:
        """Return the window that an object lies in: the one of its process that its own frame fits best."""
        top = seen
        while (parent := self._by_number.get(top.parent)) is not None and parent.role != "application":
            top = parent
        own = [window for window in self._windows.values() if window.pid == seen.pid]
        titled = [window for window in own if window.title and window.title == top.name]
        if titled:
            return titled[0]
        if top.rect is None:
            return None
        common = {window.id: window.rect.intersection(top.rect) for window in own}
        near = [
            w for w in own if (part := common[w.id]) is not None and 2 * part.area > max(w.rect.area, top.rect.area)
        ]
        return near[0] if near else None


def _unique_pairs(elements: Sequence[Element], reference: Sequence[Seen]) -> Iterable[tuple[Element, Seen]]:
    """Pair what exists once only on both sides by role and name."""
    mine, there = defaultdict(list), defaultdict(list)
    for element in elements:
        mine[element.role, element.name].append(element)
    for seen in reference:
        there[seen.role, _collapse(seen.name)].append(seen)
    for key, found in mine.items():
        if len(found) == 1 and len(there.get(key, ())) == 1:
            yield found[0], there[key][0]


def _marked(seen: Seen) -> str:
    if "defunct" in seen.states:
        return "marked as defunct, though it is there"
    return "" if seen.shows else "not marked as showing"


def _named(mine: str, theirs: str) -> str | None:
    """Return "" for the same name, the kind of difference, or None for different things."""
    known, given = _collapse(mine), _collapse(theirs)
    if known == given:
        return ""
    if not given:
        return "named by its texts, as it has no name of its own"
    if given in known or known in given:
        return "named with the texts in it"
    return None


def _said_by(name: str, element: Element) -> bool:
    words = _collapse(name)
    told = _collapse(" ".join((element.name, element.text or "", element.description, element.label)))
    return bool(words) and words in told


def _flows_over(seen: Seen) -> bool:
    """Tell whether what is in an object may reach over its edge: boxes of a page do, menus open outside."""
    if seen.toolkit == "Chromium":
        return seen.role not in ("document web", "frame", "dialog", "window", "scroll pane")
    return seen.role in ("menu", "combo box", "popup menu", "push button menu")


def same_role(one: str, other: str) -> bool:
    """Return whether two names of roles mean the same, as those of libraries of different age do."""
    return _canonical(one) == _canonical(other)


def _canonical(role: str) -> str:
    return next((min(names) for names in SAME_NAMES if role in names), role)


def _is_button(role: str) -> bool:
    return role.endswith("button") or role == "push button menu"


def _collapse(text: str) -> str:
    return "" if _CLASS.fullmatch(text) else " ".join(text.replace("\ufffc", " ").split())


def _told(role: str, name: str, rect: Rect) -> str:
    return f"{role} {name[:60]!r} {rect.width}x{rect.height} at {rect.x},{rect.y}"


def _sheet_address(element: Element) -> re.Match[str] | None:
    return _ADDRESS.fullmatch(element.name) if element.role == "table cell" and element.text is not None else None


def _cell(match: re.Match[str]) -> list[int]:
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return [int(match[2]) - 1, column - 1]


def _with_entries_of_java(found: Sequence[Seen]) -> list[Seen]:
    """Give what lies in a list, table or tree of Java the role of an entry, instead of that of what draws it."""
    entries = {"list": "list item", "table": "table cell", "tree": "tree item"}
    roles: dict[int, str] = {}
    named = []
    for seen in found:  # parents first
        around = roles.get(seen.parent, "")
        entry = around if around == "tree item" else entries.get(around)
        if entry is not None and seen.toolkit.startswith("J2SE") and seen.role in ("label", "panel", "unknown"):
            seen = replace(seen, role=entry)
        roles[seen.id] = seen.role
        named.append(seen)
    return named


def _seen(line: Mapping[str, object]) -> Seen:
    rect, states = line["rect"], line["states"]
    assert isinstance(states, list)
    return Seen(
        id=int(str(line["id"])),
        parent=int(str(line["parent"])),
        pid=int(str(line["pid"])),
        toolkit=str(line["toolkit"]),
        role=str(line["role"]),
        name=str(line["name"] or ""),
        rect=Rect(*rect) if isinstance(rect, list) else None,
        states=frozenset(states),
        shows=bool(line["shows"]),
        text=None if line.get("text") is None else str(line["text"]),
        value=None if line.get("value") is None else float(str(line["value"])),
        label=str(line.get("label") or ""),
    )
