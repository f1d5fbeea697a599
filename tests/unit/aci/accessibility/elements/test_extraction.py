from __future__ import annotations

from collections.abc import Set

import pytest

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.tree.names import ADDRESS
from aci.accessibility.tree.nodes import JAVA, Node
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.trees import PLACE, SCREEN, SEEN, WHOLE, WINDOW, application, frame, node, page

CHROMIUM, GTK4 = "Chromium 1.0", "GTK 4.8.3"


def drafts(top: Node, toolkit: str = "gtk 3.24.38", windows: tuple[Window, ...] = (WINDOW,)) -> list[Draft]:
    return draft_elements(application(top, toolkit=toolkit), top, WINDOW, windows, SCREEN)


def named(top: Node, toolkit: str = "gtk 3.24.38") -> list[tuple[str, str]]:
    return [(draft.role, draft.name) for draft in drafts(top, toolkit)]


def static(text: str, rect: Rect = PLACE, *children: Node) -> Node:
    return node("static", text, rect, *children)


def test_containers_are_not_elements_and_hidden_nodes_are_not_seen() -> None:
    hidden = node("push button", "Hidden", states=0)
    assert named(frame(node("filler", "", Rect(0, 0, 500, 400), node("push button", "Save"), hidden))) == [
        ("push button", "Save")
    ]


def test_label_that_repeats_its_button_is_left_out() -> None:
    button = node("push button", "Save", Rect(10, 10, 80, 20), node("label", "Save"))
    assert named(frame(button, node("label", "Name:", Rect(10, 40, 50, 20)))) == [
        ("push button", "Save"), ("label", "Name:")
    ]  # fmt: skip


def test_list_item_is_called_by_its_texts_and_its_icon_is_not_used_by_itself() -> None:
    item = node("list item", "", Rect(10, 10, 200, 30), node("icon", "Folder"), node("label", "Home"))
    assert named(frame(item)) == [("list item", "Home")]


def row(*texts: str, y: int = 10) -> Node:
    return node("list item", "", Rect(0, y, 200, 20), *(node("label", text, Rect(0, y, 50, 20)) for text in texts))


@pytest.mark.parametrize(
    ("texts", "name", "count"),
    [
        (("Inbox", "3"), "Inbox", "3"),
        (("Spam", "1,204"), "Spam", "1,204"),
        (("Sent", "99+"), "Sent", "99+"),
        (("Ann", "Call me", "2"), "Ann Call me", "2"),
        (("Layer 1",), "Layer 1", None),  # one text
        (("2", "Introduction"), "2 Introduction", None),
        (("7",), "7", None),
        (("12×34", "=", "408"), "12×34 = 408", None),
        (("Sleep", "5 minutes"), "Sleep 5 minutes", None),
    ],
)
def test_number_beside_the_name_of_a_row_is_its_content(texts: tuple[str, ...], name: str, count: str | None) -> None:
    [found] = drafts(frame(node("list", "", Rect(0, 0, 200, 100), row(*texts))), GTK4)
    assert (found.name, found.text) == (name, count)


def test_number_that_tells_rows_apart_stays_in_their_names() -> None:
    rows = row("Level", "1", y=0), row("Level", "2", y=20), row("Inbox", "2", y=40)
    found = drafts(frame(node("list", "", Rect(0, 0, 200, 100), *rows)))
    assert [(draft.name, draft.text) for draft in found] == [("Level 1", None), ("Level 2", None), ("Inbox", "2")]


def test_number_in_the_text_of_a_page_stays_in_it() -> None:
    item = node("list item", "", Rect(0, 10, 300, 20), static("We sold ", Rect(0, 10, 60, 20)), static("5"))
    assert [(draft.name, draft.text) for draft in drafts(page(item), CHROMIUM)] == [("We sold 5", None)]


def test_siblings_come_in_reading_order() -> None:
    field, label = node("text", "", Rect(100, 10, 80, 20), text=""), node("label", "Name:", Rect(10, 12, 60, 16))
    below = node("push button", "Save", Rect(10, 50, 80, 20))
    assert [draft.role for draft in drafts(frame(below, field, label))] == ["label", "text", "push button"]


def test_field_takes_its_label_from_the_relation_or_the_text_before_it() -> None:
    label = node("label", "Name:", Rect(10, 100, 60, 20))
    related = node("text", "", Rect(80, 10, 80, 20), text="Ann", labels=(label.ref,))
    near = node("text", "", Rect(80, 100, 80, 20), text="")
    found = [draft for draft in drafts(frame(related, label, near)) if draft.role == "text"]
    assert [(draft.label, draft.text) for draft in found] == [("Name:", "Ann"), ("Name:", "")]


