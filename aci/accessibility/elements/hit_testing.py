"""Removal of elements that other parts of their own window cover: layers of a page, and overlapping widgets.

No property gives the stacking order. Chromium can be asked what lies at a point; for toolkits, see `draw_order`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from aci.accessibility.atspi import PREFIX, SCREEN_COORDINATES, Ref, object_ref
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.draw_order import (
    largest_piece,
    points_beside_menus,
    points_beside_objects,
    points_by_draw_order,
)
from aci.accessibility.elements.forest import Forest
from aci.accessibility.elements.stack_pages import hidden_pages, nearest_known
from aci.accessibility.roles import CHECKABLE
from aci.accessibility.tree.names import is_gtk4, is_java
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Point, Rect
from aci.observation.snapshot import Element
from aci.observation.visibility import clipped, uncovered

BUDGET_S = 0.3  # time for hit tests in one look; the rest is tested at the next look
SAMPLES = 4  # elements tested per group; if they agree, the others are taken to be alike
SURE = 3  # clicks that pass through a layer, with none blocked, after which it is not tested again
TIMES_ASKED = 2  # looks at which an element is tested if it seems covered, or if Chromium told nothing about it
MOST_POINTS = 4  # points tried per element
# Time for Chromium to find what is drawn at a point; until then it guesses from the order of its tree. It remembers a
# single point, so tests are sequential. Where it was seen to be fast, it gets less time.
ANSWER_S, LEAST_ANSWER_S, POLL_S = 0.024, 0.006, 0.0015
TIMED, SLOWER = 3, 2.5  # timed answers needed for that, and the factor on the second longest of them
TWO_LINES_PX = 26  # a lower link has one line
SIDE_PX = 2  # distance of test points from the sides of an element

# roles without children in ARIA, so that no object represents their text
_TEXT_NOT_LISTED = CHECKABLE | {"menu item", "check menu item", "radio menu item", "page tab", "list item"}


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The result of a hit test."""

    cause: Hashable  # what it depends on
    point: Point | None  # where the element can be hit, None for nowhere
    answered: bool = True  # whether Chromium told what is drawn there
    asked: int = 1  # number of tests

    def is_doubtful(self, point: Point | None) -> bool:
        """Return whether an element with this point is to be tested again: the result may have come too early."""
        return self.asked < TIMES_ASKED and (not self.answered or self.point != point)


@dataclass(frozen=True, slots=True)
class _Window:
    """Where the elements of a window can be hit."""

    seen: Sequence[tuple[int, Rect, Point | None]]  # their ids, places and points before the test
    drafts: Sequence[Draft]  # their drafts; any difference in a window creates new ones
    points: Mapping[int, Point | None] = field(default_factory=dict)  # new points
    verdicts: Mapping[Ref, _Verdict] = field(default_factory=dict)  # the results of tests in a page
    final: bool = False  # whether nothing is left to test

    def same(self, other: _Window | None) -> bool:
        return other is not None and self.seen == other.seen and all(map(is_, self.drafts, other.drafts))


