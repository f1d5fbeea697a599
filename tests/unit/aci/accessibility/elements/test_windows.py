from __future__ import annotations

from aci.accessibility.elements.windows import correct_extents, correct_windows, match_windows
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.trees import WINDOW, application, frame, node


def window(identity: int, title: str, rect: Rect, **more: object) -> Window:
    return Window(identity, title, "app", rect, pid=7, **more)  # type: ignore[arg-type]


def test_titles_tell_windows_in_the_same_place_apart() -> None:
    one, two = node("frame", "one", Rect(0, 0, 300, 200)), node("frame", "two", Rect(0, 0, 300, 200))
    first, second = window(1, "two", Rect(0, 20, 300, 180)), window(2, "one", Rect(0, 20, 300, 180))
    matched = match_windows(application(one, two), (first, second))
    assert (matched[one.ref].id, matched[two.ref].id) == (2, 1)


def test_windows_without_a_title_are_matched_by_place() -> None:
    popup = node("window", "", Rect(100, 100, 80, 60))
    stray = node("window", "", Rect(400, 10, 80, 60))
    matched = match_windows(application(popup, stray), (window(3, "", Rect(100, 100, 80, 60), popup=True), WINDOW))
    assert {ref: found.id for ref, found in matched.items()} == {popup.ref: 3}


def test_window_without_extents_is_matched_by_what_it_shows() -> None:
    top = node("frame", "", None, node("root pane", "", Rect(0, 0, 500, 400)))
    assert match_windows(application(top), (WINDOW,)) == {top.ref: WINDOW}
    hidden = node("frame", "", None, node("root pane", "", Rect(0, 0, 500, 400), states=0))
    assert match_windows(application(hidden), (WINDOW,)) == {}


def test_items_of_an_open_menu_of_java_lie_in_its_popup() -> None:
    items = [node("menu item", name, Rect(2, 23 + 19 * at, 83, 19)) for at, name in enumerate(("One", "Two", "Three"))]
    popup = node("popup menu", "", Rect(1, 39, 85, 62), *items)
    top = node("frame", "App", None, node("root pane", "", Rect(0, 0, 500, 400), popup))
    swing = application(top, toolkit="J2SE-access-bridge 1.0")
    correct_extents(swing, top, WINDOW, (WINDOW,))
    assert [item.rect.y for item in items if item.rect is not None] == [42, 61, 80]
    correct_extents(swing, top, WINDOW, (WINDOW,))
    assert [item.reported_rect for item in items] == [Rect(2, 23 + 19 * at, 83, 19) for at in range(3)]


def test_items_that_java_lists_in_the_menu_lie_in_the_window_of_its_popup() -> None:
    def items(count: int, x: int, y: int) -> list[Node]:
        return [node("menu item", f"{at}", Rect(x, y + 21 * at, 160, 21)) for at in range(count)]

    sorting = node("menu", "Sort by", Rect(34, 45, 160, 21), *items(3, 35, 48))
    menu = node("menu", "Furniture", Rect(33, 0, 40, 20), *items(2, 34, 3), sorting)
    top = node(
        "frame",
        "App",
        None,
        node("root pane", "", Rect(0, 0, 500, 400), node("menu bar", "", Rect(0, 0, 500, 20), menu)),
    )
    swing = application(top, toolkit="J2SE-access-bridge 1.0")
    popups = window(3, "", Rect(195, 40, 162, 68), popup=True), window(2, "", Rect(33, 20, 162, 68), popup=True)
    for _ in range(2):
        correct_extents(swing, top, WINDOW, (*popups, WINDOW))
        assert [child.rect for child in menu.children] == [Rect(34, y, 160, 21) for y in (23, 44, 65)]
        assert [child.rect for child in sorting.children] == [Rect(196, y, 160, 21) for y in (43, 64, 85)]


def test_menu_of_java_that_is_taller_than_the_screen_covers_what_opened_it() -> None:
    items = [node("menu item", f"{at}", Rect(35, 23 + 20 * at, 160, 20)) for at in range(30)]
    menu = node("menu", "File", Rect(34, 20, 40, 20), *items)
    inner = node("menu", "Recent", Rect(35, 623, 160, 20), *[node("menu item", "a", Rect(36, 626, 160, 20), states=0)])
    menu.children.append(inner)
    top = frame(node("root pane", "", Rect(0, 0, 500, 400), node("menu bar", "", Rect(0, 20, 500, 20), menu)))
    popup = window(2, "", Rect(34, 0, 162, 626), popup=True)
    correct_extents(application(top, toolkit="J2SE-access-bridge 1.0"), top, WINDOW, (popup, WINDOW))
    assert [items[at].rect for at in (0, 29)] == [Rect(35, 3, 160, 20), Rect(35, 583, 160, 20)]


