from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from aci.accessibility.atspi import CACHE_PATH, Ref, StateBit
from aci.accessibility.reader import (
    EMPTY_READINGS,
    SHORTEST_LIMIT_S,
    WHOLE_AGAIN_S,
    Reader,
    Scene,
    TimeLimits,
)
from aci.accessibility.tree.capture import MOST_MANAGED
from aci.accessibility.tree.nodes import JAVA
from aci.accessibility.tree.refresh_scope import LAG_S
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.peers import NAME, PID, MemoryBus, Thing
from tests.unit.aci.accessibility.trees import SEEN

SCREEN = Rect(0, 0, 1000, 800)
WINDOW = Window(1, "App", "app", Rect(0, 0, 500, 400), active=True, pid=PID)


class World:
    """A page with a list of three buttons and a hidden one, and a reader that has seen it."""

    def __init__(
        self,
        role: str = "document web",
        name: str = "app",
        toolkit: str = "test",
        around: str = "panel",
        popover: Thing | None = None,
    ) -> None:
        self.buttons = [Thing(f"/b{n}", "push button", f"B{n}", Rect(10, 10 + 40 * n, 80, 20)) for n in range(3)]
        self.hidden = Thing("/h", "push button", "H", Rect(10, 150, 80, 20), states=0)
        self.panel = Thing("/panel", "panel", "", Rect(0, 0, 200, 300), [*self.buttons, self.hidden])
        self.aside = Thing("/aside", "push button", "Aside", Rect(300, 300, 80, 20))
        self.page = Thing("/page", role, "Page", Rect(0, 0, 500, 400), [self.panel, self.aside])
        self.around = Thing("/around", around, "", Rect(0, 0, 500, 400), [self.page])
        shown = [self.around] if popover is None else [self.around, popover]
        self.frame = Thing("/frame", "frame", "App", Rect(0, 0, 500, 400), shown)
        self.bus = MemoryBus(self.frame, cache=popover is not None)
        self.bus.root.name, self.bus.root.toolkit = name, toolkit
        self.now = 0.0
        self.limits = TimeLimits(8.0)
        self.reader = Reader(self.bus, self.limits, clock=lambda: self.now)
        self.loop = asyncio.new_event_loop()
        self.look(None)
        self.look()  # a page is asked once more after a while
        self.at_start = set(self.bus.asked)
        self.bus.asked.clear()

    def look(self, areas: Sequence[Rect] | None = (), windows: Sequence[Window] = (WINDOW,)) -> dict[str, Rect | None]:
        self.now += 2 * LAG_S
        scene: Scene = self.loop.run_until_complete(self.reader.read(windows, SCREEN, areas))
        assert scene.notes == ()
        self.drafts = [draft for draft, _ in scene.drafts]
        return {draft.name: draft.node.rect for draft, _ in scene.drafts if draft.role == "push button"}

    def truth(self) -> dict[str, Rect | None]:
        found = self.loop.run_until_complete(Reader(self.bus).read([WINDOW], SCREEN))
        return {draft.name: draft.node.rect for draft, _ in found.drafts if draft.role == "push button"}

    def event(self, member: str, thing: Thing) -> None:
        self.bus.signals.note(NAME, thing.path, member)

    def rest(self) -> None:
        self.loop.run_until_complete(self.reader.read_again())


@pytest.fixture
def world() -> World:
    return World()


def test_unchanged_application_is_only_asked_for_its_windows(world: World) -> None:
    assert set(world.look()) == {"B0", "B1", "B2", "Aside"}
    assert set(world.bus.asked) == {"/root"}


@pytest.mark.parametrize(("toolkit", "seen"), [("Qt 5.15", True), ("gtk 3.24", False)])
def test_menu_that_no_window_lists_is_found_by_its_event(toolkit: str, seen: bool) -> None:
    world = World(role="text", toolkit=toolkit)
    place = Rect(50, 60, 100, 80)
    menu = Thing("/menu", "popup menu", "", place, [Thing("/cut", "menu item", "Cut\tCtrl+X", Rect(50, 60, 100, 20))])
    menu.parent = tuple(world.bus.root.ref)
    world.bus.unlisted = [menu]
    windows = (Window(2, "", "app", place, popup=True, pid=PID), WINDOW)
    world.event("StateChanged", menu)
    for _ in range(2):  # it stays without a further event
        world.look([place], windows)
        assert [(each.name, each.window.id) for each in world.drafts if each.role == "menu item"] == [("Cut", 2)] * seen
        world.rest()
    menu.states = 0
    world.look([place])
    assert not any(each.role == "menu item" for each in world.drafts)