def test_group_labels_a_field_only_for_want_of_another_name() -> None:
    own, group = node("label", "Size:", Rect(10, 10, 60, 20)), node("panel", "Print", Rect(0, 0, 300, 200))
    labelled = node("combo box", "", Rect(80, 10, 80, 20), labels=(own.ref, group.ref))
    named_itself = node("spin button", "Copies", Rect(80, 40, 80, 20), labels=(group.ref,))
    nameless = node("spin button", "", Rect(80, 80, 80, 20), labels=(group.ref,))
    for child in (own, labelled, named_itself, nameless):
        child.parent = group.ref
        group.children.append(child)
    found = [draft.label for draft in drafts(frame(group)) if draft.role != "label"]
    assert found == ["Size:", "", "Print"]


def test_text_far_away_or_on_another_line_labels_nothing() -> None:
    above, field = node("label", "Title", Rect(80, 10, 60, 20)), node("text", "", Rect(80, 40, 80, 20), text="")
    assert drafts(frame(above, field))[1].label == ""


def test_sign_between_two_fields_labels_nothing() -> None:
    hours, minutes = (node("spin button", "", Rect(x, 10, 40, 20), text="05") for x in (10, 60))
    found = drafts(frame(hours, node("label", ":", Rect(52, 10, 6, 20)), minutes))
    assert [draft.label for draft in found if draft.role == "spin button"] == ["", ""]


def test_unit_and_words_of_a_number_are_its_text() -> None:
    spun = (
        node("spin button", "", Rect(10, 40 * y, 80, 20), text=text) for y, text in enumerate(("5 min", "Default", "7"))
    )
    assert [draft.text for draft in drafts(frame(*spun))] == ["5 min", "Default", None]


def test_gtk4_names_are_made_plain() -> None:
    doubled = node("push button", "7 7", Rect(10, 10, 30, 20), node("label", "7", Rect(10, 10, 30, 20)))
    by_class = node("push button", "GtkButton", Rect(50, 10, 30, 20), node("label", "π", Rect(50, 10, 30, 20)))
    mnemonic = node("push button", "Add A_larm Add Alarm", Rect(90, 10, 30, 20))
    label = node("label", "Case sensitive", Rect(30, 80, 60, 20))
    box = node("check box", "_Case sensitive", Rect(10, 80, 80, 20), label)
    entry = node("text", "GtkSourceView", Rect(10, 40, 80, 20), text="x")
    buttons = [("push button", name) for name in ("7", "π", "Add Alarm")]
    named_in_it = named(frame(doubled, by_class, mnemonic, entry, box), GTK4)
    assert [*buttons, ("text", ""), ("check box", "Case sensitive")] == [
        each for each in named_in_it if each[0] != "label"
    ]


def test_hull_of_a_gtk4_menu_button_gives_its_tooltip_to_the_button_in_it() -> None:
    inner = node("push button", "GtkMenuButton", Rect(12, 12, 24, 24))
    hull = node("push button", "GtkMenuButton", Rect(10, 10, 30, 30), inner, description="Primary menu")
    [button] = drafts(frame(hull), GTK4)
    assert (button.area, button.description) == (inner.rect, "Primary menu")


def test_open_menu_button_of_gtk4_is_one_element() -> None:
    opened = SEEN | (StateBit.EXPANDABLE | StateBit.EXPANDED).value
    inner = node("push button", "Menu", Rect(15, 15, 24, 24))
    [button] = drafts(frame(node("push button", "Menu", Rect(10, 10, 34, 34), inner, states=opened)), GTK4)
    assert {"expandable", "expanded"} <= button.states


def test_tooltip_of_qt_is_plain_text() -> None:
    tip = "<html><style>p {color: red}</style><p>Play the <b>next</b> track</p></html>"
    button = node("push button", "", description=tip)
    [of_qt], [of_gtk] = drafts(frame(button), "Qt 5.15.8"), drafts(frame(button))
    assert (of_qt.description, of_gtk.description) == ("Play the next track", tip)


@pytest.mark.parametrize(
    ("toolkit", "place", "description"),
    [
        ("Qt 5.15", Rect(285, 0, 12, 22), "more of the tool bar"),
        ("Qt 5.15", Rect(100, 0, 12, 22), ""),
        ("Qt 5.15", Rect(260, 0, 30, 22), ""),
        ("gtk 3.24", Rect(285, 0, 12, 22), ""),
    ],
)
def test_button_for_the_rest_of_a_tool_bar_of_qt_says_so(toolkit: str, place: Rect, description: str) -> None:
    bar = node("tool bar", "", Rect(0, 0, 300, 22), node("check box", "", place))
    assert [draft.description for draft in drafts(frame(bar), toolkit=toolkit)] == [description]


def test_formatted_texts_of_java_are_plain() -> None:
    formatted, literal = node("check box", "<html>Mark <b>new</b> nodes</html>"), node("check box", "<b> is a tag")
    assert named(frame(formatted, literal), JAVA) == [("check box", "Mark new nodes"), ("check box", "<b> is a tag")]


