from __future__ import annotations

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements import Draft, draft_elements
from aci.accessibility.nodes import Node
from aci.geometry import Rect
from aci.observation import Window
from tests.unit.aci.accessibility.trees import PLACE, SCREEN, SEEN, WINDOW, application, frame, node, page

CHROMIUM, GTK4 = "Chromium 1.0", "GTK 4.8.3"


def drafts(top: Node, toolkit: str = "gtk 3.24.38", windows: tuple[Window, ...] = (WINDOW,)) -> list[Draft]:
    return draft_elements(application(top, toolkit=toolkit), top, WINDOW, windows, SCREEN)


def told(top: Node, toolkit: str = "gtk 3.24.38") -> list[tuple[str, str]]:
    return [(draft.role, draft.name) for draft in drafts(top, toolkit)]


def static(text: str, rect: Rect = PLACE, *children: Node) -> Node:
    return node("static", text, rect, *children)


def test_containers_are_no_elements_and_hidden_nodes_are_not_seen() -> None:
    hidden = node("push button", "Hidden", states=0)
    assert told(frame(node("filler", "", Rect(0, 0, 500, 400), node("push button", "Save"), hidden))) == [
        ("push button", "Save")
    ]


def test_label_that_repeats_its_button_is_left_out() -> None:
    button = node("push button", "Save", Rect(10, 10, 80, 20), node("label", "Save"))
    assert told(frame(button, node("label", "Name:", Rect(10, 40, 50, 20)))) == [
        ("push button", "Save"), ("label", "Name:")
    ]  # fmt: skip


def test_list_item_is_called_by_its_texts_and_its_icon_is_not_used_by_itself() -> None:
    item = node("list item", "", Rect(10, 10, 200, 30), node("icon", "Folder"), node("label", "Home"))
    assert told(frame(item)) == [("list item", "Home")]


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


def test_text_far_away_or_on_another_line_labels_nothing() -> None:
    above, field = node("label", "Title", Rect(80, 10, 60, 20)), node("text", "", Rect(80, 40, 80, 20), text="")
    assert drafts(frame(above, field))[1].label == ""


def test_gtk4_names_are_made_plain() -> None:
    doubled = node("push button", "7 7", Rect(10, 10, 30, 20), node("label", "7", Rect(10, 10, 30, 20)))
    by_class = node("push button", "GtkButton", Rect(50, 10, 30, 20), node("label", "π", Rect(50, 10, 30, 20)))
    entry = node("text", "GtkSourceView", Rect(10, 40, 80, 20), text="x")
    assert told(frame(doubled, by_class, entry), GTK4) == [("push button", "7"), ("push button", "π"), ("text", "")]


def test_hull_of_a_gtk4_menu_button_gives_its_tooltip_to_the_button_in_it() -> None:
    inner = node("push button", "GtkMenuButton", Rect(12, 12, 24, 24))
    hull = node("push button", "GtkMenuButton", Rect(10, 10, 30, 30), inner, description="Primary menu")
    [button] = drafts(frame(hull), GTK4)
    assert (button.area, button.description) == (inner.rect, "Primary menu")


def test_gtk4_drop_down_is_one_element_with_its_choice() -> None:
    covered = node("label", "(None)", Rect(10, 10, 0, 0))
    button = node("push button", "GtkToggleButton", Rect(10, 10, 80, 20), covered, node("label", "Unix (LF)"))
    [combo] = drafts(frame(node("combo box", "GtkDropDown", Rect(10, 10, 90, 20), button)), GTK4)
    assert (combo.role, combo.text) == ("combo box", "Unix (LF)")


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
    assert told(page(heading), CHROMIUM) == [("heading", "Page")]


def test_empty_box_with_a_class_may_be_a_button() -> None:
    icon = node("section", "", Rect(10, 10, 20, 20), attributes={"class": "icon-trash"})
    spacer = node("section", "", Rect(10, 40, 400, 200))
    [found] = drafts(page(icon, spacer), CHROMIUM)
    assert found.description == "icon-trash"


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


def test_item_below_the_fold_is_clipped_by_what_it_scrolls_in() -> None:
    items = [node("list item", f"item {number}", Rect(0, 30 * number, 100, 30)) for number in range(20)]
    scrolled = node("scroll pane", "", Rect(0, 0, 100, 100), node("list", "", Rect(0, 0, 100, 600), *items))
    assert len(drafts(frame(scrolled))) == 4


def test_unmapped_container_does_not_limit_what_is_in_it() -> None:
    tab = node("page tab", "", None, node("text", "", Rect(0, 0, 300, 300), text=""))
    assert told(frame(tab)) == [("text", "")]


def test_disabled_is_told_by_toolkit() -> None:
    insensitive = SEEN & ~StateBit.SENSITIVE.value & ~StateBit.ENABLED.value
    gtk4 = SEEN & ~StateBit.ENABLED.value
    assert "disabled" in drafts(frame(node("push button", "A", states=insensitive)))[0].states
    assert "disabled" not in drafts(frame(node("push button", "A", states=gtk4)), GTK4)[0].states
    assert "disabled" in drafts(frame(node("push button", "A", states=insensitive)), GTK4)[0].states


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


def test_tooltip_of_gtk_4_is_left_out_whatever_its_role() -> None:
    tip = node("panel", "GtkTooltipWindow", Rect(0, 0, 90, 30), node("label", "Save the file"))
    assert told(frame(tip, node("push button", "Save", Rect(10, 50, 80, 20))), GTK4) == [("push button", "Save")]
