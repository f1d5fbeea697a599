"""Descriptions of elements without ids and coordinates, for finding them in another observation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from aci.observation.observation import Element, Observation
from aci.observation.sheet_places import CellPlace, cell_place, find_cell
from aci.observation.sheet_text import is_sheet_cell
from aci.observation.snapshot import IN_PICTURE

MIN_SCORE = 0.6
# class names that GTK 4 uses for nameless containers, some of which come and go
_TOOLKIT_NAME = re.compile(r"(?:Gtk|Adw)[A-Z]\w*$")
SHARED_WORDS = 0.5  # minimum share of common words in two titles of the same window

_BESIDE_CHARS = 80
# roles of ancestors named after their changing content, for which the window's title is enough
_CONTENT_NAMED_ROLES = frozenset(
    {"frame", "window", "dialog", "alert", "file chooser", "page tab", "page tab list", "scroll pane"}
)
_NUMBERS = re.compile(r"\d+")
_SEPARATOR = re.compile(r"\s+[-–—|·]\s+")
_WORD = re.compile(r"\w+")
_FILE = re.compile(r"(?:~|/)\S*/\S[^/]*|~/[^/]+")  # a path, which is the whole title in some editors


class ElementDescription(BaseModel):
    """An element without its id and coordinates."""

    model_config = ConfigDict(frozen=True)

    role: str  # AT-SPI role name
    name: str = ""  # accessible name
    label: str = ""  # name of the element that labels it
    description: str = ""  # tooltip, placeholder or class
    app: str = ""  # application it belongs to
    window: str = ""  # title of its window
    path: tuple[str, ...] = ()  # roles and names of its ancestors, from the window down
    ordinal: int = 0  # position among the elements of the same role and name, in reading order, from 0
    beside: str = ""  # text to the left of it, or else above it, if other elements have the same role and name
    # number of elements in its window with the same role and name, including itself; 0 if unknown
    twins: int = 0
    cell: CellPlace | None = None  # its place in the sheet, if it is a cell named by its address
    read_only: bool | None = None  # whether its content cannot be edited; None for elements with a name


def describe(element: Element, observation: Observation) -> ElementDescription:
    """Describe an element so that `find_again` can find it in a later observation."""
    titles = {window.id: window.title for window in observation.windows}
    twins = [other.id for other in observation.elements if _is_twin(other, element, not element.name)]
    return ElementDescription(
        role=element.role,
        name=element.name,
        label=element.label,
        description=element.description,
        app=element.app,
        window=titles.get(element.window_id, ""),
        path=element.path,
        ordinal=twins.index(element.id) if element.id in twins else 0,
        beside=_beside(element, observation.elements) if len(twins) > 1 else "",
        twins=len(twins),
        cell=cell_place(element, observation.elements),
        read_only=None if element.name else "read_only" in element.states,
    )


def find_again(description: ElementDescription, observation: Observation) -> Element | None:
    """Find the described element, by role, name, path and surroundings, never by coordinates.

    An entry of a menu bar is found whatever the window title says, which often names the document.

    Returns:
        The best match, in the topmost of several windows. None if there is no match, or if equal matches cannot be
        distinguished by neighboring texts or, if their number is unchanged, by their order. Candidates found in the
        picture are never found again.
    """
    if description.path == IN_PICTURE:
        return None
    titles = {window.id: window.title for window in observation.windows}
    alike = [
        element
        for element in observation.elements
        if element.role == description.role
        and description.read_only in (None, "read_only" in element.states)
        and description.app in ("", element.app)
    ]
    similar = [each for each in alike if titles_agree(description.window, titles.get(each.window_id, ""))]
    if not similar and _is_in_menu_bar(
        description.path
    ):  # some main windows have nothing but the document in their title
        similar = [each for each in alike if _is_in_menu_bar(each.path)]
    if description.cell is not None:
        return find_cell(description.cell, description.name, cells_of(description, similar))
    scored = [(round(_score(description, element), 3), element) for element in similar]
    best = max((score for score, _ in scored), default=0.0)
    if best < MIN_SCORE:
        return None
    return _choose(description, [element for score, element in scored if score == best], observation)


def cells_of(description: ElementDescription, elements: Iterable[Element]) -> list[Element]:
    """Return the cells of the described sheet in the topmost window that shows it."""
    cells = [one for one in elements if is_sheet_cell(one) and one.path[-1:] == description.path[-1:]]
    return [one for one in cells if one.window_id == cells[0].window_id]


def titles_agree(one: str, other: str) -> bool:
    """Return whether two titles may belong to the same window at different times.

    Numbers, document names and marks of unsaved changes vary, while the part after the last dash, usually the
    application, or most of the words stay. Two titles that are just document paths agree. Popups, which have no
    title, agree only with each other.
    """
    if not one or not other:
        return one == other
    one, other = (_NUMBERS.sub("#", title.lstrip("*• ").casefold()) for title in (one, other))
    if one == other or (_SEPARATOR.search(one) and _SEPARATOR.split(one)[-1] == _SEPARATOR.split(other)[-1]):
        return True
    if _FILE.fullmatch(one) and _FILE.fullmatch(other):
        return True
    mine, theirs = (set(_WORD.findall(title)) for title in (one, other))
    return len(mine & theirs) >= SHARED_WORDS * max(1, len(mine | theirs))


def _is_in_menu_bar(path: tuple[str, ...]) -> bool:
    return len(path) > 1 and path[0].startswith("frame:") and path[1].startswith("menu bar:")


def _choose(description: ElementDescription, best: list[Element], observation: Observation) -> Element | None:
    best = [element for element in best if element.window_id == best[0].window_id]
    by_state = description.read_only is not None
    twins = [other for other in observation.elements if _is_twin(other, best[0], by_state)]
    as_many = len(twins) == (description.twins or len(twins))
    if description.beside:
        alike = [element for element in best if _beside(element, observation.elements) == description.beside]
        if len(best) == 1 and len(twins) > 1:  # the twins differ in their label or path
            return best[0]
        if len(alike) < 2:
            return alike[0] if alike else None
        best = alike
    elif len(best) == 1:
        return best[0] if as_many or description.twins == 1 or description.label else None
    meant = twins[description.ordinal] if as_many and description.ordinal < len(twins) else None
    return meant if any(element is meant for element in best) else None


def _score(description: ElementDescription, element: Element) -> float:
    """Return the similarity from 0 to 1; an element without a name is identified by its surroundings alone."""
    if description.name and element.name != description.name:
        return 0.0
    if not description.name and description.label and element.label != description.label:
        return 0.0
    mine, theirs = _nearest_named(description.path), _nearest_named(element.path)
    if mine and theirs and not titles_agree(mine, theirs):
        return 0.0
    weights = {"name": 0.4, "label": 0.2, "description": 0.1}
    score = sum(w for field, w in weights.items() if getattr(description, field) == getattr(element, field))
    return score + 0.3 * _path_agreement(description.path, element.path)


def _nearest_named(path: tuple[str, ...]) -> str:
    for part in reversed(path):
        role, _, name = part.partition(":")
        if (
            name
            and role not in _CONTENT_NAMED_ROLES
            and not role.startswith("document")
            and not _TOOLKIT_NAME.match(name)
        ):
            return name
    return ""


def _path_agreement(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the share of ancestors whose roles agree, counted from the element outwards."""
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    agreeing = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine.split(":")[0] != theirs.split(":")[0]:
            break
        agreeing += 1
    return agreeing / longest


