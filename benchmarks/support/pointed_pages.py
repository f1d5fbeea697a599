"""Pages of MiniWoB++ that need points, places, paths or spans, done by a model that knows the answers.

The model reads geometry from the page's own DOM, which a real one would read from the picture, and points at it with
primitives through the agent's loop. The page gives the reward.
"""

from __future__ import annotations

import colorsys
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from aci.acting.actions import (
    Action,
    Click,
    Done,
    DragAndDrop,
    HoldAndPress,
    Move,
    SelectText,
    Wait,
)
from aci.desktop.virtual import VirtualDesktop
from agent_s import AgentS, Limits, Task
from agent_s.errors import ModelError
from agent_s.events import ActionPerformed
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.options import Options
from benchmarks.support.figures import NotMeasured, tell
from benchmarks.support.known_page import Page, Spot
from benchmarks.support.reports import wait_until
from evaluation.errors import EvaluationError
from evaluation.miniwob.arena import Arena
from evaluation.miniwob.pages import find_pages
from evaluation.state.server import FormServer

SIZE = (1280, 800)
NEAR = 0.95
"""Least reward that counts on pages that grade the distance from a place between pixels."""
_RUN_LIMIT_S = 150.0
Solution = Callable[[Page], Iterator[Action]]
SKIPPED_SEEDS: Mapping[str, int] = {"click-pie": 1, "click-pie-nodelay": 1}
"""Number of seeds that are left out at first: with seed 1, no pointer can press the piece that the pies ask for.

It is the piece that is selected from the start, whose parts the page takes out of the document and puts back at each
`mouseover`. In Chromium each press begins with one, so that the press goes to the drawing behind them.
"""


def _bold(page: Page) -> list[str]:
    return [text.strip() for text in page.ask("anyOf('#query .bold').map(one => one.textContent)")]


def _query(page: Page) -> str:
    return str(page.ask("document.getElementById('query').textContent"))


def _submit(page: Page) -> Click:
    return page.click("#area button")


def _best(page: Page, error: Callable[[Spot], float], shift: float = 0.0) -> Spot:
    """Return the pixel with the least error, which gets where the page draws its mark, moved by `shift`.

    These pages take the position in the page, without the 50 px above the drawing, for that in the drawing.
    """
    _, _, width, height = page.box("#area svg")
    spots = itertools.product(range(6, int(width) - 8), range(6, int(height) - 8))
    x, y = min(spots, key=lambda spot: error((spot[0] + shift, spot[1] + shift)))
    return x, y + 50


def _circles(page: Page, selector: str) -> list[Spot]:
    return [(x, y) for x, y in page.ask(f"anyOf({selector!r}).map(o => [o.cx.baseVal.value, o.cy.baseVal.value])")]


def _angle(one: Spot, corner: Spot, other: Spot) -> float:
    turn = math.atan2(one[1] - corner[1], one[0] - corner[0]) - math.atan2(other[1] - corner[1], other[0] - corner[0])
    return abs((turn + math.pi) % (2 * math.pi) - math.pi)


def bisect_angle(page: Page) -> Iterator[Action]:
    """Click on the line between the sides."""
    [corner], [one, other] = _circles(page, ".init-blue"), _circles(page, ".init-black")
    half = _angle(one, corner, other) / 2
    yield page.click_at(_best(page, lambda spot: max(abs(_angle(spot, corner, side) - half) for side in (one, other))))
    yield _submit(page)


def right_angle(page: Page) -> Iterator[Action]:
    """Click where the sides are perpendicular, not too near to the corner."""
    [corner], [one] = _circles(page, "#init-blue"), _circles(page, "#init-black")
    yield page.click_at(
        _best(page, lambda spot: abs(_angle(spot, corner, one) - math.pi / 2) + (math.dist(spot, corner) < 12), 0.5)
    )
    yield _submit(page)


