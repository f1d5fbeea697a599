from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.elements.hit_testing import HitTester
from aci.accessibility.elements.placement import place_elements
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Window
from aci.observation.tracking import IdTracker
from tests.unit.aci.accessibility.trees import SCREEN, SEEN, WHOLE, WINDOW, application, frame, node, page

GTK3, GTK4, CHROMIUM = "gtk 3.24.38", "GTK 4.8.3", "Chromium 1.0"
LAYER = Rect(50, 0, 200, 100)


class Browser:
    """Answers what lies at a point, at first by a guess, and where the first letter of a text is."""

    def __init__(self, real: Callable[[Point], Node], guess: Node | None = None, letter: Rect | None = None) -> None:
        self._real, self._guess, self._letter = real, guess, letter
        self._found: tuple[Point, Node] | None = None
        self.asked: list[Point] = []

    async def ask(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        assert member == "GetAccessibleAtPoint"
        point = Point(body[0], body[1])
        if self._found is not None and self._found[0] == point:
            return self._found[1].ref
        self.asked.append(point)
        self._found = point, self._real(point)
        return (self._guess or self._found[1]).ref

    async def call(
        self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]
    ) -> list[int]:
        assert member == "GetCharacterExtents"
        assert self._letter is not None
        return [self._letter.x, self._letter.y, self._letter.width, self._letter.height]


def seen(
    top: Node,
    browser: Browser | None = None,
    toolkit: str = GTK3,
    windows: tuple[Window, ...] = (WINDOW,),
    clock: Callable[[], float] | None = None,
) -> dict[str, Element]:
    known = application(top, toolkit=toolkit)
    drafts: list[Draft] = draft_elements(known, top, WINDOW, windows, SCREEN)
    elements, by_id, _ = place_elements([(draft, "app") for draft in drafts], windows, SCREEN, IdTracker())
    ticks = count()  # each look at the clock takes a millisecond, however busy the machine is
    layers = HitTester(browser, clock or (lambda: next(ticks) / 1000))  # type: ignore[arg-type]
    cleared = asyncio.run(layers.cleared(elements, by_id, {known.root.name: known}))
    return {element.name: element for element in cleared}


def looks(top: Node, browser: Browser) -> Iterator[dict[str, Element]]:
    """Yield what is seen of a page at one look after another."""
    known = application(top, toolkit=CHROMIUM)
    found = [(draft, "app") for draft in draft_elements(known, top, WINDOW, (WINDOW,), SCREEN)]
    tracker, layers = IdTracker(), HitTester(browser)  # type: ignore[arg-type]
    while True:
        elements, by_id, _ = place_elements(found, (WINDOW,), SCREEN, tracker)
        cleared = asyncio.run(layers.cleared(elements, by_id, {known.root.name: known}))
        yield {element.name: element for element in cleared}


def overlaid(button: Node, layer: Node) -> tuple[Node, Callable[[Point], Node]]:
    """Return a page with a layer over a button, the layer first, and what really lies at a point."""
    top = page(node("section", "", Rect(0, 0, 400, 300), layer, button))

    def real(point: Point) -> Node:
        inside = layer.rect is not None and layer.rect.contains(point)
        return layer if inside else button

    return top, real


def test_later_widget_is_drawn_over_an_earlier_one() -> None:
    lower, upper = node("push button", "Lower", Rect(0, 0, 160, 30)), node("push button", "Upper", Rect(60, 0, 120, 30))
    found = seen(frame(lower, upper))
    assert found["Lower"].point is not None
    assert found["Lower"].point.x < 60
    assert found["Upper"].point == upper.rect.center  # type: ignore[union-attr]


def test_widget_under_another_one_is_not_seen() -> None:
    lower, upper = node("push button", "Lower", Rect(70, 5, 60, 20)), node("push button", "Upper", Rect(60, 0, 120, 30))
    assert set(seen(frame(lower, upper))) == {"Upper"}


