"""The accessibility tree as XML, in the form that OSWorld's server sends.

The root is `desktop-frame`, with one element per application. An element is named after its role (`push-button`) and
has its name, states, place, value and object attributes as XML attributes; its text is that of its text interface.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from aci.accessibility import roles
from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.tree.details import LONGEST_TEXT, selected_below
from aci.accessibility.tree.nodes import Application, Node
from aci.errors import UnreadableTree
from aci.observation.cell_addresses import parse_address
from aci.observation.geometry import Rect

PREFIXES = {
    "st": "state", "attr": "attributes", "cp": "component", "doc": "document", "docattr": "document/attributes",
    "txt": "text", "val": "value", "act": "action",
}  # fmt: skip
NAMESPACES = {prefix: f"https://accessibility.ubuntu.example.org/ns/{part}" for prefix, part in PREFIXES.items()}
"""Prefixes and their URIs, as OSWorld's server writes them."""

MOST_BYTES = 100_000_000
_OLD_URI = re.compile(r"uri:deskat:(\w+)\.at-spi\.gnome\.org")
_KEY = re.compile(r"\{([^}]*)\}(.*)", re.DOTALL)
_PAIR = re.compile(r"\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_A_NAME = re.compile(r"[^\w.-]+")
_PREFIX_OF = {uri: prefix for prefix, uri in NAMESPACES.items()}
_STATE_BITS = {(bit.name or "").casefold(): bit for bit in StateBit}
_ROLE_OF = {"button": "push button"}  # renamed in AT-SPI 2.52
_TOOLKITS = {"GTK": "GTK 4"}  # as nodes and applications name it
_SHOWN = StateBit.SHOWING | StateBit.VISIBLE


def read_tree(xml: str) -> list[Application]:
    """Read the applications from XML, with extents where the server gives them.

    Objects have no identity in XML: each is named by its place among those of the same role and name.

    Raises:
        UnreadableTree: It is not XML of this form.
    """
    if len(xml) > MOST_BYTES:
        raise UnreadableTree(f"it has more than {MOST_BYTES} characters")
    try:
        root = ElementTree.fromstring(_NOT_XML.sub("", xml))
    except ElementTree.ParseError as error:
        raise UnreadableTree(f"it is not XML ({error})") from error
    if root.tag not in ("desktop-frame", "desktop"):
        raise UnreadableTree(f"its root is {root.tag!r}, not 'desktop-frame'")
    counted: Counter[str] = Counter()
    applications = []
    for element in root:
        name = element.get("name", "")
        counted[name] += 1
        applications.append(_application(element, f"{name}#{counted[name]}"))
    return applications


def _application(element: ElementTree.Element, connection: str) -> Application:
    root = _node(element, connection, "", None, False)
    application = Application(root=root.ref, name=root.name, pid=0, toolkit="", introduced=True)
    pending = [(element, root, False)]
    toolkit = root.attributes.get("toolkit", "")
    while pending:
        inner, node, in_sheet = pending.pop()
        in_sheet = in_sheet or node.role == "document spreadsheet"
        counted: Counter[tuple[str, str]] = Counter()
        for child in inner:
            key = (child.tag, child.get("name", "")[:80])
            counted[key] += 1
            path = f"{node.ref.path}/{key[0]}:{key[1]}#{counted[key]}"
            made = _node(child, connection, path, node, in_sheet)
            toolkit = toolkit or made.attributes.get("toolkit", "") or _named_by(made)
            node.children.append(made)
            application.nodes[made.ref] = made
            pending.append((child, made, in_sheet))
        node.child_count = len(node.children)
    application.tops = root.children
    application.toolkit = _TOOLKITS.get(toolkit, toolkit)
    for node in application.nodes.values():
        if node.role == "combo box" and not node.has(StateBit.EDITABLE):
            chosen = selected_below(node, 2)
            node.choice = chosen.name or None if chosen is not None else None
    return application


def _node(element: ElementTree.Element, connection: str, path: str, parent: Node | None, in_sheet: bool) -> Node:
    role = element.tag.rpartition("}")[2].replace("-", " ")
    role = _ROLE_OF.get(role, role)
    given: dict[str, dict[str, str]] = {prefix: {} for prefix in PREFIXES}
    for key, value in element.attrib.items():
        if (match := _KEY.fullmatch(key)) is not None and (prefix := _prefix(match[1])) is not None:
            given[prefix][match[2]] = value
    states = 0
    for state, value in given["st"].items():
        states |= _STATE_BITS[state].value if value == "true" and state in _STATE_BITS else 0
    editable = bool(states & StateBit.EDITABLE) or role in roles.FIELDS
    text = element.text or ""
    interfaces = {name for name, there in (("Image", "image"), ("Selection", "selection")) if element.get(there)}
    interfaces |= {"Text"} if text or editable else set()
    interfaces |= ({"Value"} if given["val"] else set()) | ({"Action"} if given["act"] else set())
    name = element.get("name", "")
    return Node(
        ref=Ref(connection, path),
        parent=parent.ref if parent is not None else None,
        role=role,
        name=name,
        description=element.get("description", ""),
        states=states,
        interfaces=frozenset(interfaces),
        index=len(parent.children) if parent is not None else 0,
        rect=_rect(given["cp"]),
        text=_text(role, text, editable) if editable or (text and not name) else None,
        value=_number(given["val"].get("value", "")) if role in roles.VALUED else None,
        attributes=given["attr"],
        cell=parse_address(name) if in_sheet and role == "table cell" else None,
        asked=True,
    )


def _named_by(node: Node) -> str:
    """Return the toolkit of a node that does not name it; only Chromium says where a name is from."""
    return "Chromium" if "name-from" in node.attributes else ""


def _text(role: str, text: str, editable: bool) -> str | None:
    if role in roles.VALUED and not text:
        return None
    return "•" * len(text) if role == "password text" else text[:LONGEST_TEXT] if text or editable else None


def _prefix(uri: str) -> str | None:
    if uri in _PREFIX_OF:
        return _PREFIX_OF[uri]
    old = _OLD_URI.fullmatch(uri)
    return next((prefix for prefix, part in PREFIXES.items() if old and part == old[1]), None)


def _rect(component: dict[str, str]) -> Rect | None:
    corner, size = (_PAIR.fullmatch(component.get(key, "").strip()) for key in ("screencoord", "size"))
    if corner is None or size is None or int(size[1]) < 0 or int(size[2]) < 0:
        return None
    return Rect(int(corner[1]), int(corner[2]), int(size[1]), int(size[2]))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) != float("inf") and number == number else None


