from __future__ import annotations

from aci.accessibility.atspi import StateBit
from aci.accessibility.roles import SHAPE
from aci.accessibility.tree.capture import corrected_states
from aci.accessibility.tree.libreoffice import (
    revive_input_lines,
    settle_combo_boxes,
    settle_input_lines,
    settle_shapes,
)
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.trees import PLACE, SEEN, node

DEFUNCT = StateBit.DEFUNCT.value
IN_A_DOCUMENT = (StateBit.EDITABLE | StateBit.FOCUSABLE | StateBit.SELECTABLE).value


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


def shape(*lines: Node, states: int = 0) -> Node:
    drawn = node("panel", "Rectangle", Rect(0, 0, 90, 60), *lines, states=SEEN | IN_A_DOCUMENT | states)
    settle_shapes([drawn])
    return drawn


def test_what_is_drawn_is_a_shape_with_its_text() -> None:
    lines = [node("paragraph", ""), node("paragraph", "")]
    drawn = shape(*lines)
    assert (drawn.role, drawn.text_at) == (SHAPE, (lines[0].ref, lines[1].ref))
    drawn.restore_reported()
    assert (drawn.role, drawn.text_at) == ("panel", ())


def test_a_shape_has_the_keyboard_while_its_text_is_edited() -> None:
    focused, selected = StateBit.FOCUSED.value, StateBit.SELECTED.value
    edited = node("paragraph", "", states=SEEN | focused)
    assert shape(edited, states=selected).has(StateBit.FOCUSED)
    assert not shape(edited).has(StateBit.FOCUSED)
    assert not shape(node("paragraph", ""), states=selected | focused).has(StateBit.FOCUSED)


def test_frames_of_texts_are_no_shapes() -> None:
    frame = node("panel", "Frame1", PLACE, node("paragraph", ""), states=SEEN & ~StateBit.SENSITIVE.value)
    settle_shapes([frame])
    assert frame.role == "panel"


def test_panes_of_a_sheet_show_though_they_deny_it() -> None:
    pane = (StateBit.VISIBLE | StateBit.EDITABLE | StateBit.OPAQUE).value
    cells = pane | StateBit.MANAGES_DESCENDANTS.value
    assert corrected_states("document spreadsheet", pane) & StateBit.SHOWING
    assert corrected_states("table", cells) & StateBit.SHOWING
    assert not corrected_states("table", pane) & StateBit.SHOWING
    assert not corrected_states("table", cells & ~StateBit.OPAQUE.value) & StateBit.SHOWING