def test_gtk4_drop_down_is_one_element_with_its_choice() -> None:
    covered = node("label", "(None)", Rect(10, 10, 0, 0))
    button = node("push button", "GtkToggleButton", Rect(10, 10, 80, 20), covered, node("label", "Unix (LF)"))
    [combo] = drafts(frame(node("combo box", "GtkDropDown", Rect(10, 10, 90, 20), button)), GTK4)
    assert (combo.role, combo.text) == ("combo box", "Unix (LF)")


def test_gtk4_combo_box_with_the_name_of_its_label_has_no_choice_of_that_name() -> None:
    label = node("label", "Repeat", Rect(10, 10, 60, 20))
    box = node("combo box", "Repeat", Rect(80, 10, 90, 20), labels=(label.ref,))
    combo = next(draft for draft in drafts(frame(label, box), GTK4) if draft.role == "combo box")
    assert (combo.label, combo.text) == ("Repeat", None)


def test_gtk4_drop_down_with_a_label_has_its_choice() -> None:
    label = node("label", "Letter", Rect(10, 10, 60, 20))
    button = node("push button", "GtkToggleButton", Rect(80, 10, 90, 20), node("label", "Beta"))
    box = node("combo box", "Letter", Rect(80, 10, 90, 20), button, labels=(label.ref,))
    combo = next(draft for draft in drafts(frame(label, box), GTK4) if draft.role == "combo box")
    assert (combo.label, combo.text) == ("Letter", "Beta")


def test_gtk4_expander_is_named_by_its_title_and_not_by_what_it_shows() -> None:
    title = node("panel", "", Rect(10, 10, 200, 20), node("label", "More", Rect(30, 12, 40, 16)))
    words, choice = node("label", "Some words", Rect(10, 30, 90, 20)), node("check box", "Choice", Rect(10, 60, 90, 20))
    shown = node("panel", "", Rect(10, 30, 200, 70), words, choice)
    box = node("panel", "", Rect(10, 10, 200, 90), title, shown)
    states = SEEN | StateBit.EXPANDABLE.value | StateBit.EXPANDED.value
    top = frame(node("push button", "GtkExpander", Rect(10, 10, 200, 90), box, states=states))
    assert named(top, GTK4) == [("push button", "More"), ("label", "Some words"), ("check box", "Choice")]
    assert drafts(top, GTK4)[0].area == Rect(10, 10, 200, 20)


def test_gtk4_button_is_not_named_by_the_popover_that_it_has_opened() -> None:
    popover = node("panel", "", Rect(0, 40, 200, 90), node("label", "Zoom", Rect(20, 50, 80, 20)), popup=WINDOW)
    button = node("push button", "", Rect(10, 10, 60, 20), node("label", "Menu"))
    opener = node("push button", "GtkMenuButton", Rect(10, 10, 60, 20), button, popover)
    assert named(frame(opener), GTK4) == [("push button", "Menu"), ("label", "Zoom")]


def test_gtk4_row_that_is_a_combo_box_has_its_name_and_its_choice() -> None:
    chosen = node("list item", "", Rect(200, 10, 60, 16), node("label", "5 minutes", Rect(200, 10, 60, 16)))
    listed = node("list", "GtkListView", Rect(200, 8, 70, 20), chosen)
    title = node("label", "Ring Duration", Rect(10, 10, 150, 16))
    others = node("list", "", Rect(200, 40, 70, 90), node("list item", "1 minute", Rect(200, 50, 60, 16)))
    row = node("panel", "", Rect(10, 0, 260, 36), title, listed)
    combo_box = node("combo box", "Ring Duration", Rect(0, 0, 280, 36), row, others, labels=(title.ref,))
    combo, other = drafts(frame(combo_box), GTK4)
    assert (combo.role, combo.name, combo.text) == ("combo box", "Ring Duration", "5 minutes")
    assert other.name == "1 minute"


def test_paragraph_is_one_text_and_its_links_are_elements() -> None:
    link = node("link", "the form", Rect(60, 10, 40, 20), static("the form"))
    paragraph = node(
        "paragraph", "", Rect(0, 10, 500, 20), static("Fill in "), link, static(" now.", Rect(100, 10, 30, 20))
    )
    found = drafts(page(paragraph), CHROMIUM)
    assert [(draft.role, draft.name) for draft in found] == [
        ("paragraph", "Fill in the form now."),
        ("link", "the form"),
    ]
    assert found[0].area == Rect(10, 10, 120, 20)


def test_texts_between_controls_of_a_page_stand_alone() -> None:
    entry = node("entry", "", Rect(100, 10, 80, 20), text="", states=SEEN | StateBit.EDITABLE.value)
    found = drafts(page(node("paragraph", "", Rect(0, 10, 500, 20), static("Password "), entry)), CHROMIUM)
    assert [(draft.role, draft.name, draft.label) for draft in found] == [
        ("static", "Password", ""),
        ("entry", "", "Password"),
    ]


def test_heading_named_like_its_page_is_kept() -> None:
    heading = node("heading", "Page", Rect(0, 10, 500, 30), static("Page"))
    assert named(page(heading), CHROMIUM) == [("heading", "Page")]