def test_object_named_by_an_event_is_read_again(world: World) -> None:
    world.buttons[1].name = "Renamed"
    world.event("PropertyChange", world.buttons[1])

    assert world.look() == world.truth()
    assert "Renamed" in world.look()


def test_an_event_does_not_have_its_neighbours_asked(world: World) -> None:
    world.buttons[1].name = "Renamed"
    world.event("PropertyChange", world.buttons[1])
    world.look()

    assert "/b1" in world.bus.asked
    assert not {"/b0", "/aside"} & set(world.bus.asked)


def test_neighbours_and_content_of_a_moved_object_are_read(world: World) -> None:
    for thing in (world.panel, *world.buttons):
        thing.rect = thing.rect.moved(0, 5)

    assert world.look([Rect(10, 20, 10, 4)]) == world.truth()


@pytest.mark.parametrize(("toolkit", "seen"), [(JAVA, True), ("gtk 3.24.38", False)])
def test_rows_that_a_larger_viewport_of_java_shows_are_found_without_an_event(toolkit: str, seen: bool) -> None:
    world = World("viewport", toolkit=toolkit, around="scroll pane")
    world.hidden.states, world.page.rect = SEEN, Rect(0, 0, 500, 390)
    assert ("H" in world.look([Rect(250, 350, 100, 20)])) is seen


def test_new_objects_are_found_where_children_came(world: World) -> None:
    world.panel.children.append(Thing("/new", "push button", "New", Rect(10, 200, 80, 20)))
    world.event("ChildrenChanged", world.panel)

    assert "New" in world.look()


def test_new_objects_are_found_without_an_event_where_the_screen_looks_different(world: World) -> None:
    world.panel.children.append(Thing("/new", "push button", "New", Rect(10, 200, 80, 20)))

    assert "New" in world.look([Rect(0, 192, 96, 32)])


def test_vanished_object_is_no_longer_shown(world: World) -> None:
    world.panel.children.remove(world.buttons[2])

    assert "B2" not in world.look([world.buttons[2].rect])


def test_new_object_is_shown_with_its_extents(world: World) -> None:
    world.hidden.states, world.hidden.rect = SEEN, Rect(10, 260, 80, 20)
    world.event("StateChanged", world.hidden)

    assert world.look()["H"] == Rect(10, 260, 80, 20)


def test_new_page_is_noticed_although_the_former_one_keeps_answering(world: World) -> None:
    other = Thing(
        "/other", "document web", "Other", world.page.rect, [Thing("/o", "push button", "O", Rect(5, 5, 9, 9))]
    )
    world.around.children = [other]
    world.frame.children.append(Thing("/kept", "panel", "", Rect(0, 0, 0, 0), [world.page], states=0))

    assert set(world.look([Rect(300, 300, 16, 16)])) == {"O"}


@pytest.mark.parametrize(("around", "again"), [("internal frame", True), ("panel", False)])
def test_what_holds_a_document_of_any_role_is_asked_again(around: str, again: bool) -> None:
    world = World("panel", around=around)
    world.event("PropertyChange", world.frame)
    world.look()
    assert ("/around" in world.bus.asked) is again


def test_a_page_that_comes_after_a_look_at_none_is_noticed(world: World) -> None:
    other = Thing(
        "/other", "document web", "Other", world.page.rect, [Thing("/o", "push button", "O", Rect(5, 5, 9, 9))]
    )
    world.frame.children.append(Thing("/kept", "panel", "", Rect(0, 0, 0, 0), [world.page], states=0))
    world.around.children = []
    assert world.look([Rect(300, 300, 16, 16)]) == {}

    world.around.children = [other]
    world.event("PropertyChange", world.frame)

    assert set(world.look()) == {"O"}


def test_replaced_children_are_noticed_although_the_former_ones_keep_answering(world: World) -> None:
    for button in world.buttons:
        button.states = 0
    new = [Thing(f"/n{n}", "push button", f"N{n}", button.rect) for n, button in enumerate(world.buttons)]
    world.panel.children = [*new, world.hidden]
    world.frame.children.append(Thing("/kept", "panel", "", Rect(0, 0, 0, 0), world.buttons, states=0))

    assert set(world.look([Rect(10, 10, 80, 20)])) == {"N0", "N1", "N2", "Aside"}