class HitTester:
    """Moves the points of elements, or removes elements, that other parts of their window cover."""

    def __init__(self, bus: Bus, clock: Callable[[], float] = time.monotonic) -> None:
        self._bus = bus
        self._clock = clock
        self._verdicts: dict[Ref, _Verdict] = {}
        self._starts: dict[Ref, tuple[Rect, Point | None]] = {}
        self._windows: dict[tuple[str, int], _Window] = {}
        self._unsure = False
        self._over: set[Ref] = set()
        self._clips: set[Ref] = set()
        self._through: Counter[Ref] = Counter()
        self._took: deque[float] = deque(maxlen=8)

    async def cleared(
        self,
        elements: Sequence[Element],
        drafts: Mapping[int, Draft],
        applications: Mapping[str, Application],
        changed_windows: Collection[int] = (),
    ) -> tuple[Element, ...]:
        """Return the elements with points that hit them, without those that are completely hidden.

        Args:
            elements: Placed, with windows above them already taken into account.
            drafts: Their drafts by element id.
            applications: By the unique name of their connection.
            changed_windows: Ids of windows in which anything may have changed, even if their elements are the same.
        """
        deadline = self._clock() + BUDGET_S
        self._through.clear()
        points: dict[int, Point | None] = {}
        by_peer: dict[tuple[str, int], list[Element]] = {}
        for element in elements:
            # A popup has a window of its own, above everything.
            if element.point is not None and element.id in drafts and not drafts[element.id].window.popup:
                by_peer.setdefault((drafts[element.id].node.ref.name, element.window_id), []).append(element)
        windows: dict[tuple[str, int], _Window] = {}
        for (name, window_id), members in by_peer.items():
            application = applications.get(name)
            if application is not None:
                now = _Window(
                    [(one.id, one.rect, one.point) for one in members], [drafts[element.id] for element in members]
                )
                known = self._windows.get((name, window_id))
                if known is None or not known.final or window_id in changed_windows or not now.same(known):
                    known = await self._tested(application, members, drafts, deadline, now)
                windows[name, window_id] = known
                points |= known.points
        self._windows = windows
        self._verdicts = {ref: verdict for window in windows.values() for ref, verdict in window.verdicts.items()}
        changed = (_at(element, points) for element in elements)
        return tuple(element for element in changed if element is not None)

    async def _tested(
        self,
        application: Application,
        members: Sequence[Element],
        drafts: Mapping[int, Draft],
        deadline: float,
        window: _Window,
    ) -> _Window:
        if application.toolkit.startswith("Chromium"):
            verdicts: dict[Ref, _Verdict] = {}
            self._unsure = False
            points = await self._in_page(application, members, drafts, deadline, verdicts)
            return replace(window, points=points, verdicts=verdicts, final=not self._unsure)
        if is_java(application):
            return replace(window, points=points_beside_menus(application, members, drafts), final=True)
        if not application.toolkit.casefold().startswith("gtk"):
            return window
        forest = Forest(application)
        hidden: set[int] = set()
        if is_gtk4(application) and (pages := await hidden_pages(self._bus, forest, members, drafts)):
            known, forest = forest, Forest(application, without=pages)
            refs = known.places.keys() - forest.places.keys()
            hidden = {element.id for element in members if drafts[element.id].node.ref in refs}
        shown = [element for element in members if element.id not in hidden]
        points = points_by_draw_order(application, forest, shown, drafts)
        points |= points_beside_objects(application, shown, drafts)
        return replace(window, points=points | dict.fromkeys(hidden), final=True)

    async def _in_page(
        self,
        application: Application,
        elements: Sequence[Element],
        drafts: Mapping[int, Draft],
        deadline: float,
        kept: dict[Ref, _Verdict],
    ) -> dict[int, Point | None]:
        members = [element for element in elements if any(part.startswith("document web:") for part in element.path)]
        if not members:
            return {}
        points: dict[int, Point | None] = dict(await self._line_starts(members, drafts))
        members = [replace(element, point=points.get(element.id, element.point)) for element in members]
        forest = Forest(application)
        points |= forest.scrolled_out([(element, drafts[element.id].node) for element in members])
        members = [left for element in members if (left := _at(element, points)) is not None]
        groups: dict[tuple[int, ...], list[Element]] = {}
        for element, rivals in forest.rivals([(element, drafts[element.id].node) for element in members]):
            groups.setdefault(rivals, []).append(element)
        self._over &= forest.by_ref.keys()
        self._clips &= forest.by_ref.keys()
        # Single layers first, whose tests are conclusive, and large ones before objects that only stick out of a line.
        for rivals, group in sorted(groups.items(), key=lambda item: (len(item[0]), -forest.extent(item[0]))):
            nodes = [forest.nodes[at] for at in rivals]
            if any(node.ref in self._over or self._through[node.ref] < SURE for node in nodes):
                points |= await self._group(forest, group, drafts, nodes, deadline, kept)
        return points

    async def _group(
        self,
        forest: Forest,
        group: Sequence[Element],
        drafts: Mapping[int, Draft],
        rivals: Sequence[Node],
        deadline: float,
        kept: dict[Ref, _Verdict],
    ) -> dict[int, Point | None]:
        """Return new points of elements that the same objects may cover.

        When time is up, what covered some elements is assumed to cover the others as well.
        """
        found: dict[int, Point | None] = {}
        cause = tuple((rival.ref, rival.rect) for rival in rivals)
        covers = [rival.rect for rival in rivals if rival.ref in self._over and rival.rect is not None]
        boxes = [rival.rect for rival in rivals if rival.ref in self._clips and rival.rect is not None]
        spread = group if len(group) <= SAMPLES else group[:: max(1, len(group) // SAMPLES)]
        rest = [element for element in group if element not in spread]
        for element in [*spread, *rest]:
            node = drafts[element.id].node
            why = (element.rect, element.point, cause)
            verdict = self._verdicts.get(node.ref)
            if verdict is not None and verdict.cause == why:
                if verdict.is_doubtful(element.point) and self._clock() < deadline:
                    free = await self._free_point(forest, element, drafts[element.id], rivals)
                    verdict = _Verdict(why, *free, asked=verdict.asked + 1)
            else:
                agreed = {_kind(one, found) for one in spread} if element in rest else set()
                if len(agreed) == 1 and agreed <= {"free", "hidden"}:
                    verdict = _Verdict(why, None if agreed == {"hidden"} else element.point)
                elif self._clock() >= deadline:
                    self._unsure = True
                    if covers or boxes:
                        found[element.id] = _point_outside(element, covers, boxes)
                    continue
                else:
                    verdict = _Verdict(why, *await self._free_point(forest, element, drafts[element.id], rivals))
            self._unsure |= verdict.is_doubtful(element.point)
            kept[node.ref] = verdict
            found[element.id] = verdict.point
        return found

    async def _free_point(
        self, forest: Forest, element: Element, draft: Draft, rivals: Sequence[Node]
    ) -> tuple[Point | None, bool]:
        """Return a point at which a click reaches the element, and whether Chromium told what is drawn there."""
        node, point = draft.node, element.point
        pieces = uncovered(element.rect, draft.avoid) or [element.rect]
        for _ in range(MOST_POINTS):
            if point is None:
                break
            hit, guessed = await self._hit(forest, node, point)
            if hit is not None and guessed and await self._refuted(forest, element, node, hit, point):
                hit = None
            left = forest.left_box(node, hit, point) if hit is not None else None
            box = left.rect if left is not None else None
            if hit is None or (box is None and forest.lets_through(node, hit)):
                if hit is not None and point == element.point:
                    self._through.update(rival.ref for rival in rivals)
                return point, hit is not None
            if left is not None:
                self._clips.add(left.ref)
            else:
                self._over.update(rival.ref for rival in rivals if forest.related(rival, hit))
            if box is not None:
                pieces = [part for piece in pieces if (part := piece.intersection(box)) is not None]
            else:
                cover = forest.layer_over(node, hit).rect
                pieces = [part for piece in pieces for part in uncovered(piece, [cover] if cover else [])]
            best = largest_piece(pieces)
            point = best.center if best is not None else None
        return None, True

    async def _refuted(self, forest: Forest, element: Element, node: Node, guess: Node, point: Point) -> bool:
        """Return whether a guessed cover is wrong, by tests at the sides of the element.

        On the text of some objects Chromium finds nothing, so the guess never gets replaced. A real cover of the text
        covers the sides as well, where Chromium can be asked.
        """
        if node.role not in _TEXT_NOT_LISTED or forest.reaches(node, guess, point):
            return False
        sides = (Point(x, point.y) for x in (element.rect.right - 1 - SIDE_PX, element.rect.x + SIDE_PX))
        for side in sides:
            if guess.rect is not None and guess.rect.contains(side) and element.rect.contains(side):
                found, guessed = await self._hit(forest, node, side)
                if found is not None and not guessed:
                    return forest.reaches(node, found, side)
        return False

    async def _hit(self, forest: Forest, node: Node, point: Point) -> tuple[Node | None, bool]:
        """Return the known object drawn at a point, None if Chromium does not know, and whether it is only a guess.

        The first answer is a guess that starts the real search. The result shows if it differs from the guess or is an
        object that no tree lists; a correct guess has to be waited for.
        """
        top = forest.top_of(node).ref
        question = (*top, "Component", "GetAccessibleAtPoint", "iiu", [point.x, point.y, SCREEN_COORDINATES])
        started = self._clock()
        found = guess = object_ref(await self._bus.ask(*question))
        while found is not None and found == guess and found in forest.by_ref:
            if self._clock() >= started + self._answer_limit():
                break
            await asyncio.sleep(POLL_S)
            found = object_ref(await self._bus.ask(*question))
        if found is None:
            return None, True
        if found != guess:
            self._took.append(self._clock() - started)
        guessed = found == guess and found in forest.by_ref
        known = await nearest_known(self._bus, forest, found)
        return known, known is None or guessed

    def _answer_limit(self) -> float:
        if len(self._took) < TIMED:
            return ANSWER_S
        return min(ANSWER_S, max(LEAST_ANSWER_S, SLOWER * sorted(self._took)[-2]))

    async def _line_starts(self, elements: Sequence[Element], drafts: Mapping[int, Draft]) -> dict[int, Point]:
        """Return the middle of the first visible letter of multi-line links: other text lies between their lines."""
        links = [element for element in elements if element.role == "link" and element.rect.height >= TWO_LINES_PX]
        nodes = {link.id: drafts[link.id].node for link in links}
        unknown = [
            link
            for link in links
            if (known := self._starts.get(nodes[link.id].ref)) is None or known[0] != nodes[link.id].rect
        ]
        answers = await asyncio.gather(*(self._letter(nodes[link.id]) for link in unknown))
        for link, point in zip(unknown, answers, strict=True):
            self._starts[nodes[link.id].ref] = (nodes[link.id].rect or link.rect, point)
        self._starts = {node.ref: self._starts[node.ref] for node in nodes.values()}
        starts = {link.id: (link.rect, self._starts[nodes[link.id].ref][1]) for link in links}
        return {each: point for each, (rect, point) in starts.items() if point is not None and rect.contains(point)}

    async def _letter(self, link: Node) -> Point | None:
        leaf = link
        while leaf.children and "Text" in leaf.interfaces:
            leaf = leaf.children[0]
        if leaf is link or leaf.role != "static":
            return None
        try:
            answer = await self._bus.call(
                *leaf.ref, PREFIX + "Text", "GetCharacterExtents", "iu", [0, SCREEN_COORDINATES]
            )
        except CallRefused:
            return None
        if len(answer) != 4 or answer[2] <= 0 or answer[3] <= 0:
            return None
        letter = Rect(*answer)
        wraps = link.rect is not None and link.rect.height >= letter.height * 1.6
        return letter.center if wraps else None


def _point_outside(element: Element, covers: Sequence[Rect], boxes: Sequence[Rect]) -> Point | None:
    """Return a point of an element outside of covers and inside of boxes."""
    visible = clipped(element.rect, boxes)
    pieces = uncovered(visible, covers) if visible is not None else []
    if element.point is not None and any(piece.contains(element.point) for piece in pieces):
        return element.point
    best = largest_piece(pieces)
    return best.center if best is not None else None


def _kind(element: Element, found: Mapping[int, Point | None]) -> str:
    if element.id not in found:
        return "unknown"
    point = found[element.id]
    return "hidden" if point is None else "free" if point == element.point else "moved"


def _at(element: Element, points: Mapping[int, Point | None]) -> Element | None:
    if element.id not in points:
        return element
    point = points[element.id]
    if point is None:
        return None
    return element if point == element.point else replace(element, point=point)
