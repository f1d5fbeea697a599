from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.geometry import Rect
from aci.identity import describe, find_again
from aci.observation import Element, Observation, Window

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


def test_unnamed_fields_are_told_apart_by_their_label() -> None:
    name, city = element(1, "", "entry", label="Name"), element(2, "", "entry", label="City")
    assert found(city, seen(name, city), seen(replace(name, id=11), replace(city, id=12))) == 12


def test_unnamed_fields_are_told_apart_by_their_ancestors() -> None:
    toolbar, page = element(1, "", "entry", path=("tool bar:",)), element(2, "", "entry", path=("page tab:", "panel:"))
    assert found(page, seen(toolbar, page), seen(replace(toolbar, id=11), replace(page, id=12))) == 12


def test_twins_are_told_apart_by_their_order() -> None:
    one, two = element(1, "OK"), element(2, "OK")
    assert found(two, seen(one, two), seen(replace(one, id=11), replace(two, id=12))) == 12


def test_a_twin_that_is_gone_is_not_replaced_by_the_other() -> None:
    one, two, three = (element(number, "OK") for number in (1, 2, 3))
    assert found(three, seen(one, two, three), seen(one, two)) is None