def test_a_moved_window_has_everything_in_it_asked(world: World) -> None:
    for thing in (world.frame, world.around, world.page, world.panel, world.aside, *world.buttons):
        thing.rect = thing.rect.moved(100, 50)
    moved = Window(1, "App", "app", Rect(100, 50, 500, 400), active=True, pid=PID)

    assert world.look([], [moved])["Aside"] == Rect(400, 350, 80, 20)


def test_lost_events_cause_a_complete_read(world: World) -> None:
    world.aside.name = "Silently renamed"
    world.bus.signals.invalidate_all()

    assert "Silently renamed" in world.look()


def test_missed_change_is_corrected_when_idle_after_an_action(world: World) -> None:
    world.reader.prepare_for_action()
    world.aside.name = "Silently renamed"
    assert "Aside" in world.look()  # neither an event nor a pixel tells

    world.rest()

    assert "Silently renamed" in world.look()


def test_an_application_is_read_at_rest_once_and_not_for_ever(world: World) -> None:
    world.event("PropertyChange", world.aside)
    world.look()
    world.rest()
    world.look()
    world.bus.asked.clear()

    world.rest()

    assert not world.bus.asked


def test_events_during_the_rest_are_not_lost(world: World) -> None:
    world.event("PropertyChange", world.aside)
    world.look()
    world.rest()
    world.aside.states |= StateBit.FOCUSED.value
    world.aside.name = "Later"
    world.event("PropertyChange", world.aside)

    assert "Later" in world.look()


def test_interrupted_background_read_keeps_the_state_and_is_repeated(world: World) -> None:
    world.reader.prepare_for_action()
    world.look()
    world.aside.name = "Silently renamed"

    async def broken_off() -> None:
        rest = asyncio.create_task(world.reader.read_again())
        await asyncio.sleep(0)
        rest.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rest

    world.loop.run_until_complete(broken_off())
    assert set(world.look()) == {"B0", "B1", "B2", "Aside"}
    world.rest()
    assert "Silently renamed" in world.look()


def test_whether_a_background_read_ends_soon_is_told_by_how_long_it_took_before(world: World) -> None:
    async def broken_off(after_s: float) -> bool:
        world.reader.prepare_for_action()
        await world.reader.read([WINDOW], SCREEN, ())
        rest = asyncio.create_task(world.reader.read_again())
        await asyncio.sleep(0)
        expected = world.reader.ends_within(0.5)
        world.now += after_s
        rest.cancel()
        await asyncio.gather(rest, return_exceptions=True)
        return expected

    assert [world.loop.run_until_complete(broken_off(after_s)) for after_s in (0.7, 0.1, 0.1)] == [True, False, False]
    world.reader.prepare_for_action()
    world.look()
    world.rest()
    assert world.loop.run_until_complete(broken_off(0.0))


def test_application_that_took_too_long_gets_its_whole_limit_again_once_it_was_read_at_rest(world: World) -> None:
    root = world.bus.root.ref
    world.event("PropertyChange", world.aside)
    world.look()
    for _ in range(4):
        world.limits.exceeded(root, world.limits.limit_s(root))
    assert world.limits.limit_s(root) == SHORTEST_LIMIT_S

    world.rest()

    assert world.limits.limit_s(root) == 8.0


def test_limit_of_a_slow_application_shrinks_and_is_restored_now_and_then() -> None:
    now = [100.0]
    limits, root, given = TimeLimits(8.0, lambda: now[0]), Ref(NAME, "/root"), []
    for _ in range(6):
        given.append(limits.limit_s(root))
        limits.exceeded(root, given[-1])
    assert given == [8.0, 4.0, 2.0, SHORTEST_LIMIT_S, SHORTEST_LIMIT_S, SHORTEST_LIMIT_S]
    assert limits.limit_s(Ref(":1.6", "/root")) == 8.0

    now[0] += WHOLE_AGAIN_S
    assert limits.limit_s(root) == 8.0
    limits.exceeded(root, 8.0)
    assert limits.limit_s(root) == 4.0


def test_application_with_an_empty_window_is_read_again_without_events(world: World) -> None:
    frame = world.bus.root.children[0]
    place, frame.rect = frame.rect, Rect(0, 0, 0, 0)
    world.event("BoundsChanged", frame)
    assert world.look() == {}

    frame.rect = place

    assert set(world.look()) == {"B0", "B1", "B2", "Aside"}