def test_lines_and_shadows_across_a_page_are_not_elements_but_thin_handles_are() -> None:
    line = node("section", "", Rect(0, 100, 490, 4), attributes={"class": "divider"})
    track = node("section", "", Rect(10, 200, 200, 6), attributes={"class": "track"})
    assert [draft.area for draft in drafts(page(line, track), CHROMIUM)] == [track.rect]


def test_what_chromium_adds_to_the_name_of_a_tab_is_not_in_the_path_of_its_button() -> None:
    def path(name: str) -> tuple[str, ...]:
        tab = node("page tab", name, Rect(10, 10, 200, 30), node("push button", "Close", Rect(180, 15, 20, 20)))
        return next(draft.path for draft in drafts(frame(tab), CHROMIUM) if draft.name == "Close")

    assert path("News - Memory usage - 32.9 MB") == path("News")


def test_empty_box_with_a_class_may_be_a_button() -> None:
    icon = node("section", "", Rect(10, 10, 20, 20), attributes={"class": "icon-trash"})
    spacer = node("section", "", Rect(10, 40, 400, 200))
    [found] = drafts(page(icon, spacer), CHROMIUM)
    assert found.description == "icon-trash"


def test_clickable_shape_is_described_by_its_tag() -> None:
    shape = node("image", "", Rect(10, 10, 200, 200), attributes={"tag": "polygon"})
    photo = node("image", "", Rect(10, 300, 200, 200), attributes={"tag": "img"})
    [found] = drafts(page(shape, photo), CHROMIUM)
    assert (found.role, found.description) == ("image", "polygon")


def test_date_field_shows_its_parts_and_is_clicked_at_the_first() -> None:
    def part(value: str, hint: str, x: int) -> Node:
        return node("spin button", hint, Rect(x, 10, 20, 20), attributes={"valuetext": value, "placeholder": hint})

    month, day = part("03", "mm", 12), part("0", "dd", 40)
    field = node("date editor", "Day", Rect(10, 10, 100, 20), month, static("/", Rect(32, 10, 6, 20)), day)
    found = drafts(page(field), CHROMIUM)
    assert [(draft.role, draft.text) for draft in found] == [
        ("date editor", "03/dd"), ("spin button", "03"), ("spin button", None)
    ]  # fmt: skip
    assert found[0].target == month.rect


def test_date_field_of_gecko_has_its_separators_between_its_parts() -> None:
    def part(value: str, shown: str, x: int) -> Node:
        return node("spin button", "", Rect(x, 10, 20, 20), text=shown, attributes={"valuetext": value})

    button = node("push button", "Calendar", Rect(70, 10, 20, 20))
    parts = (part("03", "03", 12), part("", "dd", 40), button)
    field = node("date editor", "Day", Rect(10, 10, 100, 20), *parts, text="\ufffc/\ufffc\ufffc")
    found = drafts(page(field), "Gecko 128.0")
    assert [draft.text for draft in found if draft.role != "push button"] == ["03/dd", "03", None]


@pytest.mark.parametrize("toolkit", [CHROMIUM, "Gecko 128.0"])
@pytest.mark.parametrize("text", ["0", ""])
def test_number_field_of_a_page_contains_what_is_typed_into_it(toolkit: str, text: str) -> None:
    attributes = {"tag": "input", "valuetext": text, "placeholder": "5"}
    states = SEEN | (StateBit.EDITABLE | StateBit.FOCUSABLE).value
    field = node("spin button", "Amount", PLACE, text=text, attributes=attributes, states=states)
    assert [draft.text for draft in drafts(page(field), toolkit)] == [text]


@pytest.mark.parametrize(("toolkit", "names"), [("Gecko 128.0", []), ("gtk 3.24.38", ["Close"])])
def test_tool_bar_without_a_place_is_put_away_in_gecko(toolkit: str, names: list[str]) -> None:
    bar = node("tool bar", "Menu Bar", None, node("push button", "Close", PLACE))
    assert [draft.name for draft in drafts(frame(bar), toolkit)] == names


def test_heading_of_gecko_is_as_wide_as_its_own_text_too() -> None:
    form = node("link", "form", Rect(120, 10, 80, 20))
    heading = node("heading", "Order form", Rect(10, 10, 400, 20), form)
    assert [draft.area for draft in drafts(page(heading), "Gecko 128.0") if draft.role == "heading"] == [heading.rect]


def test_phantom_menu_bar_of_libreoffice_is_left_out() -> None:
    phantom = node("menu bar", "", Rect(0, 19, 500, 0), node("menu", "File", Rect(0, 19, 30, 19)))
    real = node("menu bar", "", Rect(0, 19, 500, 25), node("menu", "File", Rect(0, 19, 40, 25)))
    assert [draft.area for draft in drafts(frame(phantom, real))] == [Rect(0, 19, 40, 25)]