def test_open_menu_of_swing_covers_what_lies_below_it_but_not_its_own_submenu() -> None:
    inner = node("menu", "Recent", Rect(20, 60, 100, 20), node("menu item", "a.txt", Rect(30, 80, 100, 20)))
    menu = node("menu", "File", Rect(20, 0, 40, 20), node("menu item", "Open", Rect(20, 40, 100, 20)), inner)
    wide, covered = node("label", "Wide", Rect(20, 40, 300, 20)), node("label", "Covered", Rect(22, 62, 90, 16))
    bar = node("menu bar", "", Rect(0, 0, 400, 20), menu)
    found = seen(frame(bar, wide, covered), toolkit="J2SE-access-bridge 1.0")
    assert set(found) == {"File", "Open", "Recent", "a.txt", "Wide"}
    assert found["Wide"].point is not None and found["Wide"].point.x > 120


def test_content_that_fills_a_window_is_not_a_layer() -> None:
    button = node("push button", "Drawn", Rect(20, 60, 60, 20))
    menu = node("menu", "File", Rect(0, 19, 40, 25))
    below_title, below_menu = (Rect(WHOLE.x, WHOLE.y + y, WHOLE.width, WHOLE.height - y) for y in (19, 44))
    found = seen(frame(node("root pane", "", below_menu, button), node("panel", "", below_title, menu)))
    assert set(found) == {"Drawn", "File"}


def test_layer_of_a_page_moves_the_point_to_the_uncovered_part() -> None:
    button = node("push button", "Under", Rect(0, 20, 120, 50))
    top, real = overlaid(button, node("section", "", LAYER))
    found = seen(top, Browser(real, guess=button), CHROMIUM)
    assert found["Under"].point is not None
    assert found["Under"].point.x < LAYER.x


def test_elements_below_a_layer_of_a_page_are_left_out() -> None:
    top, real = overlaid(node("push button", "Under", Rect(60, 20, 100, 50)), node("section", "", LAYER))
    assert "Under" not in seen(top, Browser(real), CHROMIUM)


def test_box_drawn_over_a_real_check_box_takes_its_clicks_for_it() -> None:
    box, shape = node("check box", "Agree", Rect(10, 10, 20, 20)), node("section", "", Rect(10, 10, 20, 20))
    top = page(node("section", "", Rect(0, 0, 400, 300), node("section", "", Rect(10, 10, 200, 22), box, shape)))
    assert seen(top, Browser(lambda _: shape), CHROMIUM)["Agree"].point == Point(20, 20)


def test_objects_that_do_not_overlap_are_not_asked_for() -> None:
    buttons = [node("push button", f"B{x}", Rect(x, 10, 40, 20)) for x in (0, 50, 100)]
    browser = Browser(lambda _: buttons[0])
    assert len(seen(page(*buttons), browser, CHROMIUM)) == 3
    assert browser.asked == []


def test_open_list_of_a_page_lies_over_everything() -> None:
    popup = Window(2, "", "app", Rect(0, 0, 200, 100), popup=True, pid=7)
    option = node("list item", "Red", Rect(10, 10, 100, 20))
    below = node("section", "", Rect(0, 0, 300, 200))
    top = page(node("combo box", "Color", Rect(0, 150, 90, 20), node("list box", "", popup.rect, option)), below)
    browser = Browser(lambda _: below)
    assert "Red" in seen(top, browser, CHROMIUM, (popup, WINDOW))


def test_elements_under_one_backdrop_are_judged_by_a_sample() -> None:
    backdrop = node("section", "", Rect(0, 0, 500, 400))
    buttons = [node("push button", f"B{x}", Rect(x, 10, 8, 8)) for x in range(0, 400, 10)]
    browser = Browser(lambda _: backdrop)
    top = page(backdrop, node("section", "", Rect(0, 0, 500, 400), *buttons))
    assert not any(name.startswith("B") for name in seen(top, browser, CHROMIUM))
    assert len(browser.asked) < 10


def test_link_that_wraps_is_clicked_on_its_first_letter() -> None:
    words = node("static", "a long link", Rect(10, 10, 200, 40), interfaces=frozenset({"Component", "Text"}))
    link = node("link", "a long link", Rect(10, 10, 200, 40), words, interfaces=frozenset({"Component", "Text"}))
    top = page(node("paragraph", "", Rect(0, 0, 300, 60), link))
    browser = Browser(lambda _: words, letter=Rect(180, 10, 8, 17))
    assert seen(top, browser, CHROMIUM)["a long link"].point == Point(184, 18)