def test_popup_that_showed_nothing_is_read_again_without_events() -> None:
    menu = Thing("/menu", "window", "", Rect(0, 0, 0, 0), [Thing("/e", "push button", "Entry", Rect(610, 10, 80, 20))])
    popup = Window(2, "", "app", Rect(600, 0, 100, 100), popup=True, pid=PID)
    world = World()
    world.bus.root.children.append(menu)
    assert "Entry" not in world.look(windows=(popup, WINDOW))

    menu.rect = popup.rect

    assert "Entry" in world.look(windows=(popup, WINDOW))


def test_a_window_that_keeps_showing_nothing_is_not_read_for_ever(world: World) -> None:
    frame = world.bus.root.children[0]
    frame.rect = Rect(0, 0, 0, 0)
    world.event("BoundsChanged", frame)
    for _ in range(EMPTY_READINGS + 1):
        world.look()

    world.bus.asked.clear()
    world.look()

    assert set(world.bus.asked) == {"/root"}


@pytest.mark.parametrize(("role", "again"), [("document web", True), ("panel", False)])
def test_where_a_page_looked_different_is_asked_once_more(role: str, again: bool) -> None:
    world = World(role)
    world.look([Rect(10, 20, 10, 4)])

    world.buttons[0].name = "Said late"

    assert ("Said late" in world.look()) is again


def test_formerly_focused_object_is_read_again_without_events(world: World) -> None:
    world.buttons[0].states |= StateBit.FOCUSED.value
    world.event("StateChanged", world.buttons[0])
    world.look()

    world.buttons[0].states = SEEN
    world.event("StateChanged", world.frame)
    world.look()

    assert "focused" not in next(draft.states for draft in world.drafts if draft.name == "B0")


def test_what_merely_lies_under_a_new_window_is_not_asked(world: World) -> None:
    dialog = Window(2, "", "app", Rect(0, 0, 200, 300), pid=PID, popup=True)

    assert world.look([dialog.rect], [dialog, WINDOW]).keys() >= {"Aside"}
    assert "/panel" in world.bus.asked  # it may hold what the window shows
    assert not {"/b0", "/b1", "/b2"} & set(world.bus.asked)


def test_objects_of_a_closed_window_are_not_asked(world: World) -> None:
    button = Thing("/in_dialog", "push button", "Close", Rect(210, 60, 80, 20))
    frame = Thing("/dialog", "dialog", "Dialog", Rect(200, 50, 200, 100), [button])
    dialog = Window(2, "Dialog", "app", frame.rect, pid=PID)
    world.bus.root.children.append(frame)
    assert "Close" in world.look([dialog.rect], [dialog, WINDOW])

    world.bus.root.children.remove(frame)
    world.bus.asked.clear()
    for thing in (frame, button):
        world.event("StateChanged", thing)

    assert "Close" not in world.look([])
    assert not {"/dialog", "/in_dialog"} & set(world.bus.asked)


def test_elements_of_a_window_in_which_nothing_changed_stay_the_same() -> None:
    def frame(at: int) -> tuple[Thing, Window]:
        place = Rect(at, 0, 400, 300)
        button = Thing(f"/b{at}", "push button", f"B{at}", place.moved(10, 10))
        name = f"Window {at}"
        return Thing(f"/{at}", "frame", name, place, [button]), Window(1 + at, name, "app", place, pid=PID)

    (one, first), (other, second) = frame(0), frame(500)
    reader, loop = Reader(bus := MemoryBus(one, other)), asyncio.new_event_loop()
    before = loop.run_until_complete(reader.read([first, second], SCREEN)).drafts

    other.children[0].name = "Renamed"
    bus.signals.note(NAME, other.children[0].path, "PropertyChange")
    after = loop.run_until_complete(reader.read([first, second], SCREEN, [])).drafts

    assert [draft.name for draft, _ in after] == ["B0", "Renamed"]
    assert after[0][0] is before[0][0]


def test_what_keeps_freed_objects_in_its_cache_is_not_asked_for_it() -> None:
    assert CACHE_PATH in World().at_start
    assert CACHE_PATH not in World(name="soffice").at_start
    assert CACHE_PATH not in World(toolkit="GAIL 2.24.33").at_start


