"""Names, labels, descriptions and states of nodes, without the peculiarities of toolkits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aci.accessibility import roles
from aci.accessibility.atspi import NAMED_STATES, StateBit
from aci.accessibility.tree.nodes import GECKO, JAVA, Application, Node
from aci.accessibility.tree.rich_text import without_markup
from aci.accessibility.tree.text_runs import spoken_text
from aci.observation.snapshot import State

DEEPEST_CONTENT = 8  # levels searched for texts that name a node
LONGEST_NAME = 1000

_SPACES = re.compile(r"\s+")
# invisible marks that set the direction of writing
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_GTK_CLASS = re.compile(r"(?:Gtk|Adw|Gd|Hdy|Editor|Math|[A-Z][a-z]+(?=[A-Z]))[A-Za-z]*")
# classes of widgets as names of containers and fields, where no person would read such a name
_CLASS = re.compile(r"(?:Gtk|Gdk|Adw|Hdy|Q|K|wx|J)(?:[A-Z][a-z]+)+")
_CLASSES_NAME = roles.PLAIN | roles.SURFACES | roles.FIELDS
_SHAPE = re.compile(r"((?:[A-Z][a-z]*)+)Shape(?:: (.+)| ?([0-9]*))")  # LibreOffice's kinds of objects
_ICON_FILE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*-symbolic")  # of icon themes
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OBJECT_REPLACEMENT = "\ufffc"
# what Chromium appends to names
_CHROMIUM_ADDS = re.compile(
    r"\.? ?To get missing image descriptions, open the context menu\.$| - Memory usage - [0-9.,]+ [KMGT]?B$"
)
_COUNT = re.compile(r"[0-9](?:[0-9.,\u00a0\u202f]*[0-9])?\+?")  # such as 7, 1,204 or 99+
_MARKER = re.compile("[\u2022\u25e6\u25aa\u25ab\u25a0\u25cb\u2023\u2043] ?")  # list bullet
# SVG tags; Chromium lists unnamed shapes only if they take clicks
SHAPES = frozenset({"circle", "ellipse", "line", "path", "polygon", "polyline", "rect"})
_SIZED = frozenset({"slider", "scroll bar", "progress bar", "level bar"})
_CAN_BE_DISABLED = roles.BUTTONS | roles.CHECKABLE | roles.MENU_ENTRIES | roles.FIELDS | frozenset({"link", "page tab"})
_WRITTEN_IN = frozenset({"text", "entry", "password text"})
_PICTURES = frozenset({"image", "icon"})
_PARTS = _PICTURES | {"table cell", "link"}  # interactive roles whose names may still be part of their container's name
_WIDEST_EXTENSION_PX = 16  # of the button that shows the rest of a tool bar
ADDRESS = "address"  # attribute with the address of a link without a name
_PLACEHOLDERS = ("placeholder-text", "placeholder")


def collapse(text: str) -> str:
    """Return a text on one line, without invisible characters and placeholders of embedded objects."""
    return _SPACES.sub(" ", _UNSEEN.sub("", text).replace(_OBJECT_REPLACEMENT, " ")).strip()


def without_additions(name: str) -> str:
    """Return a name without what Chromium appends to it."""
    return _CHROMIUM_ADDS.sub("", name)


def shown_text(application: Application, text: str) -> str:
    """Return the text that a person sees of a name or description."""
    formatted = application.toolkit.startswith("Qt") or (is_java(application) and text[:6].casefold() == "<html>")
    return without_markup(text) if formatted else text


def is_java(application: Application) -> bool:
    """Return whether an application uses Swing or AWT."""
    return application.toolkit.startswith(JAVA)


def is_marker(text: str) -> bool:
    """Return whether a text is only a list bullet."""
    return _MARKER.fullmatch(text) is not None


def is_gtk4(application: Application) -> bool:
    """Return whether an application uses GTK 4."""
    return application.toolkit.startswith("GTK 4")


def visible_children(application: Application, node: Node) -> Iterator[Node]:
    """Yield the visible children."""
    shows = application.shows_by.value
    return (child for child in node.children if child.states & shows)


def own_name(application: Application, node: Node) -> str:
    """Return the name that the application gives a node, or "" for one that means nothing to a person.

    Qt appends the shortcut to the entries of the menu of a text field, behind a tab. GTK 4 before 4.10 names a widget
    without a name after its class, and one with a label after the label, twice.
    """
    said = node.name.partition("\t")[0] if node.role in roles.MENU_ENTRIES else node.name
    name = collapse(shown_text(application, said))
    if name and application.toolkit.startswith("Chromium"):
        return without_additions(name)
    if (_CLASS.fullmatch(name) and node.role in _CLASSES_NAME) or (
        _ICON_FILE.fullmatch(name) and node.role in _PICTURES
    ):
        return ""
    if shape := _SHAPE.fullmatch(name):
        return shape[2] or f"{_CAPITAL.sub(' ', shape[1])} shape {shape[3] or ''}".rstrip()
    if not name or not is_gtk4(application):
        return name
    if _GTK_CLASS.fullmatch(name) and node.role not in roles.READ_AS_TEXT - roles.ITEMS - {"text"}:
        return ""
    if node.role == "label" and name == "GtkLabel":
        return ""
    if node.role in roles.ITEMS and node.role.endswith(name.casefold()):
        return ""  # as the tabs of a notebook, "Tab"
    for doubled in (name, name.replace("_", "", 1)):  # the first of the two may mark its mnemonic
        half = len(doubled) // 2
        if len(doubled) % 2 and doubled[half] == " " and doubled[:half] == doubled[half + 1 :]:
            return doubled[:half]
    unmarked = name.replace("_", "", 1)  # a check box has its label's text with the mark, and the label without
    return unmarked if unmarked in (child.name for child in node.children) else name


def full_name(application: Application, node: Node, document: bool) -> str:
    """Return the name of a node, or else the texts in it.

    In a web page (`document`) a list item or cell may hold anything; it is named by its content only if that is nothing
    but running text.
    """
    name = own_name(application, node)
    if not name and not is_field(node):
        said = "" if node.runs else spoken_text(node)
        name = collapse(said) or (collapse(flowing_text(application, node) or "") if document else "")
    if (
        not name
        and node.role in roles.NAMED_BY_CONTENT
        and not is_field(node)
        and not (document and node.role in roles.ITEMS)
    ):
        name = _content(application, expander_title(application, node) or node)
    return name[:LONGEST_NAME]


def expander_title(application: Application, node: Node) -> Node | None:
    """Return the row of a GTK 4 expander that shows its title; None for other nodes.

    The only child of an expander is a box, which holds the title above what it reveals.
    """
    if not (is_gtk4(application) and node.role in roles.BUTTONS and node.has(StateBit.EXPANDABLE)):
        return None
    rows = node.children[0].children if [child.role for child in node.children] == ["panel"] else []
    return rows[0] if rows and rows[0].role == "panel" else None


def is_field(node: Node) -> bool:
    """Return whether a node's text is its content, which the user may change, and not its name."""
    return node.role in roles.FIELDS or node.has(StateBit.EDITABLE) or node.cell is not None