def _is_twin(other: Element, element: Element, by_state: bool) -> bool:
    """Return whether two elements have the same role and name and, with `by_state`, are equally editable."""
    if by_state and ("read_only" in other.states) != ("read_only" in element.states):
        return False
    return (other.role, other.name, other.window_id) == (element.role, element.name, element.window_id)


def _beside(element: Element, elements: Iterable[Element]) -> str:
    """Return the nearest text to the left in the same row, else above; "" if there is none."""
    beside = [other for other in elements if other.window_id == element.window_id and _can_identify(other, element)]
    rect = element.rect
    left = [o for o in beside if o.rect.right <= rect.x + 2 and o.rect.y < rect.bottom and o.rect.bottom > rect.y]
    if left:
        return _text_of(max(left, key=lambda other: (other.rect.right, -other.id)))
    above = [o for o in beside if o.rect.bottom <= rect.y + 2 and o.rect.x < rect.right and o.rect.right > rect.x]
    return _text_of(max(above, key=lambda other: (other.rect.bottom, -other.id))) if above else ""


def _can_identify(other: Element, element: Element) -> bool:
    return other.source == "accessibility" and other.name != element.name and bool(_text_of(other))


def _text_of(element: Element) -> str:
    return (element.name or element.text or "")[:_BESIDE_CHARS]
