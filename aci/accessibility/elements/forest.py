"""The visible nodes of an application as an ordered forest, and which of them lie over which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.roles import CHECKABLE, FIELDS, INLINE, INTERACTIVE, ITEMS, PLAIN, SKIPPED
from aci.accessibility.tree.names import visible_children
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Point, Rect
from aci.observation.snapshot import Element
from aci.observation.visibility import bounding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

SMALLEST_PX = 3  # least width and height of what can be hit
LEAST_OVERLAP_PX = 8  # boxes that overlap less only touch, or draw a shadow
NEAR_LEVELS = 3  # levels to the common ancestor of a field and a part drawn over it

# containers that place widgets side by side; in others an overlap means nothing
_LAID_OUT = PLAIN | {"frame", "dialog", "window"}


@dataclass(frozen=True, slots=True)
class Layer:
    """A box drawn over what precedes it in `around`; both are positions in a forest."""

    around: int
    place: int
    rect: Rect


class Forest:
    """The visible nodes of an application, parents before children, except those in the nodes `without`."""

    def __init__(self, application: Application, without: frozenset[Ref] = frozenset()) -> None:
        self.nodes: list[Node] = []
        self.parents: list[int] = []
        pending: list[tuple[Node, int]] = [(top, -1) for top in reversed(application.tops)]
        seen: set[Ref] = set()
        while pending:
            node, parent = pending.pop()
            if node.ref in seen or node.ref in without:
                continue
            seen.add(node.ref)
            place = len(self.nodes)
            self.nodes.append(node)
            self.parents.append(parent)
            pending.extend((child, place) for child in reversed(list(visible_children(application, node))))
        self.ends = list(range(1, len(self.nodes) + 1))
        for place in range(len(self.nodes) - 1, -1, -1):
            if self.parents[place] >= 0:
                self.ends[self.parents[place]] = max(self.ends[self.parents[place]], self.ends[place])
        self.places = {node.ref: place for place, node in enumerate(self.nodes)}
        self.by_ref = {node.ref: node for node in self.nodes}
        self._in_page: list[bool] = []
        for node, parent in zip(self.nodes, self.parents, strict=True):
            self._in_page.append(node.role == "document web" or (parent >= 0 and self._in_page[parent]))

    def layers(self) -> list[Layer]:
        """Return boxes that overlap earlier ones in their container, where toolkits lay widgets out side by side."""
        children: dict[int, list[int]] = {}
        for place, parent in enumerate(self.parents):
            if parent >= 0 and self.nodes[parent].role in _LAID_OUT and self.nodes[place].role not in SKIPPED | ITEMS:
                children.setdefault(parent, []).append(place)
        found = []
        for parent, places in children.items():
            rects = [rect for place in places if (rect := self.nodes[place].rect) is not None and rect.area]
            # A window's own extents hold its title bar, which no child fills.
            around = bounding(rects) if self.parents[parent] < 0 and rects else self.nodes[parent].rect
            for index, place in enumerate(places[1:], 1):
                before = [rect for other in places[:index] if (rect := self.nodes[other].rect) is not None]
                found += [
                    Layer(parent, place, rect)
                    for rect in self._boxes(place, around)
                    if any(
                        min(common.width, common.height) >= LEAST_OVERLAP_PX
                        for other in before
                        if other != rect and (common := other.intersection(rect)) is not None
                    )
                ]
        return found

    def _boxes(self, place: int, around: Rect | None) -> list[Rect]:
        """Return the parts of a node that may cover its siblings.

        A node that fills its parent only positions layers; clicks outside of these pass through it.
        """
        rect = self.nodes[place].rect
        if rect is None or not rect.area:
            return []
        fills = around is not None and rect.width >= around.width - 2 and rect.height >= around.height - 2
        if not fills or self.nodes[place].has(StateBit.MODAL):
            return [rect]
        inner = [at for at in range(place + 1, self.ends[place]) if self.parents[at] == place]
        return [box for at in inner for box in self._boxes(at, rect)]

    def rivals(self, members: Sequence[tuple[Element, Node]]) -> list[tuple[Element, tuple[int, ...]]]:
        """Return the elements whose point has unrelated objects over it, with these."""
        import numpy as np

        known = [
            (element, node, element.point)
            for element, node in members
            if node.ref in self.places and element.point is not None
        ]
        if not known:
            return []
        rects = np.array([edges(node.rect) for node in self.nodes], dtype=np.int64)
        places = np.array([self.places[node.ref] for _, node, _ in known])
        xs, ys = (np.array(each) for each in zip(*((point.x, point.y) for *_, point in known), strict=True))
        ends, order = np.array(self.ends), np.arange(len(self.nodes))
        inside: Mask = (rects[:, 0] <= xs[:, None]) & (xs[:, None] < rects[:, 2])
        inside &= (rects[:, 1] <= ys[:, None]) & (ys[:, None] < rects[:, 3])
        inside &= np.array(self._in_page)
        inside &= ~((order <= places[:, None]) & (places[:, None] < ends))
        inside &= ~((places[:, None] <= order) & (order < ends[places][:, None]))
        inline = np.array([node.role in INLINE for node in self.nodes])
        runs = np.array([element.role in INLINE for element, *_ in known])
        inside &= ~(inline & runs[:, None])
        return [
            (element, rivals)
            for index, (element, node, _) in enumerate(known)
            if (rivals := (*self._boxes_left(element, node), *(int(at) for at in np.flatnonzero(inside[index]))))
        ]

    def scrolled_out(self, members: Sequence[tuple[Element, Node]]) -> dict[int, Point | None]:
        """Return new points of items that their scrolling box shows no more than an edge of.

        The box shows others of the kind whole, so it clips them without a test.
        """
        points: dict[int, Point | None] = {}
        for element, node in members:
            left = self._boxes_left(element, node) if node.ref in self.places else []
            box = self.nodes[left[0]].rect if left else None
            edge = element.rect.intersection(box) if box is not None else None
            if edge is not None and any(_holds(box, other.rect) for other in self._alike(node)):
                points[element.id] = edge.center if min(edge.width, edge.height) >= SMALLEST_PX else None
        return points

    def _alike(self, node: Node) -> list[Node]:
        around = self.parents[self.places[node.ref]]
        within = range(around + 1, self.ends[around])
        return [self.nodes[at] for at in within if self.parents[at] == around and self.nodes[at].role == node.role]

    def _boxes_left(self, element: Element, node: Node) -> list[int]:
        """Return the nearest box around a node that does not contain its point: it may clip it, or let it overflow."""
        place = self.parents[self.places[node.ref]]
        while place >= 0 and self._in_page[place]:
            rect = self.nodes[place].rect
            boxed = rect is not None and rect.area and self.nodes[place].role not in INLINE
            if boxed and rect is not None and element.point is not None and not rect.contains(element.point):
                return [place]
            place = self.parents[place]
        return []

    def extent(self, places: Sequence[int]) -> int:
        """Return the area of the largest of some nodes, px."""
        return max((rect.area for place in places if (rect := self.nodes[place].rect) is not None), default=0)

    def related(self, one: Node, other: Node) -> bool:
        """Return whether one of two nodes is the other or lies within it."""
        a, b = self.places[one.ref], self.places[other.ref]
        return a <= b < self.ends[a] or b <= a < self.ends[b]

    def top_of(self, node: Node) -> Node:
        """Return the window or frame of a node."""
        return self._chain(node)[-1]

    def common(self, one: Node, other: Node) -> tuple[Node | None, list[Node], list[Node]]:
        """Return the nearest common ancestor, and the chains from each node up to below it."""
        mine, theirs = self._chain(one), self._chain(other)
        shared: Node | None = None
        while mine and theirs and mine[-1].ref == theirs[-1].ref:
            shared = mine.pop()
            theirs.pop()
        return shared, mine, theirs

    def layer_over(self, node: Node, hit: Node) -> Node:
        """Return the largest ancestor of `hit` whose extents enclose it and that does not hold `node`."""
        _, _, theirs = self.common(node, hit)
        holds = [part for part in theirs if _holds(part.rect, hit.rect)]
        return holds[-1] if holds else hit

    def left_box(self, node: Node, hit: Node, point: Point) -> Node | None:
        """Return the box that clips a node away at a point, if an ancestor of the node was hit there."""
        place, around = self.places[node.ref], self.places[hit.ref]
        if place == around or not around <= place < self.ends[around]:
            return None
        boxes = (box for box in self._chain(node)[1:] if box.rect is not None and box.rect.area)
        return next((box for box in boxes if box.rect is not None and not box.rect.contains(point)), None)

    def reaches(self, node: Node, hit: Node, point: Point) -> bool:
        """Return whether a click goes to an element where this was hit."""
        return self.left_box(node, hit, point) is None and self.lets_through(node, hit)

    def lets_through(self, node: Node, hit: Node) -> bool:
        """Return whether what lies at an element's point passes clicks on to it.

        Pages draw their own fields and boxes over invisible real ones; both then have a small box in common.
        """
        if self.related(node, hit):
            return True
        around, mine, theirs = self.common(node, hit)
        if around is None or any(part.role in INTERACTIVE for part in theirs):
            return False
        if around.role in INTERACTIVE | {"label"}:
            return True
        if node.role not in FIELDS | CHECKABLE or max(len(mine), len(theirs)) > NEAR_LEVELS:
            return False
        if around.rect is None or node.rect is None:
            return False
        return around.rect.height <= 3 * node.rect.height

    def _chain(self, node: Node) -> list[Node]:
        chain, place = [], self.places[node.ref]
        while place >= 0:
            chain.append(self.nodes[place])
            place = self.parents[place]
        return chain


def edges(rect: Rect | None) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom; zeros for None."""
    return (0, 0, 0, 0) if rect is None else (rect.x, rect.y, rect.right, rect.bottom)


def _holds(outer: Rect | None, inner: Rect | None) -> bool:
    if outer is None or inner is None:
        return False
    return outer.intersection(inner) == inner
