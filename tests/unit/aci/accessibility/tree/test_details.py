"""Details of nodes that are asked for one by one."""

from __future__ import annotations

import pytest

from aci.accessibility.atspi import StateBit
from aci.accessibility.tree.details import selected_below, shortcut_of
from tests.unit.aci.accessibility.trees import SEEN, node


@pytest.mark.parametrize(
    ("binding", "keys"),
    [
        ("s;<Alt>f:s;<Primary><Shift>s", "Ctrl+Shift+S"),  # GTK
        ("o;<Alt>f:o;", ""),
        ("d;<Alt>e:d;Delete", "Delete"),
        ("l;<Alt>v:l;<Alt>Page_Up", "Alt+Page_Up"),
        ("Ctrl+Shift+P", "Ctrl+Shift+P"),  # Qt
        ("Alt+Right", "Alt+Right"),
        ("Ctrl++", "Ctrl++"),
        ("F9", "F9"),
        ("Alt+S", ""),  # a mnemonic
        ("<Space>", ""),  # GTK 4: activates what has the focus
        ("Ctrl+Space", "Ctrl+Space"),
        ("", ""),
        (";;", ""),
    ],
)
def test_shortcut_is_read_from_a_key_binding(binding: str, keys: str) -> None:
    assert shortcut_of(binding) == keys


def test_choice_of_a_combo_box_may_be_in_a_group() -> None:
    chosen = node("menu item", "Red", states=SEEN | StateBit.SELECTED.value)
    group = node("panel", "Warm", None, chosen)
    assert selected_below(node("combo box", "", None, node("menu", "", None, group)), 3) is chosen