def write_tree(applications: Iterable[Application]) -> str:
    """Return the XML of applications whose details have been read."""
    for prefix, uri in NAMESPACES.items():
        ElementTree.register_namespace(prefix, uri)
    root = ElementTree.Element("desktop-frame")
    for application in applications:
        attributes = {
            "name": xml_text(application.name),
            _key("attr", "toolkit"): xml_text(application.toolkit),
        }
        inner = ElementTree.SubElement(root, "application", attributes)
        pending = [(inner, top) for top in reversed(application.tops)]
        while pending:
            around, node = pending.pop()
            made = ElementTree.SubElement(around, _tag(node.role), dict(_attributes(node, application.shows_by)))
            text = node.text or node.choice or ""
            made.text = xml_text(text.replace("\ufffc", "").replace("\ufffd", "")) or None
            pending += [(made, child) for child in reversed(node.children)]
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(node: Node, shows_by: StateBit) -> Iterator[tuple[str, str]]:
    yield "name", xml_text(node.name)
    if node.description:
        yield "description", xml_text(node.description)
    yield from ((name, "true") for name in ("image", "selection") if name.capitalize() in node.interfaces)
    # GTK 4 does not maintain SHOWING; who reads this looks for both.
    states = node.states | (_SHOWN.value if node.has(shows_by) and node.has(StateBit.VISIBLE) else 0)
    yield from ((_key("st", state), "true") for state, bit in _STATE_BITS.items() if states & bit)
    yield from ((_key("attr", _tag(key)), xml_text(value)) for key, value in node.attributes.items())
    if node.rect is not None and states & _SHOWN.value == _SHOWN.value:
        yield _key("cp", "screencoord"), f"({node.rect.x}, {node.rect.y})"
        yield _key("cp", "size"), f"({node.rect.width}, {node.rect.height})"
    if node.value is not None:
        yield _key("val", "value"), str(node.value)


def _key(prefix: str, name: str) -> str:
    return f"{{{NAMESPACES[prefix]}}}{name}"


def _tag(name: str) -> str:
    """Return a name that XML allows, "unknown" for one of which nothing is left."""
    tag = _NOT_A_NAME.sub("-", name).strip("-.")
    return tag if tag and not tag[0].isdigit() else f"_{tag}" if tag else "unknown"


def xml_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return _NOT_XML.sub("", text)
