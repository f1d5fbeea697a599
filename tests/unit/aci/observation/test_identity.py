from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.identity import describe, find_again, titles_agree
from aci.observation.observation import Element, Observation, Window

WINDOW = Window(1, "draft.txt", "editor", Rect(0, 0, 800, 600), active=True)


def element(element_id: int, name: str, role: str = "push button", **more: object) -> Element:
    rect = Rect(0, 30 * element_id, 50, 20)
    return replace(Element(element_id, role, name, rect, rect.center, 1, app="editor"), **more)  # type: ignore[arg-type]


def seen(*elements: Element) -> Observation:
    return Observation(np.zeros((1, 1, 3), np.uint8), elements, (WINDOW,))


def found(target: Element, before: Observation, after: Observation) -> int | None:
    again = find_again(describe(target, before), after)
    return again.id if again else None


def test_found_by_name_wherever_it_is() -> None:
    save = element(1, "Save")
    assert found(save, seen(save), seen(element(5, "Open"), element(9, "Save"))) == 9


def test_another_name_is_another_element() -> None:
    save = element(1, "Save")
    assert found(save, seen(save), seen(element(1, "Delete"))) is None


def test_another_role_or_application_is_another_element() -> None:
    save = element(1, "Save")
    assert found(save, seen(save), seen(element(2, "Save", role="label"), element(3, "Save", app="shell"))) is None


def test_unnamed_fields_are_distinguished_by_their_label() -> None:
    name, city = element(1, "", "entry", label="Name"), element(2, "", "entry", label="City")
    assert found(city, seen(name, city), seen(replace(name, id=11), replace(city, id=12))) == 12


def test_unnamed_fields_are_distinguished_by_their_ancestors() -> None:
    toolbar, page = element(1, "", "entry", path=("tool bar:",)), element(2, "", "entry", path=("page tab:", "panel:"))
    assert found(page, seen(toolbar, page), seen(replace(toolbar, id=11), replace(page, id=12))) == 12


def test_a_field_to_type_into_is_not_mistaken_for_one_that_only_shows_something() -> None:
    entry = element(1, "", "text")
    status = element(2, "", "text", states=frozenset({"read_only"}))
    result = element(9, "12", "label")
    assert found(entry, seen(entry, status), seen(result, replace(entry, id=11), replace(status, id=12))) == 11
    assert found(entry, seen(entry, status), seen(status)) is None


def test_twins_are_distinguished_by_their_order() -> None:
    one, two = element(1, "OK"), element(2, "OK")
    assert found(two, seen(one, two), seen(replace(one, id=11), replace(two, id=12))) == 12


def test_a_twin_that_is_gone_is_not_replaced_by_the_other() -> None:
    one, two, three = (element(number, "OK") for number in (1, 2, 3))
    assert found(three, seen(one, two, three), seen(one, two)) is None


def test_element_without_a_twin_is_not_chosen_among_several() -> None:
    one, two = element(1, "OK"), element(2, "OK")
    assert found(one, seen(one), seen(one, two)) is None


def test_of_twins_that_became_fewer_none_is_taken_for_another() -> None:
    one, two = element(1, "OK"), element(2, "OK")
    assert found(one, seen(one, two), seen(two)) is None


def test_twins_with_equal_neighbours_are_distinguished_by_their_order_among_all() -> None:
    before = rows("Final", "Draft", "Draft")
    assert found(before[3], seen(*before), seen(*before)) == before[3].id
    assert found(before[5], seen(*before), seen(*before)) == before[5].id
    assert found(before[3], seen(*before), seen(*rows("Draft", "Draft"))) is None


def test_of_several_windows_the_topmost_is_meant() -> None:
    ok = element(1, "OK")
    second = Window(2, "notes.txt", "editor", Rect(0, 0, 800, 600))
    after = Observation(np.zeros((1, 1, 3), np.uint8), (ok, replace(ok, id=2, window_id=2)), (WINDOW, second))
    found_again = find_again(describe(ok, seen(ok)), after)
    assert found_again is not None and found_again.id == 1


def test_a_menu_bar_is_found_whatever_document_the_title_names() -> None:
    view = element(1, "View", "menu", path=("frame:report", "menu bar:"))
    another = replace(WINDOW, title="Viewer")
    for path, expected in ((("frame:Viewer", "menu bar:"), 7), (("dialog:Viewer", "panel:"), None)):
        again = replace(view, id=7, path=path)
        after = Observation(np.zeros((1, 1, 3), np.uint8), (again,), (another,))
        found_again = find_again(describe(view, seen(view)), after)
        assert (found_again and found_again.id) == expected


def test_the_same_button_of_a_dialog_in_between_is_another_element() -> None:
    ok = element(1, "OK", path=("dialog:Options",))
    dialog = Window(2, "Save changes?", "editor", Rect(0, 0, 300, 200), active=True)
    options = Window(1, "Options", "editor", Rect(0, 0, 800, 600))
    before = Observation(np.zeros((1, 1, 3), np.uint8), (ok,), (options,))
    other = replace(ok, id=9, window_id=2, path=("dialog:Save changes?",))
    assert find_again(describe(ok, before), Observation(before.screenshot, (other,), (dialog, options))) is None


def test_a_field_with_another_label_is_another_element() -> None:
    city = element(1, "", "entry", label="City")
    assert found(city, seen(city), seen(replace(city, id=11, label="Country"))) is None


def test_the_same_button_of_another_group_is_another_element() -> None:
    edit = element(1, "Edit", path=("frame:Editor", "panel:Alice", "filler:"))
    assert found(edit, seen(edit), seen(replace(edit, id=2, path=("frame:Editor", "panel:Bob", "filler:")))) is None


def rows(*names: str) -> list[Element]:
    made: list[Element] = []
    for number, name in enumerate(names):
        left, right = Rect(0, 40 * number, 80, 20), Rect(100, 40 * number, 50, 20)
        made.append(replace(element(10 * number, name, "label"), rect=left))
        made.append(replace(element(10 * number + 1, "Delete"), rect=right))
    return made


def test_twins_are_distinguished_by_their_neighbours() -> None:
    before = rows("Alice", "Bob", "Carol")
    again = found(before[3], seen(*before), seen(*rows("Carol", "Alice", "Bob")))
    assert again == 21


def test_a_row_that_is_gone_is_not_replaced_by_its_neighbour() -> None:
    before = rows("Alice", "Bob", "Carol")
    assert found(before[3], seen(*before), seen(*rows("Alice", "Carol"))) is None
    assert found(before[3], seen(*before), seen(*rows("Carol"))) is None


def test_titles_of_a_window_at_different_times_agree() -> None:
    assert titles_agree("Untitled 1 - Mousepad", "*draft.txt - Mousepad")
    assert titles_agree("Untitled 1", "Untitled 2") and titles_agree("", "")
    assert not titles_agree("Save As", "Error") and not titles_agree("Save As", "")
    assert titles_agree("~/sample.txt", "*/home/ada/letters/to mother.txt")  # of an editor that shows nothing else
    assert not titles_agree("~/sample.txt", "Preferences")


def test_containers_that_toolkits_add_at_times_make_no_difference() -> None:
    menu = ("frame:Calculator", "menu:GtkPopoverMenu", "filler:GtkPopoverContent")
    item = element(1, "Financial", "radio menu item", path=menu)
    staged = element(2, "Financial", "radio menu item", path=(*menu, "panel:GtkStackPage"))
    assert found(item, seen(item), seen(staged)) == 2
    assert found(staged, seen(staged), seen(item)) == 1