def test_window_of_java_is_where_the_screen_shows_it() -> None:
    button = node("push button", "OK", Rect(30, 40, 60, 20))
    top = node("frame", "App", None, node("root pane", "", Rect(0, 0, 500, 400), button))
    moved = window(1, "App", Rect(300, 200, 500, 400))
    for _ in range(2):
        correct_extents(application(top, toolkit="J2SE-access-bridge 1.0"), top, moved, (moved,))
        assert button.rect == Rect(330, 240, 60, 20)


def test_list_of_a_combo_box_of_java_stays_where_it_is() -> None:
    entry = node("list item", "Green", Rect(302, 230, 292, 17))
    listed = node("scroll pane", "", Rect(302, 213, 292, 51), node("list", "", Rect(302, 213, 292, 51), entry))
    popup = node("popup menu", "", Rect(301, 170, 294, 53), listed)  # over the combo box, which is wrong
    top = node("frame", "App", None, node("panel", "", Rect(301, 212, 294, 53), popup))
    correct_extents(application(top, toolkit="J2SE-access-bridge 1.0"), top, WINDOW, (WINDOW,))
    assert entry.rect == Rect(302, 230, 292, 17)


def test_page_of_a_tab_of_java_begins_where_the_pane_does() -> None:
    button = node("push button", "Inside", Rect(27, 121, 192, 90))
    page = node("desktop frame", "", Rect(229, 77, 490, 300), button)
    pane = node("page tab list", "Desk", Rect(1, 51, 498, 340), node("page tab", "Desk", Rect(227, 53, 56, 18), page))
    top = node("frame", "App", None, pane)
    for _ in range(2):
        correct_extents(application(top, toolkit="J2SE-access-bridge 1.0"), top, WINDOW, (WINDOW,))
        assert (page.rect, button.rect) == (Rect(3, 75, 490, 300), Rect(27, 121, 192, 90))


def test_headers_of_a_table_of_java_are_as_high_as_what_they_fill() -> None:
    labels = [node("label", name, Rect(x, 76, 197, 0)) for name, x in (("Name", 4), ("Price", 201))]
    header = node("panel", "", Rect(4, 76, 394, 19), *labels)
    top = node(
        "frame", "App", None, header, node("panel", "", Rect(0, 0, 90, 20), node("label", "x", Rect(0, 0, 9, 9)))
    )
    for _ in range(2):
        correct_extents(application(top, toolkit="J2SE-access-bridge 1.0"), top, WINDOW, (WINDOW,))
        assert [(label.role, label.rect) for label in labels] == [
            ("table column header", Rect(4, 76, 197, 19)), ("table column header", Rect(201, 76, 197, 19))
        ]  # fmt: skip
    labels[0].restore_reported()
    assert (labels[0].role, labels[0].rect) == ("label", Rect(4, 76, 197, 0))


def test_extents_that_java_reports_for_a_window_do_not_count() -> None:
    popup = node("window", "", Rect(400, 300, 80, 60), node("root pane", "", Rect(100, 100, 80, 60)))
    shown = window(3, "", Rect(100, 100, 80, 60), popup=True)
    assert match_windows(application(popup, toolkit="J2SE-access-bridge 1.0"), (shown, WINDOW)) == {popup.ref: shown}


def test_popup_of_java_does_not_tell_of_larger_pixels() -> None:
    top = node("frame", "App", None, node("root pane", "", Rect(0, 0, 500, 400)))
    popup = node("window", "", Rect(10, 20, 130, 110), node("root pane", "", Rect(10, 20, 130, 110)))
    swing = application(top, popup, toolkit="J2SE-access-bridge 1.0")
    correct_windows(swing, (window(2, "", Rect(10, 20, 130, 110), popup=True), WINDOW))
    assert top.children[0].rect == Rect(0, 0, 500, 400)


