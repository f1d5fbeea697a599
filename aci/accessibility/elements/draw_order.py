"""Elements of toolkits that other parts of their window cover: what of them is not covered.

Toolkits draw later siblings over earlier ones; Swing draws menus over everything else, LibreOffice pictures over texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aci.accessibility.atspi import Ref
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.forest import SMALLEST_PX, Forest, edges
from aci.accessibility.roles import INTERACTIVE, ITEMS, SHAPE
from aci.accessibility.tree.capture import showing
from aci.accessibility.tree.libreoffice import lies_over_text
from aci.accessibility.tree.names import is_gtk4, visible_children
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Point, Rect
from aci.observation.snapshot import Element
from aci.observation.visibility import bounding, uncovered

MOST_COVERS = 200  # widgets considered over one other
BORDER_PX = 18, 6  # GTK 4 extents exclude border and padding (across, down)
MENU_BORDER_PX = 4  # of Swing, around the entries
OBJECT_BORDER_PX = 6  # around a frame, picture or shape in a document of LibreOffice, in which a click still selects it

_FLOWING = frozenset({"paragraph", "heading"})
_DRAWN_OVER = (INTERACTIVE - ITEMS) | {"label"}


def points_by_draw_order(
    application: Application, forest: Forest, elements: Sequence[Element], drafts: Mapping[int, Draft]
) -> dict[int, Point | None]:
    """Return new points of elements that a later element or a layer covers."""
    layers = forest.layers()
    over = [
        (forest.places[node.ref], element.rect)
        for element in elements
        if element.role in _DRAWN_OVER and (node := drafts[element.id].node).ref in forest.places
    ]
    near = _Near(over)
    points: dict[int, Point | None] = {}
    for element in elements:
        place = forest.places.get(drafts[element.id].node.ref)
        if place is None or element.point is None:
            continue
        covers = [layer.rect for layer in layers if layer.around < place < layer.place]
        wide = covers
        if element.role in INTERACTIVE - ITEMS:
            later = near.covers(element.rect, forest.ends[place])
            border = (OBJECT_BORDER_PX, OBJECT_BORDER_PX) if element.role == SHAPE else BORDER_PX
            wide = covers + [rect.grown(*border) for rect in later]
            covers = covers + later
        keeps_away = is_gtk4(application) or element.role == SHAPE
        if not any(rect.contains(element.point) for rect in (wide if keeps_away else covers)):
            continue
        best = largest_piece(uncovered(element.rect, wide)) or largest_piece(uncovered(element.rect, covers))
        points[element.id] = best.center if best is not None else None
    return points


def points_beside_menus(
    application: Application, elements: Sequence[Element], drafts: Mapping[int, Draft]
) -> dict[int, Point | None]:
    """Return new points of elements of Swing that an open menu or list of choices in the same window covers."""
    menus = [
        (node.ref, bounding(parts).grown(MENU_BORDER_PX, MENU_BORDER_PX))
        for node in showing(application)
        if node.role in ("menu", "popup menu") and (parts := _shown_parts(application, node))
    ]
    return _points_beside(menus, elements, drafts)


def points_beside_objects(
    application: Application, elements: Sequence[Element], drafts: Mapping[int, Draft]
) -> dict[int, Point | None]:
    """Return new points of paragraphs in a document that a picture, a frame or a shape in it covers."""
    texts = [element for element in elements if element.role in _FLOWING]
    if not texts:
        return {}
    nodes = [node for node in showing(application) if lies_over_text(node)]
    objects = [(node.ref, node.rect) for node in nodes if node.rect is not None]
    return _points_beside(objects, texts, drafts, OBJECT_BORDER_PX)


def _points_beside(
    areas: Sequence[tuple[Ref, Rect]], elements: Sequence[Element], drafts: Mapping[int, Draft], border_px: int = 0
) -> dict[int, Point | None]:
    """Return new points of elements that areas of other nodes cover; near their borders only where nothing else is."""
    points: dict[int, Point | None] = {}
    for element in elements:
        covers = [rect for ref, rect in areas if ref not in drafts[element.id].holders]
        wide = [rect.grown(border_px, border_px) for rect in covers]
        if element.point is not None and any(rect.contains(element.point) for rect in wide):
            best = largest_piece(uncovered(element.rect, wide)) or largest_piece(uncovered(element.rect, covers))
            points[element.id] = best.center if best is not None else None
    return points


def _shown_parts(application: Application, node: Node) -> list[Rect]:
    return [child.rect for child in visible_children(application, node) if child.rect is not None and child.rect.area]


class _Near:
    """An index of the rectangles that may cover a place."""

    def __init__(self, over: Sequence[tuple[int, Rect]]) -> None:
        import numpy as np

        self._rects = [rect for _, rect in over]
        self._order = np.array([place for place, _ in over], dtype=np.int64)
        self._exact = np.array([edges(rect) for rect in self._rects], dtype=np.int64).reshape(-1, 4)
        self._edges = np.array([edges(rect.grown(*BORDER_PX)) for rect in self._rects], dtype=np.int64).reshape(-1, 4)

    def covers(self, rect: Rect, first: int) -> list[Rect]:
        """Return the rectangles drawn at `first` or later that touch a rectangle, or nearly so."""
        import numpy as np

        left, top, right, bottom = self._edges.T
        touching = (left < rect.right) & (right > rect.x) & (top < rect.bottom) & (bottom > rect.y)
        others = (self._exact != np.array(edges(rect))).any(axis=1)
        return [self._rects[at] for at in np.flatnonzero(touching & others & (self._order >= first))[:MOST_COVERS]]


def largest_piece(pieces: Sequence[Rect]) -> Rect | None:
    """Return the largest rectangle that is large enough to be hit."""
    return max(
        (part for part in pieces if min(part.width, part.height) >= SMALLEST_PX),
        key=lambda part: part.area,
        default=None,
    )