def flowing_text(application: Application, node: Node) -> str | None:
    """Return the text of a node that holds only running text and links, else None."""
    parts: list[str] = []
    for index, child in enumerate(visible_children(application, node)):
        if child.role not in roles.INLINE:
            return None
        if not index and is_marker(child.name):
            continue
        inner = flowing_text(application, child) if child.children else None
        parts.append(inner if inner is not None else child.name or child.text or "")
        if child.children and inner is None and any(visible_children(application, child)):
            return None
    return "".join(parts) if parts else None


def label_of(application: Application, node: Node) -> str:
    """Return the texts of the objects that label a node.

    Qt also names the box around a field as its label; that is a heading of others as well, and counts only for want of
    another name.
    """
    targets = [application.nodes[ref] for ref in node.labels if ref in application.nodes]
    own = [target for target in targets if not _is_around(application, target, node)]
    targets = own if own or node.name else targets
    texts = [collapse(target.name or target.text or _content(application, target)) for target in targets]
    return " ".join(text for text in texts if text)


def _is_around(application: Application, outer: Node, node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent != outer.ref and parent in application.nodes:
        parent = application.nodes[parent].parent
    return parent == outer.ref


def _content(application: Application, node: Node) -> str:
    """Return the texts in a node; the names of pictures only if there are no texts."""
    found = list(_named_in(application, node, DEEPEST_CONTENT))
    texts = [text for role, text in found if role not in _PICTURES] or [text for _, text in found]
    return collapse(" ".join(dict.fromkeys(collapse(text) for text in texts)))


def count_in(application: Application, node: Node, name: str) -> str:
    """Return the number that a row shows at its end, such as the messages in a folder; "" if there is none.

    It is a text of its own, after one in letters: the number in "Layer 1" is a part of the name, as is the result of a
    calculation. `name` is the name of the row by all texts in it.
    """
    if node.role not in roles.ROWS or is_field(node) or not _COUNT.fullmatch(name.rpartition(" ")[2]):
        return ""
    texts = [collapse(text) for role, text in _named_in(application, node, DEEPEST_CONTENT) if role not in _PICTURES]
    before, count = ("", "", *texts)[-2:]
    return count if _COUNT.fullmatch(count) and any(map(str.isalpha, before)) else ""


def _named_in(application: Application, node: Node, levels: int) -> Iterator[tuple[str, str]]:
    for child in visible_children(application, node):
        if child.role in roles.INTERACTIVE - _PARTS and node.role not in roles.BUTTONS:
            continue
        if child.popup is not None or (child.rect is not None and not child.rect.area):
            continue  # what a button has opened, or a page of a stack that is not on top
        named = own_name(application, child) or (child.text or "" if not is_field(child) else "")
        if named and child.role in roles.READ_AS_TEXT | _PICTURES:
            yield child.role, named
        elif levels:
            yield from _named_in(application, child, levels - 1)


def description_of(application: Application, node: Node, name: str) -> str:
    """Return description and placeholder of a node, and the class of one without a name."""
    parts = [without_additions(collapse(shown_text(application, node.description)))]
    parts += [collapse(node.attributes.get(key, "")) for key in _PLACEHOLDERS]
    if not name and not is_field(node):
        parts += ["more of the tool bar"] if _shows_rest_of_tool_bar(application, node) else []
        parts += [collapse(node.attributes.get(key, "")) for key in ("class", "id", ADDRESS)]
        parts += {node.attributes.get("tag", "")} & SHAPES
    distinct = dict.fromkeys(part for part in parts if part and part != name)
    return "; ".join(distinct)


def _shows_rest_of_tool_bar(application: Application, node: Node) -> bool:
    """Return whether it is the narrow button at the end of a tool bar of Qt that is too short for its buttons."""
    bar = application.nodes.get(node.parent) if node.parent is not None else None
    if node.role != "check box" or not application.toolkit.startswith("Qt") or bar is None or bar.role != "tool bar":
        return False
    if node.rect is None or bar.rect is None or min(node.rect.width, node.rect.height) > _WIDEST_EXTENSION_PX:
        return False
    lies_flat = node.rect.width > node.rect.height  # at the lower end of a vertical tool bar
    rest = bar.rect.bottom - node.rect.bottom if lies_flat else bar.rect.right - node.rect.right
    return rest <= _WIDEST_EXTENSION_PX


def states_of(application: Application, node: Node, role: str, in_disabled: bool = False) -> frozenset[State]:
    """Return the states that matter for an element of this role; `in_disabled` says whether an ancestor disables it."""
    states: set[State] = {state for bit, state in NAMED_STATES if node.states & bit} | _of_submenu(application, node)
    states.discard("active")
    if role not in _SIZED:
        states -= {"horizontal", "vertical"}
    if role not in roles.FIELDS and "editable" not in states:
        states.discard("multi_line")
    if role in roles.TEXTS:
        states.discard("read_only")
    if role in roles.CHECKABLE or (role == "table cell" and not node.name and is_box_cell(node)):
        states.add("checkable")
    if role == "password text":
        states.add("password")
    if "focused" in states and node.role == "page tab" and application.toolkit.startswith("Qt"):
        # Qt marks the current tab in this way, whether or not its tabs have the keyboard.
        states = (states if _has_focused_tabs(application, node) else states - {"focused"}) | {"selected"}
    if role in _CAN_BE_DISABLED and (in_disabled or _is_disabled(application, node)):
        states.add("disabled")
    elif role in _WRITTEN_IN and application.toolkit.startswith(("gtk", "GTK", GECKO)) and "editable" not in states:
        states.add("read_only")
    if "mixed" in states or role == "menu":  # Java marks a menu while it is open
        states.discard("checked")
    return frozenset(states)


def _of_submenu(application: Application, node: Node) -> set[State]:
    """Return the state of a menu item of Qt that opens a submenu, its only child; in GTK, it has the role of a menu."""
    if node.role != "menu item" or node.child_count != 1 or not application.toolkit.startswith("Qt"):
        return set()
    parent = application.nodes.get(node.parent) if node.parent is not None else None
    return {"has_popup"} if parent is not None and parent.role == "popup menu" else set()


def _has_focused_tabs(application: Application, node: Node) -> bool:
    tabs = application.nodes.get(node.parent) if node.parent is not None else None
    return tabs is not None and tabs.has(StateBit.FOCUSED)


def is_box_cell(node: Node) -> bool:
    """Return whether a cell of a GTK 3 table holds a check box: it has an action but neither text nor picture."""
    alone = node.child_count <= 0 and not node.children
    return alone and {"TableCell", "Action"} <= node.interfaces and not node.interfaces & {"Text", "Image", "Value"}


def disables(application: Application, node: Node) -> bool:
    """Return whether a disabled node disables its descendants, although GTK 4 does not report it of them."""
    return is_gtk4(application) and not node.has(StateBit.SENSITIVE)


def lies_in_disabled(application: Application, node: Node) -> bool:
    """Return whether an ancestor of a node disables it."""
    if not is_gtk4(application) or node.parent is None or (parent := application.nodes.get(node.parent)) is None:
        return False
    return disables(application, parent) or lies_in_disabled(application, parent)


def _is_disabled(application: Application, node: Node) -> bool:
    if is_gtk4(application) or node.has(StateBit.INDETERMINATE):
        # The one never sets ENABLED, GTK 3 takes it from a box between its states.
        return not node.has(StateBit.SENSITIVE)
    if node.has(StateBit.READ_ONLY) and node.has(StateBit.FOCUSABLE) and application.toolkit.startswith("Chromium"):
        return False  # what it calls read-only is not enabled there
    return not (node.has(StateBit.SENSITIVE) and node.has(StateBit.ENABLED))
