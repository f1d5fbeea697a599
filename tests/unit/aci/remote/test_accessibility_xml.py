"""The accessibility tree as XML: what is read from it, and that it survives the way there and back."""

from __future__ import annotations

import pytest

from aci.accessibility.atspi import StateBit
from aci.errors import UnreadableTree
from aci.observation.geometry import Rect
from aci.remote.accessibility_xml import read_tree, write_tree
from tests.unit.aci.remote.trees import notes


def by_name(xml: str) -> dict[str, object]:
    [application] = read_tree(xml)
    return {node.name or node.role: node for node in application.nodes.values()}


def test_roles_states_places_values_and_texts_are_read() -> None:
    nodes = by_name(notes("milk\nbread"))
    save, wrap, zoom, text = (nodes[name] for name in ("Save", "Wrap", "Zoom", "text"))
    assert (save.role, save.rect) == ("push button", Rect(20, 30, 60, 24))
    assert wrap.has(StateBit.CHECKED) and not save.has(StateBit.CHECKED)
    assert zoom.value == 0.5
    assert text.text == "milk\nbread" and text.has(StateBit.MULTI_LINE)
    assert nodes["Hidden"].rect is None


def test_the_old_namespaces_are_understood() -> None:
    old = notes()
    for part in ("state", "component", "attributes", "value"):
        old = old.replace(f"https://accessibility.ubuntu.example.org/ns/{part}", f"uri:deskat:{part}.at-spi.gnome.org")
    assert write_tree(read_tree(old)) == write_tree(read_tree(notes()))


def test_a_tree_survives_writing_and_reading() -> None:
    first = write_tree(read_tree(notes('a < b & "c"'.replace("<", "&lt;").replace("&lt; b &", "&lt; b &amp;"))))
    assert write_tree(read_tree(first)) == first
    assert 'a &lt; b &amp; "c"' in first


def test_passwords_are_not_shown() -> None:
    secret = notes("hunter2").replace("<text ", "<password-text ").replace("</text>", "</password-text>")
    assert by_name(secret)["password text"].text == "•••••••"


def test_controls_of_the_same_name_are_different_objects() -> None:
    twice = notes().replace('name="Hidden"', 'name="Save"')
    [application] = read_tree(twice)
    assert len([node for node in application.nodes.values() if node.name == "Save"]) == 2


def test_pages_of_chromium_are_recognized_by_their_attributes() -> None:
    page = notes().replace('attr:toolkit="gtk"', "").replace('<text name=""', '<text name="" attr:name-from="value"')
    assert read_tree(page)[0].toolkit == "Chromium"


@pytest.mark.parametrize(
    ("xml", "reason"),
    [("", "not XML"), (notes()[:400], "not XML"), ("<html/>", "root is 'html'"), ("null", "not XML")],
)
def test_half_a_tree_is_an_error_that_says_why(xml: str, reason: str) -> None:
    with pytest.raises(UnreadableTree, match=reason):
        read_tree(xml)


def test_characters_that_xml_forbids_are_left_out() -> None:
    [application] = read_tree(notes("a\x00b\x0bc"))
    assert "abc" in [node.text for node in application.nodes.values()]
