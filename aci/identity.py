"""What an element is, apart from where it is: enough to find it again in another observation."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from aci.observation import Element, Observation

MIN_SCORE = 0.6
MARGIN = 0.05


class ElementDescription(BaseModel):
    """An element without its id and place.

    Attributes:
        role: AT-SPI role name.
        name: Accessible name.
        label: Name of the element that labels it.
        description: Tooltip, placeholder or class.
        app: Application it belongs to.
        window: Title of its window.
        path: Roles and names of its ancestors, from the window down.
        ordinal: Position among the elements of the same role and name, in reading order, from 0.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    name: str = ""
    label: str = ""
    description: str = ""
    app: str = ""
    window: str = ""
    path: tuple[str, ...] = ()
    ordinal: int = 0


def describe(element: Element, observation: Observation) -> ElementDescription:
    """Describe an element so that `find_again` can find it in a later observation."""
    titles = {window.id: window.title for window in observation.windows}
    twins = [other.id for other in observation.elements if _is_twin(other, element)]
    return ElementDescription(
        role=element.role,
        name=element.name,
        label=element.label,
        description=element.description,
        app=element.app,
        window=titles.get(element.window_id, ""),
        path=element.path,
        ordinal=twins.index(element.id) if element.id in twins else 0,
    )


def find_again(description: ElementDescription, observation: Observation) -> Element | None:
    """Find the described element, by role, name, path and surroundings and never by coordinates.

    Returns:
        The one element that fits clearly best, or None where nothing fits or two fit equally well.
    """
    scored = sorted(
        ((_score(description, element), element) for element in _same_kind(description, observation.elements)),
        key=lambda pair: -pair[0],
    )
    if not scored or scored[0][0] < MIN_SCORE:
        return None
    best = [element for score, element in scored if score >= scored[0][0] - MARGIN]
    if len(best) == 1:
        return best[0]
    in_order = [element for element in observation.elements if element in best]
    return in_order[description.ordinal] if description.ordinal < len(in_order) else None


def _same_kind(description: ElementDescription, elements: Iterable[Element]) -> list[Element]:
    return [
        element
        for element in elements
        if element.role == description.role and (not description.app or element.app == description.app)
    ]


def _score(description: ElementDescription, element: Element) -> float:
    """Weigh what agrees, from 0 to 1; an element without any name is known by its surroundings alone."""
    if description.name and element.name != description.name:
        return 0.0
    weights = {"name": 0.4, "label": 0.2, "description": 0.1}
    score = sum(w for field, w in weights.items() if getattr(description, field) == getattr(element, field))
    return score + 0.3 * _path_agreement(description.path, element.path)


def _path_agreement(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Share of ancestors that agree, counted from the element outwards; window titles change and count little."""
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    agreeing = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine.split(":")[0] != theirs.split(":")[0]:
            break
        agreeing += 1
    return agreeing / longest


def _is_twin(other: Element, element: Element) -> bool:
    return (other.role, other.name, other.window_id) == (element.role, element.name, element.window_id)