def test_open_menu_is_not_limited_by_its_title_and_lies_in_its_popup() -> None:
    popup = Window(2, "", "app", Rect(0, 45, 200, 100), popup=True, pid=7)
    menu = node("menu", "File", Rect(0, 20, 40, 25), node("menu item", "Save", Rect(0, 50, 200, 25)))
    title, item = drafts(frame(node("menu bar", "", Rect(0, 20, 500, 25), menu)), windows=(popup, WINDOW))
    assert (title.window.id, item.window.id) == (1, 2)
    assert item.clip.intersection(item.area) == item.area


def test_empty_box_of_a_page_does_not_contain_its_name() -> None:
    box = node("combo box", "Town", PLACE, text="")
    assert [draft.text for toolkit in (CHROMIUM, "Gecko 128.0") for draft in drafts(frame(box), toolkit)] == [
        None,
        None,
    ]


def test_text_of_a_combo_box_lies_in_its_window_though_a_menu_covers_it() -> None:
    menu = Window(2, "", "app", Rect(0, 45, 200, 300), popup=True, pid=7)
    box = node("combo box", "", Rect(50, 200, 300, 25), node("text", "Find", Rect(50, 200, 280, 25), text=""))
    assert {draft.window.id for draft in drafts(frame(box), windows=(menu, WINDOW)) if draft.role == "text"} == {1}


def test_class_names_of_toolkits_are_replaced_by_plain_names() -> None:
    field, label = node("text", "QLineEdit", PLACE, text=""), node("label", "QLineEdit", Rect(10, 80, 60, 20))
    assert named(frame(field, label), "Qt 6.4.2") == [("text", ""), ("label", "QLineEdit")]
    chart = node("embedded", "OLEShape", Rect(10, 10, 60, 20))
    photo, slide = node("image", "GraphicObjectShape 2"), node("link", "PageShape: Slide 1", Rect(10, 80, 60, 20))
    found = named(frame(chart, photo, slide))
    assert [name for _, name in found] == ["OLE shape", "Graphic Object shape 2", "Slide 1"]
    assert named(frame(node("icon", "dialog-error-symbolic"))) == [("icon", "")]
    capitals = "X" * 1000  # as KCachegrind reserves room with; taking it apart once took for ever
    assert named(frame(node("push button", capitals))) == [("push button", capitals)]


def test_combo_box_that_is_named_by_its_choice_is_labelled_by_the_text_before_it() -> None:
    label = node("label", "Menu effect:", Rect(10, 100, 90, 20))
    box = node("combo box", "Fade", Rect(110, 100, 80, 20))
    found = next(draft for draft in drafts(frame(label, box), "Qt 6.4.2") if draft.role == "combo box")
    assert (found.label, found.text) == ("Menu effect:", "Fade")


def test_current_tab_in_qt_has_the_focus_only_where_its_tab_list_has() -> None:
    def tab_states(toolkit: str, states: int = SEEN) -> Set[str]:
        tab = node("page tab", "One", states=SEEN | StateBit.FOCUSED.value)
        [draft] = drafts(frame(node("page tab list", "", PLACE, tab, states=states)), toolkit)
        return draft.states & {"focused", "selected"}

    assert tab_states("Qt 5.15.8") == {"selected"}
    assert tab_states("Qt 5.15.8", SEEN | StateBit.FOCUSED.value) == {"focused", "selected"}
    assert tab_states("gtk 3.24.38") == {"focused"}


def test_menu_item_of_qt_in_a_menu_tells_that_it_opens_a_submenu() -> None:
    def opening(parent: str, toolkit: str) -> list[str]:
        submenu = node("menu item", "Toolbars", PLACE, node("popup menu", "", states=0))
        entry = node("menu item", "Reload", Rect(10, 80, 90, 20))
        return [
            one.name
            for one in drafts(frame(node(parent, "", WHOLE, submenu, entry)), toolkit)
            if "has_popup" in one.states
        ]

    assert opening("popup menu", "Qt 5.15.8") == ["Toolbars"]
    assert opening("menu bar", "Qt 5.15.8") == opening("popup menu", "gtk 3.24.38") == []


def test_item_below_the_fold_is_clipped_by_its_scrolling_box() -> None:
    items = [node("list item", f"item {number}", Rect(0, 30 * number, 100, 30)) for number in range(20)]
    scrolled = node("scroll pane", "", Rect(0, 0, 100, 100), node("list", "", Rect(0, 0, 100, 600), *items))
    assert len(drafts(frame(scrolled))) == 4


def test_unmapped_container_does_not_clip_its_content() -> None:
    tab = node("page tab", "", None, node("text", "", Rect(0, 0, 300, 300), text=""))
    assert named(frame(tab)) == [("text", "")]


def test_menu_of_a_button_opens_outside_of_it() -> None:
    entry = node("menu item", "Rotate", Rect(10, 32, 120, 20))
    button = node("toggle button", "Tools", Rect(10, 10, 60, 20), entry)
    assert [(draft.name, draft.clip.contains(draft.area.center)) for draft in drafts(frame(button))] == [
        ("Tools", True), ("Rotate", True)
    ]  # fmt: skip