def test_panel_of_gecko_lies_in_the_window_of_its_size() -> None:
    panel = node("panel", "", Rect(300, 40, 150, 200), node("push button", "Settings", Rect(305, 50, 100, 20)))
    top = frame(node("tool bar", "", Rect(0, 0, 500, 30)), panel)
    shown = window(2, "", Rect(300, 40, 150, 200), popup=True)
    firefox = application(top, toolkit="Gecko 128.0")
    assert correct_extents(firefox, top, WINDOW, (shown, WINDOW))
    assert (panel.popup, top.popup) == (shown, None)


def test_window_of_another_process_is_not_taken() -> None:
    top = frame()
    assert match_windows(application(top), (Window(1, "App", "other", Rect(0, 0, 500, 400), pid=8),)) == {}


def test_gtk4_is_moved_by_the_window_and_its_shadow() -> None:
    button = node("push button", "7", Rect(16, 288, 55, 40))
    top = frame(button, rect=Rect(0, 0, 355, 486))
    shadowed = window(1, "App", Rect(915, 304, 365, 496))
    calculator = application(top, toolkit="GTK 4.8.3")
    assert match_windows(calculator, (shadowed,)) == {top.ref: shadowed}
    correct_extents(calculator, top, shadowed, (shadowed,))
    assert button.rect == Rect(936, 597, 55, 40)
    assert button.shift == (920, 309)


def test_gtk4_popover_is_found_by_the_size_of_its_window() -> None:
    item = node("menu item", "New", Rect(243, 46, 201, 32))
    popover = node("menu", "GtkPopoverMenu", Rect(201, 6, 285, 418), item)
    top = frame(popover, rect=Rect(0, 0, 355, 486))
    main, popup = window(1, "App", Rect(915, 304, 365, 496)), window(2, "", Rect(996, 328, 285, 418), popup=True)
    correct_extents(application(top, toolkit="GTK 4.8.3"), top, main, (popup, main))
    assert item.rect == Rect(1038, 368, 201, 32)
    assert popover.popup == popup


def test_gtk4_popover_with_margins_is_smaller_than_its_window() -> None:
    item = node("list item", "Alpha", Rect(12, 72, 282, 16))
    popover = node("filler", "GtkPopover", Rect(0, 53, 306, 120), item)
    button = node("push button", "GtkToggleButton", Rect(10, 52, 280, 24))
    top = frame(node("combo box", "", Rect(0, 47, 300, 34), button, popover), rect=Rect(0, 0, 300, 300))
    main, popup = window(1, "App", Rect(250, 157, 300, 300)), window(2, "", Rect(247, 236, 306, 126), popup=True)
    correct_extents(application(top, toolkit="GTK 4.8.3"), top, main, (popup, main))
    assert (popover.popup, button.popup) == (popup, None)
    assert item.rect == Rect(259, 261, 282, 16)


def test_gtk4_tooltip_is_not_taken_for_a_popover() -> None:
    button = node("push button", "Save", Rect(10, 52, 80, 30))
    top = frame(node("panel", "", Rect(10, 50, 300, 34), button), rect=Rect(0, 0, 300, 300))
    main, tip = window(1, "App", Rect(250, 157, 300, 300)), window(2, "", Rect(300, 236, 84, 36), popup=True)
    correct_extents(application(top, toolkit="GTK 4.8.3"), top, main, (tip, main))
    assert (button.popup, button.rect) == (None, Rect(260, 209, 80, 30))


def libreoffice(error: int, needed: int = 34) -> tuple[object, ...]:
    native = node("text", "", Rect(4, 124, 126, 34))
    holder = node("panel", "", Rect(4, 124, 162, needed), native)
    embedded = node("panel", "", Rect(4, 124 - error, 162, 34), holder)
    drawn = node("push button", "New", Rect(4, 46 - error, 44, 35))
    root = node("root pane", "Calc", Rect(0, 44 - error, 1280, 756), drawn, embedded)
    top = frame(node("panel", "", Rect(0, 44, 1280, 756), root), rect=Rect(0, 0, 1280, 800))
    return application(top), top, drawn, native


def test_extents_of_drawn_parts_of_libreoffice_are_corrected_and_native_ones_kept() -> None:
    for error, needed in ((25, 34), (0, 34), (25, 35)):  # the last has less room than it needs
        office, top, drawn, native = libreoffice(error, needed)
        main = window(1, "App", Rect(0, 19, 1280, 781))
        correct_extents(office, top, main, (main,))  # type: ignore[arg-type]
        assert drawn.rect == Rect(4, 46, 44, 35)  # type: ignore[attr-defined]
        assert native.rect == Rect(4, 124, 126, 34)  # type: ignore[attr-defined]