def test_partly_scrolled_out_element_is_clicked_in_its_visible_part() -> None:
    box = node("section", "", Rect(0, 0, 200, 100))
    button = node("push button", "Cut", Rect(0, 90, 100, 60))
    box.children = [button]
    around = node("section", "", Rect(0, 0, 500, 400), box)
    browser = Browser(lambda point: button if point.y < 100 else around)
    point = seen(page(around), browser, CHROMIUM)["Cut"].point
    assert point is not None
    assert point.y < 100


class Slow(Browser):
    """Takes a while for each answer, on a clock of its own."""

    def __init__(self, real: Callable[[Point], Node], takes_s: float, **more: Any) -> None:
        super().__init__(real, **more)
        self.now, self.count, self._takes_s = 0.0, 0, takes_s

    async def ask(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        self.now += self._takes_s
        self.count += 1
        return await super().ask(name, path, interface, member, sign, body)


def under_cover() -> tuple[Node, Callable[[Point], Node]]:
    """Return a page with a layer over a button that is asked for first, and over one about which more must be asked."""
    cover = node("section", "", Rect(0, 0, 60, 300))
    first = node("push button", "First", Rect(0, 10, 100, 20))
    second = node("push button", "Second", Rect(0, 60, 100, 40))
    hull = node("section", "", Rect(40, 70, 30, 20))
    top = page(node("section", "", WHOLE, first, second), hull, cover)
    return top, lambda point: cover if point.x < 60 else first if point.y < 50 else second


def test_known_cover_is_assumed_when_time_is_up() -> None:
    top, real = under_cover()
    browser = Slow(real, takes_s=1.0)
    point = seen(top, browser, CHROMIUM, clock=lambda: browser.now)["Second"].point
    assert point is not None
    assert point.x >= 60
    assert all(asked.y < 50 for asked in browser.asked), "there was no time"


def test_known_clip_is_assumed_when_time_is_up() -> None:
    first = node("push button", "First", Rect(0, 95, 100, 80))
    other = node("link", "Second", Rect(120, 95, 100, 80))
    hull = node("section", "", Rect(150, 120, 50, 50))
    box = node("section", "", Rect(0, 0, 300, 110), first, other)
    around = node("section", "", WHOLE, box, hull)
    browser = Slow(lambda point: first if point.y < 110 else around, takes_s=1.0)
    point = seen(page(around), browser, CHROMIUM, clock=lambda: browser.now)["Second"].point
    assert point is not None
    assert point.y < 110
    assert all(asked.x < 120 for asked in browser.asked), "there was no time"


class Settling(Slow):
    """Guesses wrong at the first three points, so that its answers differ from its guesses, and then right."""

    async def ask(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        if len(self.asked) == 3 and Point(body[0], body[1]) != self.asked[-1]:
            self._guess = None
        return await super().ask(name, path, interface, member, sign, body)


def test_wait_for_answers_adapts_to_their_measured_time() -> None:
    cover = node("section", "", Rect(0, 0, 500, 400))
    buttons = [node("push button", f"B{y}", Rect(0, y, 40, 20)) for y in range(0, 300, 30)]
    top = page(node("section", "", WHOLE, *buttons), cover)
    alike = Slow(lambda _: cover, takes_s=0.001)
    settling = Settling(lambda _: cover, takes_s=0.001, guess=buttons[0])
    for browser in (alike, settling):
        assert "B0" not in seen(top, browser, CHROMIUM, clock=lambda browser=browser: browser.now)  # type: ignore[misc]
    assert len(alike.asked) == len(settling.asked) > 3
    for_one = alike.count / len(alike.asked)
    late = (settling.count - 3 * 2) / (len(settling.asked) - 3)
    assert late < 0.6 * for_one


def test_edge_of_an_item_in_its_list_is_clicked_or_left_out_unasked() -> None:
    items = [node("list item", f"item {n}", Rect(0, 20 * n + 82, 100, 20)) for n in range(6)]
    hidden = node("list item", "sliver", Rect(0, 198, 100, 20))
    listed = node("list", "", Rect(0, 100, 100, 100), *items, hidden)
    browser = Browser(lambda _: listed)
    found = seen(page(node("section", "", WHOLE, listed)), browser, CHROMIUM)
    assert browser.asked == []
    assert "item 0" not in found, "two pixels are none to be hit"
    assert "sliver" not in found
    assert found["item 1"].point == Point(50, 112)


def test_part_of_an_item_that_its_list_shows_is_clicked_unasked() -> None:
    tall = node("list item", "tall", Rect(0, 94, 100, 60))
    listed = node("list", "", Rect(0, 0, 100, 100), node("list item", "whole", Rect(0, 0, 100, 90)), tall)
    browser = Browser(lambda _: listed)
    found = seen(page(node("section", "", WHOLE, listed)), browser, CHROMIUM)
    assert browser.asked == []
    assert found["tall"].point == Point(50, 97)


def test_gtk_layer_covers_earlier_siblings() -> None:
    words = node("label", "Saved", Rect(110, 5, 80, 20))
    buttons = [node("push button", f"B{x}", Rect(x, 0, 90, 40)) for x in (0, 60, 120)]
    for over in (node("panel", "", Rect(100, 0, 110, 50), words), node("panel", "", WHOLE, words)):
        bar = node("panel", "", Rect(0, 0, 400, 40), *buttons)
        found = seen(frame(node("layered pane", "", WHOLE, bar, over)))
        assert "B120" not in found or over.rect == WHOLE
        assert found["B0"].point == Point(45, 20)
        assert found["B60"].point is not None
        assert found["B60"].point.x < 110


def test_widgets_side_by_side_are_not_layers() -> None:
    left = node("panel", "", Rect(0, 0, 100, 100), node("push button", "Left", Rect(0, 0, 100, 100)))
    right = node("panel", "", Rect(97, 0, 100, 100), node("label", "Right", Rect(97, 0, 100, 100)))
    assert seen(frame(left, right))["Left"].point == Point(50, 50)


def stack(top: str) -> tuple[Node, Callable[[Point], Node]]:
    """Return a stack whose two pages lie at the same place, and what lies at a point while one of them is on top."""
    place = Rect(0, 40, 400, 200)
    buttons = {name: node("push button", name, Rect(x, 60, 90, 30)) for name, x in (("Lap", 20), ("Alarm", 60))}
    words = {name: node("label", f"words of {name}", Rect(20, 110, 90, 30)) for name in buttons}
    pages = {name: node("panel", "", place, buttons[name], words[name]) for name in buttons}
    # a page that was never on top has no extents
    never = node("panel", "", Rect(0, 0, 0, 0))

    def real(point: Point) -> Node:
        inside = buttons[top].rect
        return buttons[top] if inside is not None and inside.contains(point) else pages[top]

    listed = node("panel", "", place, *pages.values(), never)
    return frame(listed), real


def test_page_of_a_gtk4_stack_is_seen_only_if_it_is_on_top() -> None:
    for name in ("Lap", "Alarm"):
        top, real = stack(name)
        found = seen(top, Browser(real), GTK4)
        assert set(found) == {name, f"words of {name}"}
        assert found[name].point == Point(65 if name == "Lap" else 105, 75)


def test_page_of_a_gtk4_stack_is_not_seen_where_a_dialog_covers_all_of_the_one_on_top() -> None:
    place = Rect(0, 40, 400, 200)
    lap, alarm = node("push button", "Lap", Rect(20, 60, 90, 30)), node("push button", "Add", Rect(300, 60, 90, 30))
    below, on_top = node("panel", "", place, lap), node("panel", "", place, alarm)
    dialog = Window(id=7, title="New Alarm", app="app", rect=Rect(280, 50, 120, 60), active=True)
    top = frame(node("panel", "", place, below, on_top))
    assert set(seen(top, Browser(lambda _: on_top), GTK4, (dialog, WINDOW))) == set()
    assert set(seen(top, Browser(lambda _: on_top), GTK4)) == {"Add"}


def test_page_of_a_gtk4_stack_is_seen_where_what_lies_there_is_not_known() -> None:
    top, _ = stack("Lap")
    assert {"Lap", "Alarm"} <= set(seen(top, Browser(lambda _: top), GTK4))


def test_page_in_which_nothing_changed_is_not_asked_again_once_all_is_known() -> None:
    button, layer = node("push button", "Below", Rect(0, 0, 200, 40)), node("section", "", LAYER)
    top, real = overlaid(button, layer)
    browser, points, asked = Browser(real), [], []
    for shown in islice(looks(top, browser), 4):
        points.append(shown["Below"].point)
        asked.append(len(browser.asked))
    assert points == [Point(25, 20)] * 4
    assert 0 < asked[0] < asked[1] == asked[2] == asked[3]


class Loading(Browser):
    """Tells nothing at first, as a page does that was not laid out yet."""

    silent = True

    async def ask(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        found = await super().ask(name, path, interface, member, sign, body)
        return None if self.silent else found


def test_element_of_which_chromium_told_nothing_is_asked_for_again() -> None:
    button, layer = node("push button", "Below", Rect(60, 0, 40, 20)), node("section", "", LAYER)
    top, real = overlaid(button, layer)
    browser = Loading(real)
    look = looks(top, browser)
    assert "Below" in next(look)
    browser.silent = False
    assert "Below" not in next(look)


def test_widget_without_an_element_that_comes_to_lie_over_the_same_elements_covers_them() -> None:
    button = node("push button", "Below", Rect(0, 0, 200, 40))
    top = frame(node("panel", "", WHOLE, button))
    known = application(top)
    found = [(draft, "app") for draft in draft_elements(known, top, WINDOW, (WINDOW,), SCREEN)]
    tracker, layers = IdTracker(), HitTester(Browser(lambda _: button))  # type: ignore[arg-type]

    def point(changed: set[int]) -> Point | None:
        elements, by_id, _ = place_elements(found, (WINDOW,), SCREEN, tracker)
        cleared = asyncio.run(layers.cleared(elements, by_id, {known.root.name: known}, changed))
        return next((element.point for element in cleared if element.name == "Below"), None)

    free = point({WINDOW.id})
    cover = node("panel", "", Rect(50, 0, 150, 40), node("filler", "", Rect(50, 0, 150, 40)))
    top.children.append(cover)
    assert point(set()) == free
    assert point({WINDOW.id}) != free


class Mute(Browser):
    """Finds nothing on the text of an object, so that its guess stays."""

    def __init__(self, real: Callable[[Point], Node], guess: Node, text: Rect) -> None:
        super().__init__(lambda point: guess if text.contains(point) else real(point), guess)


def test_entry_whose_text_chromium_does_not_find_is_judged_by_its_side() -> None:
    entry, layer = node("menu item", "Anna", Rect(100, 0, 80, 20)), node("section", "", Rect(90, 0, 200, 100))
    listed = node("menu", "", Rect(100, 0, 80, 40), entry)
    top = page(node("menu", "", Rect(0, 0, 90, 40), listed), layer)
    text = Rect(100, 0, 60, 20)

    def point(real: Callable[[Point], Node], guess: Node) -> Point | None:
        found = seen(top, Mute(real, guess, text), CHROMIUM).get("Anna")
        return found.point if found is not None else None

    assert point(lambda _: entry, layer) == Point(140, 10)
    assert point(lambda _: entry, top) == Point(140, 10)
    assert point(lambda _: layer, layer) is None


def test_paragraph_is_clicked_beside_a_frame_that_covers_it() -> None:
    editable = SEEN | StateBit.EDITABLE.value | StateBit.FOCUSABLE.value
    words = node("paragraph", "Long", Rect(0, 0, 400, 100), states=editable)
    inside = node("paragraph", "Inside", Rect(160, 20, 80, 20), states=editable)
    box = node("panel", "Frame1", Rect(150, 10, 100, 80), inside, states=editable | StateBit.SELECTABLE.value)
    found = seen(frame(node("document text", "Letter", Rect(0, 0, 500, 400), words, box)))
    assert found["Long"].point == Point(72, 50)
    assert found["Inside"].point == Point(200, 30)