def test_entries_of_a_group_of_choices_lie_below_its_heading() -> None:
    group = node("panel", "Warm", Rect(10, 30, 100, 20), node("menu item", "Red", Rect(10, 50, 100, 20)))
    top = frame(node("combo box", "Color", PLACE, node("menu", "", Rect(10, 30, 100, 60), group)))
    [red] = [draft for draft in drafts(top, "Gecko 128.0") if draft.name == "Red"]
    assert red.clip.contains(red.area.center)


def test_combo_box_of_java_says_what_was_typed_into_it() -> None:
    field = node("text", "Color", Rect(10, 10, 80, 20), text="Ochre", states=SEEN | StateBit.EDITABLE.value)
    box = node("combo box", "Color", Rect(10, 10, 100, 20), field, choice="Red")
    assert [draft.text for draft in drafts(frame(box), f"{JAVA} 1.0")] == ["Ochre", "Ochre"]


def test_entries_of_a_tree_of_java_lie_outside_of_the_entry_that_holds_them() -> None:
    oven = node("tree item", "Oven", Rect(42, 48, 60, 18))
    kitchen = node("tree item", "Kitchen", Rect(22, 30, 60, 18), oven)
    tree = node("tree", "", Rect(0, 10, 200, 50), node("tree item", "House", Rect(2, 12, 60, 18), kitchen))
    swing = drafts(frame(tree), f"{JAVA} 1.0")
    assert [(draft.name, draft.clip.bottom) for draft in swing] == [("House", 60), ("Kitchen", 60), ("Oven", 60)]


def test_disabled_state_is_derived_for_each_toolkit() -> None:
    insensitive = SEEN & ~StateBit.SENSITIVE.value & ~StateBit.ENABLED.value
    gtk4 = SEEN & ~StateBit.ENABLED.value
    assert "disabled" in drafts(frame(node("push button", "A", states=insensitive)))[0].states
    assert "disabled" not in drafts(frame(node("push button", "A", states=gtk4)), GTK4)[0].states
    assert "disabled" in drafts(frame(node("push button", "A", states=insensitive)), GTK4)[0].states


def test_open_menu_of_java_is_not_checked() -> None:
    top = frame(node("menu", "File", states=SEEN | StateBit.CHECKED.value))
    assert "checked" not in drafts(top, f"{JAVA} 1.0")[0].states


def test_no_field_of_a_page_has_the_focus_of_its_document() -> None:
    top = page(node("entry", "Message", text=""))
    top.children[0].states |= StateBit.FOCUSED.value
    assert "focused" not in drafts(top, CHROMIUM)[0].states


def test_selected_item_has_the_focus_of_its_list() -> None:
    item = node("list item", "one", states=SEEN | StateBit.SELECTED.value)
    found = drafts(frame(node("list box", "", Rect(0, 0, 300, 300), item, states=SEEN | StateBit.FOCUSED.value)))
    assert "focused" in found[0].states


def test_path_names_ancestors_that_mean_something() -> None:
    deep = node(
        "filler",
        "",
        Rect(0, 0, 500, 400),
        node("tool bar", "Standard", Rect(0, 0, 500, 40), node("push button", "New")),
    )
    assert drafts(frame(deep))[0].path == ("frame:App", "tool bar:Standard")


def test_part_of_a_page_that_is_typed_into_keeps_its_name() -> None:
    editable = SEEN | StateBit.EDITABLE.value | StateBit.FOCUSABLE.value
    note = node("section", "Note", Rect(10, 10, 100, 40), static("x"), states=editable, text="x")
    rich = node("section", "Rich", Rect(10, 60, 100, 40), static("one"), states=editable, text="\ufffc")
    found = drafts(page(note, rich), CHROMIUM)
    assert [(draft.role, draft.name, draft.text) for draft in found] == [
        ("section", "Note", "x"), ("section", "Rich", "one")
    ]  # fmt: skip


def test_paragraph_keeps_its_own_text_beside_what_stands_in_it() -> None:
    editable = SEEN | StateBit.EDITABLE.value | StateBit.FOCUSABLE.value
    picture = node("image", "Map", Rect(10, 30, 40, 40))
    words = node("paragraph", "", Rect(10, 10, 400, 80), picture, states=editable, text="Turn left \ufffchere")
    words.interfaces |= {"Text"}
    found = drafts(frame(node("document text", "Way", Rect(0, 0, 500, 400), words)))
    assert [(draft.role, draft.name, draft.text) for draft in found] == [
        ("paragraph", "", "Turn left here"), ("image", "Map", None)
    ]  # fmt: skip


def test_shape_is_clicked_where_its_text_stands() -> None:
    line = node("paragraph", "", Rect(20, 80, 60, 10), text="Note")
    editable = SEEN | StateBit.EDITABLE.value
    box = Rect(10, 10, 200, 100)
    shape = node("shape", "Text Frame", box, line, states=editable, text="Note", text_at=(line.ref,))
    [found] = drafts(frame(node("document presentation", "Talk", Rect(0, 0, 500, 400), shape)))
    assert (found.role, found.text, found.target) == ("shape", "Note", line.rect)