def test_cells_are_found_again_where_rows_came_or_went(world: World) -> None:
    known = world.reader.by_connection()[NAME]
    for areas in ((), None):
        known.cells = {world.panel.ref: {(0, 0): world.buttons[0].ref}}
        world.event("RowInserted", world.panel)
        world.look(areas)
        assert known.cells == {}


@pytest.mark.parametrize("rows", [50, 60_000])
def test_list_that_was_filled_meanwhile_does_not_have_to_create_all_of_its_rows(world: World, rows: int) -> None:
    world.panel.states |= StateBit.MANAGES_DESCENDANTS.value
    world.event("StateChanged", world.panel)
    world.look()
    row = Thing("/row", "push button", "Row", Rect(10, 200, 80, 20))
    world.panel.children += [row] * rows
    world.event("ChildrenChanged", world.panel)
    assert ("Row" in world.look()) is (rows < MOST_MANAGED)


def test_object_known_only_by_its_events_is_found_by_its_parent(world: World) -> None:
    added = Thing("/new", "push button", "New", Rect(10, 200, 80, 20), parent=(NAME, "/panel"))
    world.panel.children.append(added)
    world.event("PropertyChange", added)
    assert "New" in world.look()


def test_contents_of_a_popover_of_gtk_3_are_seen_when_it_opens() -> None:
    hidden = (StateBit.VISIBLE | StateBit.ENABLED | StateBit.SENSITIVE).value
    entry = Thing("/entry", "push button", "Entry", Rect(10, 300, 80, 20), states=hidden)
    inside = Thing("/inside", "filler", "", Rect(10, 300, 80, 80), [entry], states=hidden, parent=(NAME, "/gone"))
    popover = Thing("/popover", "panel", "", Rect(10, 300, 80, 80), [inside], states=0, parent=(NAME, "/aside"))
    world = World(popover=popover)
    assert "Entry" not in world.look()

    for thing in (popover, inside, entry):
        thing.states = SEEN
        world.event("StateChanged", thing)
    assert world.look()["Entry"] == Rect(10, 300, 80, 20)


def test_caret_and_selection_of_the_focused_text_follow_its_events(world: World) -> None:
    states = SEEN | (StateBit.FOCUSED | StateBit.FOCUSABLE | StateBit.EDITABLE).value
    entry = Thing("/entry", "entry", "Field", Rect(10, 240, 80, 20), states=states, text="words", caret=5)
    world.panel.children.append(entry)
    world.event("ChildrenChanged", world.panel)

    def seen() -> tuple[int | None, tuple[int, int] | None]:
        world.look()
        [draft] = [draft for draft in world.drafts if draft.role == "entry"]
        return draft.node.caret, draft.node.selection

    assert seen() == (5, None)
    entry.caret, entry.selected = 2, (1, 2)
    world.event("TextCaretMoved", entry)
    assert seen() == (2, (1, 2))
    entry.states &= ~StateBit.FOCUSED.value
    world.event("StateChanged", entry)
    assert seen() == (None, None)


def test_open_menu_of_gtk_2_shows_its_items() -> None:
    world = World("panel", toolkit="GAIL")
    visible = (StateBit.VISIBLE | StateBit.ENABLED | StateBit.SENSITIVE).value
    inner = Thing("/inner", "menu item", "Inner", Rect(300, 60, 80, 20), states=visible)
    closed = [Thing("/closed", "menu item", "Closed", Rect(40, 40, 80, 20), states=visible)]
    items = [
        Thing("/one", "menu item", "One", Rect(10, 40, 80, 20), states=visible),
        Thing("/more", "menu", "More", Rect(10, 60, 80, 20), [inner], states=visible),
    ]
    world.panel.children = [
        Thing("/menu", "menu", "File", Rect(10, 10, 80, 20), items),
        Thing("/other", "menu", "Edit", Rect(40, 10, 80, 20), closed),
    ]
    world.look(None)

    def names(*popups: Rect) -> list[str]:
        windows = [Window(5 + at, "", "app", popup, popup=True, pid=PID) for at, popup in enumerate(popups)]
        world.look(windows=(*windows, WINDOW))
        return [draft.name for draft in world.drafts if draft.role.startswith("menu")]

    menu, submenu = Rect(5, 35, 90, 50), Rect(295, 55, 90, 30)
    assert names() == ["File", "Edit"]
    assert names(menu) == ["File", "One", "More", "Edit"]
    assert names(menu, submenu) == ["File", "One", "More", "Inner", "Edit"]
    assert names() == ["File", "Edit"]
