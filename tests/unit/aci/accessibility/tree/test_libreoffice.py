from __future__ import annotations

from aci.accessibility.atspi import StateBit
from aci.accessibility.tree.libreoffice import revive_input_lines, settle_combo_boxes, settle_input_lines
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.trees import SEEN, node

DEFUNCT = StateBit.DEFUNCT.value


def test_input_line_becomes_a_text_field() -> None:
    line = node("panel", "Input line", Rect(0, 0, 900, 16), node("paragraph", ""), states=DEFUNCT)
    candidates = revive_input_lines([node("filler", "", Rect(0, 0, 900, 20), line)])
    settle_input_lines(candidates)
    assert (line.role, line.text_at) == ("text", (line.children[0].ref,))
    assert line.has(StateBit.SHOWING)


def test_other_defunct_panels_stay_gone() -> None:
    dead = node("panel", "Old", Rect(0, 0, 90, 16), node("push button", "x"), states=DEFUNCT)
    settle_input_lines(revive_input_lines([node("filler", "", Rect(0, 0, 900, 20), dead)]))
    assert not dead.has(StateBit.SHOWING)
    assert dead.role == "panel"


def test_button_of_a_combo_box_is_one_and_is_labelled_as_it() -> None:
    hidden, entry = node("combo box", "", None, states=0), node("text", "", None, states=0)
    button = node("toggle button", "", states=SEEN | StateBit.CHECKED.value)
    settle_combo_boxes([node("filler", "", Rect(0, 0, 90, 20), entry, hidden, button)])
    assert (button.role, button.labelled_as) == ("combo box", hidden.ref)
    assert button.has(StateBit.EXPANDED)
    assert not button.has(StateBit.CHECKED)


def test_editable_combo_box_keeps_its_entry() -> None:
    hidden, entry = node("combo box", "", None, states=0), node("text", "")
    button = node("toggle button", "")
    settle_combo_boxes([node("filler", "", Rect(0, 0, 90, 20), entry, hidden, button)])
    assert (button.role, entry.labelled_as) == ("toggle button", hidden.ref)