def test_tooltip_of_gtk_4_is_left_out_whatever_its_role() -> None:
    tip = node("panel", "GtkTooltipWindow", Rect(0, 0, 90, 30), node("label", "Save the file"))
    assert named(frame(tip, node("push button", "Save", Rect(10, 50, 80, 20))), GTK4) == [("push button", "Save")]


def test_label_drawn_instead_of_a_hidden_check_box_is_one() -> None:
    ticked = SEEN & ~StateBit.SHOWING.value | StateBit.CHECKED.value
    inside = node("label", "", Rect(10, 10, 80, 20), node("check box", "News", states=ticked), static("News"))
    box = node("radio button", "Monthly", Rect(0, 0, 1, 1), states=ticked)
    beside = node("label", "Monthly", Rect(10, 40, 80, 20))
    plain = node("label", "Weekly", Rect(10, 70, 80, 20))
    found = drafts(page(inside, node("section", "", Rect(0, 30, 300, 30), box, beside), plain), CHROMIUM)
    assert [(draft.role, draft.name, "checked" in draft.states) for draft in found] == [
        ("check box", "News", True), ("radio button", "Monthly", True), ("label", "Weekly", False)
    ]  # fmt: skip
    assert found[1].area == beside.rect


def test_label_of_a_check_box_that_is_seen_stays_a_label() -> None:
    label = node("label", "", Rect(10, 10, 90, 20), node("check box", "News", Rect(10, 10, 20, 20)), static("News"))
    assert [role for role, _ in named(page(label), CHROMIUM)].count("check box") == 1


def test_list_item_that_holds_no_more_than_a_link_is_that_link() -> None:
    only = node("list item", "", Rect(0, 10, 300, 20), node("link", "Home", Rect(0, 10, 60, 20), static("Home")))
    more = node(
        "list item", "", Rect(0, 40, 300, 20), static("Go "), node("link", "Away", Rect(30, 40, 60, 20), static("Away"))
    )
    assert named(page(node("list", "", Rect(0, 0, 300, 200), only, more)), CHROMIUM) == [
        ("link", "Home"), ("list item", "Go Away"), ("link", "Away")
    ]  # fmt: skip


def test_large_empty_panel_that_takes_the_keyboard_is_drawn_in() -> None:
    focusable = SEEN | StateBit.FOCUSABLE.value
    picture = node("panel", "", Rect(10, 10, 300, 200), states=focusable)
    small = node("panel", "", Rect(320, 10, 90, 90), states=focusable)
    found = drafts(frame(picture, small, node("panel", "", Rect(10, 220, 300, 200))))
    assert [(draft.role, draft.area) for draft in found] == [("panel", picture.rect)]


def test_dot_before_a_list_item_is_neither_an_element_nor_part_of_a_name() -> None:
    item = node("list item", "", Rect(0, 10, 300, 20), static("\u2022 ", Rect(0, 10, 8, 20)), static("Milk"))
    assert named(page(item), CHROMIUM) == [("list item", "Milk")]


def test_link_without_a_name_is_described_by_its_address() -> None:
    link = node("link", "", Rect(10, 10, 20, 20), attributes={ADDRESS: "basket"})
    named = node("link", "Basket", Rect(40, 10, 60, 20), attributes={ADDRESS: "basket"})
    found = drafts(page(link, named), CHROMIUM)
    assert [(draft.name, draft.description) for draft in found] == [("", "basket"), ("Basket", "")]


def test_unnamed_control_is_described_by_its_neighbour() -> None:
    name = node("label", "Volume", Rect(10, 10, 60, 20))
    near, far = node("push button", "", Rect(80, 10, 20, 20)), node("push button", "", Rect(80, 200, 20, 20))
    assert [draft.description for draft in drafts(frame(name, near, far))] == ["", "beside Volume", ""]


def test_unnamed_check_boxes_are_labelled_by_the_nearest_text() -> None:
    form = node("label", "Save backups", Rect(10, 10, 90, 20)), node("check box", "", Rect(115, 10, 20, 20))
    row = (
        *(node("check box", "", Rect(10, 40, 20, 20)), node("label", "Bold", Rect(32, 40, 40, 20))),
        *(node("check box", "", Rect(82, 40, 20, 20)), node("label", "Italic", Rect(104, 40, 40, 20))),
    )
    found = [draft for draft in drafts(frame(*form, *row)) if draft.role == "check box"]
    assert [draft.label for draft in found] == ["Save backups", "Bold", "Italic"]


def test_control_in_a_named_box_is_described_by_it() -> None:
    button = node("push button", "", Rect(10, 10, 20, 20))
    assert drafts(frame(node("panel", "Playback", Rect(0, 0, 90, 40), button)))[-1].description == "Playback"