def find_midpoint(page: Page) -> Iterator[Action]:
    """Click between two points."""
    (one, other) = _circles(page, ".black-circle")
    middle = (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
    yield page.click_at(_best(page, lambda spot: math.dist(spot, middle)))
    yield _submit(page)


def circle_center(page: Page) -> Iterator[Action]:
    """Click the center of a circle."""
    [center] = _circles(page, ".black-circle")
    yield page.click_at(_best(page, lambda spot: math.dist(spot, center), -0.5))
    yield _submit(page)


def click_color(page: Page) -> Iterator[Action]:
    """Click the box of a color."""
    colors = page.ask("anyOf('#area .color').map(one => one.dataset.color)")
    wanted = str(page.ask("core.getUtterance()")).split()[3]
    yield page.click("#area .color", colors.index(wanted))


def click_shades(page: Page) -> Iterator[Action]:
    """Click all boxes of a color."""
    wanted = _query(page).partition("shades of ")[2].split()[0]
    for number, color in enumerate(page.ask("anyOf('#area span').map(one => one.dataset.color)")):
        if color == wanted:
            yield page.click("#area span", number)
    yield _submit(page)


def click_pie(page: Page) -> Iterator[Action]:
    """Open the pie menu, and click its piece."""
    yield page.click("#wheelnav-divWheel-spreader")
    yield Wait(time=1.0)
    find = f"anyOf('#divWheel text').findIndex(one => one.textContent === {_bold(page)[0]!r})"
    yield page.click("#divWheel text", page.ask(find))


def grid_coordinate(page: Page) -> Iterator[Action]:
    """Click a point of the grid."""
    yield page.click("circle", page.ask(f"anyOf('circle').findIndex(one => one.id === {_bold(page)[0]!r})"))


def drag_box(page: Page) -> Iterator[Action]:
    """Drag a box into another."""
    from_, to = page.ask("freeSpot(anyOf('#draggableSmall')[0])"), page.middle("#draggableLarge")
    small = page.middle("#draggableSmall")
    yield page.drag([from_, (to[0] + from_[0] - small[0], to[1] + from_[1] - small[1])])
    yield _submit(page)


def drag_shape(page: Page) -> Iterator[Action]:
    """Drag a shape in a direction."""
    words = _query(page).split()
    x, y = next(way for name, way in _WAYS.items() if name in words)
    shape = page.middle("#area svg > *")
    yield page.drag([shape, (shape[0] + 14 * x, shape[1] + 14 * y), (shape[0] + 40 * x, shape[1] + 40 * y)])
    yield _submit(page)


_WAYS: Mapping[str, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_TAGS = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}


def drag_shapes(page: Page) -> Iterator[Action]:
    """Drag the shapes of a kind into a box."""
    kind = next(tag for name, tag in _TAGS.items() if name in _query(page))
    left, top, _, height = page.box("#shape-container")
    selector = f"{kind}:not(#shape-container)"
    for number in range(page.ask(f"anyOf({selector!r}).length")):
        shape = page.ask(f"freeSpot(anyOf({selector!r})[{number}])")
        yield page.drag([shape, (left + 16 + 16 * number, top + height / 2)])
    yield _submit(page)


def drag_shapes_2(page: Page) -> Iterator[Action]:
    """Drag the shapes of a kind or color into the left box, and the others into the right one."""
    wanted = _query(page).split()[2]
    kind, boxes = _TAGS.get(wanted, ""), [page.box("#shape-container", number) for number in (0, 1)]
    selector = "#area svg > :not(#shape-container)"
    taken = [0, 0]
    for number, (tag, color) in enumerate(
        page.ask(f"anyOf({selector!r}).map(o => [o.tagName, o.getAttribute('fill')])")
    ):
        side = 0 if (tag == kind if kind else color == wanted) else 1
        left, top, *_ = boxes[side]
        row, column = divmod(taken[side], 3)
        taken[side] += 1
        shape = page.ask(f"freeSpot(anyOf({selector!r})[{number}])")
        yield page.drag([shape, (left + 17 + 18 * column, top + 17 + 16 * row)])
    yield _submit(page)


def _sorting(page: Page, item: int, place: int) -> DragAndDrop:
    """Return the drag of an item of a sortable list to a place, a little beyond the middle of what is there."""
    start, end = page.middle("#sortable li", item), page.middle("#sortable li", place)
    x, y = (0.0 if there == here else math.copysign(4, there - here) for here, there in zip(start, end, strict=True))
    half = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    return page.drag([start, half, end, (end[0] + x, end[1] + y)])


_PLACES = ("top left", "top center", "top right", "center left", "center.", "center right",
           "bottom left", "bottom center", "bottom right")  # fmt: skip


def drag_items(page: Page) -> Iterator[Action]:
    """Drag an item of a list or grid to a place."""
    query = _query(page)
    names = page.ask("anyOf('#sortable li').map(one => one.textContent.trim())")
    item = names.index(query.split()[1])
    rows = 3 if len(names) == 9 else 1
    moves = {"up by one": -rows, "down by one": rows, "left by one": -1, "right by one": 1}
    steps = next((step for words, step in moves.items() if words in query), None)
    if steps is not None:
        place = item + steps
    elif len(names) == 9:
        place = next(number for number, words in enumerate(_PLACES) if f"to the {words}" in query)
    else:
        ends = {"to the top": 0, "to the bottom": len(names) - 1, **{f"to the {n + 1}": n for n in range(len(names))}}
        place = next(number for words, number in ends.items() if words in query)
    yield _sorting(page, item, place)


def drag_sort_numbers(page: Page) -> Iterator[Action]:
    """Sort numbers by dragging each to its place."""
    for place in range(4):
        numbers = [int(text) for text in page.ask("anyOf('#sortable li').map(one => one.textContent.trim())")]
        item = numbers.index(sorted(numbers)[place])
        if item != place:
            yield _sorting(page, item, place)
    yield _submit(page)


def drag_cube(page: Page) -> Iterator[Action]:
    """Turn a cube until a side is in front."""
    front = "document.getElementsByClassName('active')[0].innerHTML"
    turns = itertools.cycle([(30, 0), (30, 0), (30, 0), (0, 30)])
    while page.ask(front) != _bold(page)[0]:
        (x, y), (across, down) = page.middle("#area .viewport"), next(turns)
        yield page.drag([(x - across / 2, y - down / 2), (x, y), (x + across / 2, y + down / 2)])
    yield _submit(page)


def draw_circle(page: Page) -> Iterator[Action]:
    """Draw a circle around a point."""
    x, y = page.middle("#circ")
    angles = [2 * math.pi * number / 24 for number in range(25)]
    yield page.drag([(x + 24 * math.cos(angle), y + 24 * math.sin(angle)) for angle in angles])
    yield _submit(page)


def draw_line(page: Page) -> Iterator[Action]:
    """Draw a line through a point."""
    x, y = page.middle("#circ")
    across, down = (26, 0) if "horizontal" in _query(page) else (0, 26)
    yield page.drag([(x - across, y - down), (x + across, y + down)])
    yield _submit(page)


def hot_cold(page: Page) -> Iterator[Action]:
    """Point at the hot place, which the page drew first from its seed, until it says so, and click it."""
    left, top = page.box("#touch-area")[:2]
    x, y = page.ask(f"Math.seedrandom('{page.seed}'); [core.randi(5, 155), core.randi(5, 120)]")
    yield Move(at=page.at((x, y + 50)))
    assert left >= 0
    assert top >= 0
    yield page.click_at((x, y + 50))


def highlight(page: Page) -> Iterator[Action]:
    """Select a paragraph."""
    texts = page.ask("(p => p.length ? p : anyOf('#randomText'))(anyOf('#randomText p')).map(one => one.textContent)")
    which = next((number for number, name in enumerate(("1st", "2nd", "3rd")) if name in _query(page)), 0)
    words = texts[which].split()
    yield SelectText(element_id=page.words(" ".join(words)).id, text=" ".join(words))
    yield _submit(page)


def text_editor(page: Page) -> Iterator[Action]:
    """Select a text in an editor, and give it a style or color."""
    query, (*names, style) = _query(page), _bold(page)
    text = " ".join(str(page.ask("anyOf('.ql-editor')[0].textContent")).split())
    wanted = text if "everything" in query else names[0]
    yield SelectText(element_id=page.words(text).id, text=wanted)
    if "color" in query:
        yield page.click(".ql-color .ql-picker-label")
        values = page.ask(f"COLOR_MAP[{style!r}]")
        find = f"anyOf('.ql-color .ql-picker-item').findIndex(one => {values}.includes(one.dataset.value))"
        yield page.click(".ql-color .ql-picker-item", page.ask(find))
    else:
        yield page.click(f".ql-{ {'bold': 'bold', 'italics': 'italic', 'underlined': 'underline'}[style] }")
    yield page.click("#subbtn")


def resize_textarea(page: Page) -> Iterator[Action]:
    """Drag the corner of a field."""
    by = 20 if "larger" in _query(page) else -20
    x, y = page.middle(".ui-resizable-se")
    yield page.drag([(x, y), (x + by / 2, y + by / 2), (x + by, y + by)])
    yield _submit(page)


def use_sliders(page: Page) -> Iterator[Action]:
    """Click the places of values on their sliders, and correct by keys where a pixel is more than a step."""
    query = _query(page)
    wanted = page.ask(query[query.index("[") : query.index("]") + 1]) if "[" in query else [int(query.split()[1])]
    for number, value in enumerate(wanted):
        least, most, upright = page.ask(
            f"(s => [s.slider('option', 'min'), s.slider('option', 'max'), s.slider('option', 'orientation')])"
            f"($(anyOf('.ui-slider')[{number}]))"
        )
        left, top, width, height = page.box(".ui-slider", number)
        part = (value - least) / (most - least)
        vertical = upright == "vertical"
        # the slider has borders, in which nothing is pressed
        across = (left + width / 2, top + height - 1 - part * (height - 2)) if vertical else (
            left + 1 + part * (width - 2), top + height / 2)  # fmt: skip
        yield page.click_at(across)
        now = page.ask(f"$(anyOf('.ui-slider')[{number}]).slider('value')")
        if now != value:
            yield HoldAndPress(hold_keys=(), press_keys=("Right" if value > now else "Left",) * abs(value - now))
    yield _submit(page)


def use_color_wheel(page: Page) -> Iterator[Action]:
    """Open the color picker, and click hue and saturation on its pad and brightness on its slider."""
    wheel = page.ask("!!anyOf('#query .cc').length")
    color = (
        page.ask("getComputedStyle(anyOf('#query .cc')[0]).backgroundColor.match(/\\d+/g).map(Number)")
        if wheel
        else page.ask(
            f"(c => [c.r, c.g, c.b])(ui_utils.hexToRgb(ui_utils.colorNameToHex({_query(page).split()[1]!r})))"
        )
    )
    hue, saturation, brightness = colorsys.rgb_to_hsv(*(part / 255 for part in color))
    yield page.click("#col")
    inset, width, height = page.ask("(o => [o.padding + o.insetWidth, o.width, o.height])(anyOf('#col')[0].jscolor)")
    for part, x, y in (("pad", hue * (width - 1), 1 - saturation), ("sld", 8, 1 - brightness)):
        left, top, *_ = page.ask(f"aBox(anyOf('body div').find(one => one._jscControlName === {part!r}))")
        yield page.click_at((left + x + (inset if part == "pad" else 0), top + inset + y * (height - 1)))
    yield Click(at=page.at(page.middle("#query")))
    yield page.click("#subbtn")


GRADED = ("bisect-angle", "circle-center", "find-midpoint", "right-angle", "use-colorwheel", "use-colorwheel-2")
SOLUTIONS: Mapping[str, Solution] = {
    "bisect-angle": bisect_angle, "circle-center": circle_center, "click-color": click_color, "click-pie": click_pie,
    "click-pie-nodelay": click_pie, "click-shades": click_shades, "drag-box": drag_box, "drag-circle": drag_shape,
    "drag-cube": drag_cube, "drag-items": drag_items, "drag-items-grid": drag_items, "drag-shapes": drag_shapes,
    "drag-shapes-2": drag_shapes_2, "drag-single-shape": drag_shape, "drag-sort-numbers": drag_sort_numbers,
    "draw-circle": draw_circle, "draw-line": draw_line, "find-midpoint": find_midpoint,
    "grid-coordinate": grid_coordinate, "highlight-text": highlight, "highlight-text-2": highlight,
    "hot-cold": hot_cold, "resize-textarea": resize_textarea, "right-angle": right_angle, "text-editor": text_editor,
    "use-colorwheel": use_color_wheel, "use-colorwheel-2": use_color_wheel, "use-slider": use_sliders,
    "use-slider-2": use_sliders,
}  # fmt: skip


def measure_pages(seeds: Sequence[int], names: Sequence[str] = tuple(SOLUTIONS)) -> dict[str, list[bool]]:
    """Return which pages were solved, one outcome for each seed."""
    outcomes: dict[str, list[bool]] = {name: [] for name in names}
    try:
        folder = find_pages().folder
    except EvaluationError as error:
        raise NotMeasured(str(error)) from error
    with FormServer(folder, {}) as server, VirtualDesktop(SIZE, ocr=None) as desktop:
        arena = Arena(desktop, server.address)
        try:
            for name, number in itertools.product(names, seeds):
                seed = number + SKIPPED_SEEDS.get(name, 0)
                try:
                    reward, reason = _solved(desktop, arena, name, seed)
                except (EvaluationError, ModelError, LookupError, ValueError) as error:
                    reward, reason = -1.0, f"{type(error).__name__}: {error}"
                outcomes[name].append(reward >= (NEAR if name in GRADED else 1.0))
                tell(f"  {name}, seed {seed}: {reward:g}{'' if outcomes[name][-1] else f' ({reason})'}")
        finally:
            arena.close()
    return outcomes


def _solved(desktop: VirtualDesktop, arena: Arena, name: str, seed: int) -> tuple[float, str]:
    """Return the reward of a page, and its reason or the last refusal."""
    desktop.release_all()
    instruction = arena.begin(name, seed)
    page = Page(arena, seed)
    steps = SOLUTIONS[name](page)
    again: list[Action] = []

    def answer(request: ModelRequest) -> ActResponse:
        assert isinstance(request.context, ActContext)
        page.seen = request.context.observation
        if again:  # what was refused is said again once, as a model does that sees the screen anew
            return ActResponse(action=again.pop())
        return ActResponse(action=next(steps, Done()))

    model = ScriptedModel({"act": itertools.repeat(answer)})
    limits = Limits(max_seconds=_RUN_LIMIT_S, max_replans=0)
    options = Options(planner="flat", evaluator=False, reflect=False, learn=False, limits=limits)
    agent = AgentS(model=model, desktop=desktop, options=options)
    refusal = ""
    for event in agent.stream(Task(instruction=instruction)):
        if isinstance(event, ActionPerformed):
            if event.result.error and event.result.error != refusal:
                again.append(event.action)
            refusal = event.result.error or refusal
            if arena.state().over:
                agent.stop()
    wait_until(lambda: arena.state().over, 2.0)
    state = arena.state()
    return state.reward, refusal or state.reason