def test_small_picture_of_a_page_without_a_name_may_be_an_icon() -> None:
    def picture(x: int, size: int) -> Node:
        return node("image", "", Rect(x, 10, size, size), attributes={"class": "star"})

    in_button = node("push button", "Rate", Rect(300, 10, 60, 30), picture(310, 20))
    found = drafts(page(picture(10, 24), picture(50, 200), in_button), CHROMIUM)
    assert [(draft.role, draft.name, draft.description) for draft in found] == [
        ("image", "", "star"), ("push button", "Rate", "")
    ]  # fmt: skip


def test_additions_of_chromium_to_names_are_left_out() -> None:
    tab = node("page tab", "News - Memory usage - 34.5 MB")
    picture = node("image", "A cat. To get missing image descriptions, open the context menu.", Rect(10, 40, 50, 50))
    assert [name for _, name in named(page(tab, picture), CHROMIUM)] == ["News", "A cat"]


def test_gtk_field_that_is_not_editable_is_read_only() -> None:
    locked, open_ = node("text", "", text="7"), node("text", "", text="", states=SEEN | StateBit.EDITABLE.value)
    assert "read_only" in drafts(frame(locked))[0].states
    assert "read_only" not in drafts(frame(open_))[0].states
    assert "read_only" not in drafts(page(node("entry", "", text="7")), CHROMIUM)[0].states


def test_parts_of_a_disabled_container_of_gtk4_are_disabled() -> None:
    def found(states: int, toolkit: str) -> Draft:
        box = node("panel", "", PLACE, node("panel", "", PLACE, node("check box", "A")), states=states)
        return drafts(frame(box), toolkit)[0]

    insensitive = SEEN & ~StateBit.SENSITIVE.value
    assert "disabled" in found(insensitive, GTK4).states
    assert "disabled" not in found(SEEN, GTK4).states
    assert "disabled" not in found(insensitive, "Qt 6.4.2").states


def test_title_of_a_group_of_qt_is_a_label_above_its_contents() -> None:
    group = node("panel", "Margins", Rect(10, 10, 200, 90), node("check box", "Equal", Rect(20, 40, 80, 20)))
    bare = node("panel", "Page", Rect(10, 120, 200, 90), node("check box", "Even", Rect(20, 121, 80, 20)))
    assert named(frame(group, bare), "Qt 6.4.2") == [
        ("label", "Margins"),
        ("check box", "Equal"),
        ("check box", "Even"),
    ]
    assert drafts(frame(group), "Qt 6.4.2")[0].area == Rect(10, 10, 200, 30)
    assert named(frame(group)) == [("check box", "Equal")]


def test_box_between_its_states_is_neither_checked_nor_disabled() -> None:
    between = SEEN & ~StateBit.ENABLED.value | StateBit.INDETERMINATE.value | StateBit.CHECKED.value
    states = drafts(frame(node("check box", "All", states=between)))[0].states
    assert "mixed" in states
    assert not states & {"checked", "disabled"}


def test_disabled_entry_without_any_name_is_left_out() -> None:
    off = SEEN & ~StateBit.SENSITIVE.value & ~StateBit.ENABLED.value
    assert named(frame(node("menu item", "", states=off), node("menu item", "Save"))) == [("menu item", "Save")]


def test_text_of_a_combo_box_is_not_repeated() -> None:
    box = node("combo box", "Blue", Rect(10, 10, 90, 20), node("label", "Blue", Rect(12, 12, 60, 16)), choice="Blue")
    bare = node("combo box", "", Rect(10, 40, 90, 20), node("label", "Red", Rect(12, 42, 60, 16)), choice="Red")
    assert [(each.role, each.name, each.text) for each in drafts(frame(box, bare))] == [
        ("combo box", "", "Blue"), ("combo box", "", "Red")
    ]  # fmt: skip


def test_label_far_from_its_hidden_box_is_that_box_where_no_other_is_called_so() -> None:
    def labelled(*names: str, states: int = SEEN & ~StateBit.SHOWING.value) -> list[tuple[str, str]]:
        boxes = [node("check box", name, Rect(0, 300, 1, 1), states=states) for name in names]
        label = node("label", "Gift wrap", Rect(10, 10, 80, 20))
        return named(page(node("section", "", Rect(0, 290, 300, 20), *boxes), label), CHROMIUM)

    assert ("check box", "Gift wrap") in labelled("Gift wrap", "Express")
    assert ("label", "Gift wrap") in labelled("Gift wrap", "Gift wrap")
    assert ("label", "Gift wrap") in labelled("Gift wrap", states=SEEN)


def test_tabs_are_found_again_when_another_one_is_in_front() -> None:
    def path(front: str) -> tuple[str, ...]:
        tabs = node("page tab list", front, WHOLE, node("page tab", "Fonts"), node("page tab", "Icons"))
        return next(draft.path for draft in drafts(frame(tabs)) if draft.name == "Icons")

    assert path("Fonts") == path("Icons") == ("frame:App", "page tab list:")  # Qt names the list after the tab in front
    assert path("Pages") == ("frame:App", "page tab list:Pages")
