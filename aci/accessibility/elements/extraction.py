"""Drafts of elements from an application's nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from aci.accessibility import roles
from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.kept_drafts import WIDE, KeptDrafts
from aci.accessibility.elements.page_fields import date_part, date_text
from aci.accessibility.tree.gtk3 import drawn_texts
from aci.accessibility.tree.names import (
    SHAPES,
    collapse,
    count_in,
    description_of,
    disables,
    expander_title,
    flowing_text,
    full_name,
    is_box_cell,
    is_field,
    is_gtk4,
    is_java,
    is_marker,
    label_of,
    own_name,
    states_of,
    visible_children,
    without_additions,
)
from aci.accessibility.tree.nodes import GECKO, Application, Node
from aci.accessibility.tree.text_runs import EMBEDDED, filled_text, has_own_text, spoken_text
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding, reading_order

DEEPEST = 300  # levels of nesting
SOFT_SHARE = 0.25  # a box in a page that leaves less than this share of a node visible does not clip it
LEAST_TITLE_PX = 12  # height of the title of a group
LABEL_GAP_PX = 150  # largest distance between a field and a text to its left that labels it

LONGEST_NEIGHBOUR = 60
# containers beside each other that have the same parts are taken for entries of a list, such as the posts of a feed
LEAST_REPEATED, LEAST_PARTS = 3, 2

_FLOWING = (roles.READ_AS_TEXT | roles.BLOCKS) - roles.FIELDS
_WORDS = roles.INLINE | {"section", "paragraph", "image"}
ICON_PX = 96  # larger pictures in a page are not icons
_THICKNESS, _LINE_SHAPE = 10, 60  # a separating line or shadow of a page: up to this high, px, and that much wider
_LEAST_SURFACE = 200 * 200  # area from which an empty panel that takes the keyboard is drawn in, px²

_MORE_THAN_A_NUMBER = re.compile(r"[^\d.,\s+−-]")
_ENTRIES = roles.MENU_ENTRIES - {"menu"}
_NEVER_ALONE = roles.PLAIN | {"popup menu"}  # without anything in them, nobody sees or uses them
_HARD_CLIPS = frozenset({"document web", "document frame", "frame", "dialog", "window", "application"})


class _Place(NamedTuple):
    """What a node's ancestors mean for it."""

    clip: Rect  # certain limits, px
    soft: Rect | None  # A box around it in a page, which may or may not clip it
    path: tuple[str, ...]  # its ancestors
    owner: str = ""  # name of the nearest shown ancestor
    item: bool = False  # whether that is a list item, cell or the like, whose parts are not used separately
    field: bool = False  # whether that is a field or menu item, which owns its texts
    description: str = ""  # of the plain containers around it
    document: bool = False  # whether it lies in a web page
    disabled: bool = False  # whether one of them disables it
    outside: bool = False  # whether it may lie in a popup window
    depth: int = 0  # number of ancestors
    holders: tuple[Ref, ...] = ()  # its ancestors
    items: tuple[Ref, ...] = ()  # those of them that are one of many of a kind
    repeated: frozenset[Ref] = frozenset()  # children of the parent that are built alike


def draft_elements(
    application: Application,
    top: Node,
    window: Window,
    windows: Sequence[Window],
    screen: Rect,
    kept: KeptDrafts | None = None,
) -> list[Draft]:
    """Return what is visible in one window (`top` with extents corrected) of an application, in reading order.

    `kept` holds the drafts of earlier looks.
    """
    walk = _Walk(application, window, screen, kept if kept is not None else KeptDrafts())
    start = _Place(clip=screen, soft=None, path=(f"{top.role}:{collapse(top.name)}",), holders=(top.ref,))
    found = [draft for child in walk.ordered(top) for draft in walk.visit(child, start)]
    _label_from_neighbours(found)
    _describe_by_neighbours(found)
    popups = [other for other in windows if other.popup and other.pid in (None, application.pid)]
    for draft in found:
        over = popups if draft.outside else ()
        draft.window = next((popup for popup in over if popup.rect.contains(draft.area.center)), window)
    return found


class _Walk:
    def __init__(self, application: Application, window: Window, screen: Rect, kept: KeptDrafts) -> None:
        self._application = application
        self._window = window
        self._screen = screen
        self._kept = kept
        self._chromium = application.toolkit.startswith("Chromium")
        self._gecko = application.toolkit.startswith(GECKO)
        self._gtk3 = application.toolkit.startswith("gtk 3")
        self._qt = application.toolkit.startswith("Qt")
        self._boxes: dict[str, list[Node]] | None = None

    def ordered(self, node: Node, document: bool = False) -> list[Node]:
        """Return the visible children in reading order; running text keeps its own order."""
        children = [*visible_children(self._application, node), *node.runs]
        if len(children) < 2 or children[0].cell is not None:
            return children
        if document and not node.runs and any(child.role in roles.INLINE for child in children):
            return children
        rects = [child.rect or _around(child) for child in children]
        return [children[index] for index in reading_order(rects)]

    def visit(self, node: Node, place: _Place) -> list[Draft]:
        """Return the drafts of a node and its descendants."""
        # A label in a page of Chromium may stand for a box anywhere in it.
        if len(node.children) < WIDE or self._chromium:
            return self._visit(node, place)
        return self._kept.find(self._application, node, (place, self._screen), lambda: self._visit(node, place))

    def _visit(self, node: Node, place: _Place) -> list[Draft]:
        if node.role in roles.SKIPPED or place.depth > DEEPEST:
            return []
        if node.popup is not None:
            place = place._replace(clip=node.popup.rect, soft=None, outside=True)
        elif is_gtk4(self._application) and (node.role == "tool tip" or node.name == "GtkTooltipWindow"):
            return []  # its place is unknown
        inner = self._inner_place(node, place)
        if inner is None:
            return []
        draft = self._draft(node, place)
        holds_page = node.role == "page tab" and not self._chromium and not is_gtk4(self._application)
        if draft is not None and draft.name and not holds_page and self._owns(draft, place):
            inner = inner._replace(
                owner=draft.name, item=node.role in roles.ITEMS, field=node.role in roles.FIELDS | _ENTRIES
            )
        children = () if node.text_at else self.ordered(node, inner.document)
        within = [found for child in children for found in self.visit(child, inner)]
        _label_from_neighbours(within)
        _set_counts_apart(within)
        if node.role in roles.TABLES and self._gtk3:
            self._name_as_drawn(node, within)
        if draft is None or not self._stays(draft, within, place):
            if node.has(StateBit.FOCUSED):
                _pass_focus(within, place.document or node.role.startswith("document"))
            title = self._group_title(node, place)
            return within if title is None else [title, *within]
        return self._merged(draft, within)

    def _name_as_drawn(self, table: Node, within: Sequence[Draft]) -> None:
        drawn = drawn_texts(self.ordered(table))
        for draft in within if drawn else ():
            draft.name = drawn.get(draft.node.ref, draft.name)

    def _owns(self, draft: Draft, place: _Place) -> bool:
        """Return whether an element of this name will represent the texts in it."""
        role = draft.role
        return role in roles.INTERACTIVE or (
            (role in roles.TEXTS or self._flows(draft)) and self._adds_text(draft, (), place)
        )

    def _flows(self, draft: Draft) -> bool:
        """Return whether a node is named by the running text in it."""
        node = draft.node
        if node.role not in _FLOWING or not draft.name:
            return False
        return not node.name or collapse(node.name) == collapse(flowing_text(self._application, node) or "")

    def _inner_place(self, node: Node, place: _Place) -> _Place | None:
        named = without_additions(collapse(node.name))
        if node.role == "page tab list" and any(child.name == node.name for child in node.children):
            named = ""  # Qt names it after the tab in front, which changes
        path = place.path if node.role in roles.PLAIN and not named else (*place.path, f"{node.role}:{named[:80]}")
        base = place._replace(
            path=path,
            depth=place.depth + 1,
            holders=(*place.holders, node.ref),
            items=self._items(node, place),
            repeated=_built_alike(node.children) if len(node.children) >= LEAST_REPEATED else frozenset(),
            document=place.document or node.role.startswith("document"),
            disabled=place.disabled or disables(self._application, node),
            description=self._container_description(node, place),
        )
        if self._opens_outside(node) and node.popup is None:
            return base._replace(clip=self._screen, soft=None, outside=True)
        if self._gecko and node.role == "tool bar" and node.rect is None:
            return None  # a menu bar that is put away
        if node.rect is None or node.role == "page tab" or (node.role == "tree item" and is_java(self._application)):
            return base  # what it holds lies outside it: the page of a GTK 3 notebook, the branch of a Java tree
        if self._is_group_of_choices(node):
            return base  # of which Gecko reports the heading, and Chromium the box of the list
        if (self._chromium and node.role not in _HARD_CLIPS) or node.ref in self._application.spilling:
            soft = node.rect.intersection(place.soft) if place.soft is not None else None
            return base._replace(soft=soft or node.rect) if node.rect.area else base
        clip = place.clip.intersection(node.rect)
        return None if clip is None else base._replace(clip=clip)

    def _opens_outside(self, node: Node) -> bool:
        """Return whether what a node holds opens in a window of its own: a menu of GTK 3 may be part of a button."""
        return node.role in roles.OPENS_OUTSIDE or (
            node.role in roles.BUTTONS
            and self._application.toolkit.startswith("gtk")
            and any(child.role in roles.MENU_ENTRIES for child in node.children)
        )

    def _is_group_of_choices(self, node: Node) -> bool:
        """Return whether a node is a group of entries in a list of choices of a page."""
        menu = self._application.nodes.get(node.parent) if node.parent is not None else None
        if menu is None or (node.role, menu.role) != ("panel", "menu") or menu.parent is None:
            return False
        box = self._application.nodes.get(menu.parent)
        return box is not None and box.role == "combo box"

    def _items(self, node: Node, place: _Place) -> tuple[Ref, ...]:
        return (*place.items, node.ref) if node.role in roles.RECORDS or node.ref in place.repeated else place.items

    def _container_description(self, node: Node, place: _Place) -> str:
        """Return the description that the nearest plain container gives to unnamed controls in it."""
        if node.role not in roles.PLAIN:
            return ""
        return collapse(node.description) or own_name(self._application, node) or place.description

    def _draft(self, node: Node, place: _Place) -> Draft | None:
        area = self._area(node, place.document)
        if area is None or not area.area:
            return None
        clip = place.clip
        if place.soft is not None:
            common = area.intersection(place.soft)
            if common is not None and common.area >= SOFT_SHARE * area.area:
                clip = clip.intersection(place.soft) or clip
        if clip.intersection(area) is None:
            return None
        box = self._labelled_box(node) if place.document else None
        shown = box or node
        node_states = states_of(self._application, shown, shown.role, place.disabled)
        flows = place.document and node.role in _FLOWING
        name = full_name(self._application, node, flows or (place.document and node.role in roles.ITEMS))
        return Draft(
            node=node,
            role=shown.role,
            name=name or (own_name(self._application, box) if box is not None else ""),
            area=area,
            clip=clip,
            window=self._window,
            path=place.path,
            holders=place.holders,
            items=self._items(node, place),
            text=_text(self._application, node, name),
            count=count_in(self._application, node, name) if not place.document else "",
            label=label_of(self._application, node),
            description=description_of(self._application, node, name)
            or ("" if name or node.role not in roles.INTERACTIVE else place.description),
            states=node_states,
            outside=place.outside and not self._is_input_line(node),
        )

    def _group_title(self, node: Node, place: _Place) -> Draft | None:
        """Return the title that a group box of Qt shows above what it contains; it is no object of its own."""
        if node.role != "panel" or not node.name or node.rect is None or not self._qt:
            return None
        area, name = _above(node.rect, visible_children(self._application, node)), own_name(self._application, node)
        if area is None or not name or place.clip.intersection(area) is None:
            return None
        return Draft(
            node=node,
            role="label",
            name=name,
            area=area,
            clip=place.clip,
            window=self._window,
            path=place.path,
            holders=place.holders,
            items=place.items,
            outside=place.outside,
        )

    def _labelled_box(self, node: Node) -> Node | None:
        """Return the check box or radio button that a page hides to draw its label as one instead."""
        if node.role != "label" or not self._chromium:
            return None
        parent = self._application.nodes.get(node.parent) if node.parent is not None else None
        text = collapse(node.name or flowing_text(self._application, node) or "")
        for child in node.children:
            if child.role in roles.CHECKABLE:
                return child if _is_hidden_box(child) else None
        siblings = parent.children if parent is not None else []
        boxes = [box for box in siblings if _is_hidden_box(box) and text and collapse(box.name) == text]
        return boxes[0] if boxes else self._only_box(text)

    def _only_box(self, text: str) -> Node | None:
        """Return the only hidden box of this name, if there is exactly one of any kind."""
        if self._boxes is None:
            self._boxes = {}
            for node in self._application.nodes.values():
                if node.role in roles.CHECKABLE and node.name:
                    self._boxes.setdefault(collapse(node.name), []).append(node)
        alike = self._boxes.get(text, []) if text else []
        return alike[0] if len(alike) == 1 and _is_hidden_box(alike[0]) else None

    def _area(self, node: Node, document: bool) -> Rect | None:
        """Return the extents: of the words in running text, of the title of an expander."""
        if (title := expander_title(self._application, node)) is not None and title.rect is not None:
            return title.rect
        if node.role == "toggle button" and node.has(StateBit.EXPANDABLE) and node.rect is not None and not document:
            row = _above(node.rect, visible_children(self._application, node)) or node.rect
            return replace(row, width=min(row.width, 2 * row.height))  # GTK 3 does not say how long the label is
        flows = node.role in _FLOWING and node.role not in roles.INTERACTIVE and bool(node.children)
        said = flowing_text(self._application, node) if document and flows else None
        if node.rect is None or said is None:
            return node.rect
        if self._application.keeps_texts(node) and (
            has_own_text(node) or collapse(node.name) not in ("", collapse(said))
        ):
            return node.rect  # its own text lies beside its children
        words = [child.rect for child in node.children if child.rect is not None and child.rect.area]
        return bounding(words) if words else node.rect

    def _is_input_line(self, node: Node) -> bool:
        """Return whether a node is the text of a combo box, which lies in the box and not in the list that it opens."""
        parent = self._application.nodes.get(node.parent) if node.parent is not None else None
        return parent is not None and parent.role == "combo box" and node.role in roles.FIELDS

    def _stays(self, draft: Draft, within: Sequence[Draft], place: _Place) -> bool:
        node = draft.node
        if node.cell is not None or draft.role != node.role:
            return True
        if node.role in roles.INTERACTIVE:
            return self._usable(draft, within, place)
        if is_field(node) and node.text is not None and node.role != "document spreadsheet":
            own = node.role not in roles.INTERACTIVE and not node.role.startswith("document")
            editable = node.has(StateBit.EDITABLE) and node.has(StateBit.FOCUSABLE)
            return not within or (place.document and own and editable)
        if node.role in roles.TEXTS or self._flows(draft):
            return self._adds_text(draft, within, place)
        if node.role in roles.WORDLESS:
            if not draft.name and node.value is None:
                small = max(draft.area.width, draft.area.height) <= ICON_PX or node.attributes.get("tag") in SHAPES
                return place.document and not place.owner and bool(draft.description) and small
            return not _within(draft.name, place.owner)
        if node.role in roles.SURFACES:
            return not within
        if node.role in roles.NOTICES:
            return not within and bool(draft.name)
        return all(_is_nameless_picture(other) for other in within) and self._lone(draft, place)

    def _usable(self, draft: Draft, within: Sequence[Draft], place: _Place) -> bool:
        node = draft.node
        if place.item and (node.role == "icon" or (node.role == "table cell" and _within(draft.name, place.owner))):
            return False
        if node.role == "menu" and (
            not draft.name
            or any(other.role in roles.MENU_ENTRIES and draft.area.contains(other.area.center) for other in within)
        ):
            return False  # the box that the entries of an open menu lie in
        if node.role in roles.MENU_ENTRIES and not (draft.name or draft.description) and "disabled" in draft.states:
            return False
        if place.document and self._only_holds(draft, within):
            return False
        if node.role in ("list item", "table cell", "icon", "embedded", "tree item") and not draft.name:
            notable = draft.description or node.has(StateBit.FOCUSED) or node.role != "table cell" or is_box_cell(node)
            return not within and bool(notable)
        if node.role not in roles.BUTTONS:
            return True
        opens = node.has(StateBit.EXPANDABLE)  # of these, the menu buttons of GTK 4 wrap a button of their name
        return not any(_same_button(draft, other) for other in within if not opens or other.name == draft.name)

    def _only_holds(self, draft: Draft, within: Sequence[Draft]) -> bool:
        """Return whether the controls in a part of a page say everything it says."""
        node = draft.node
        if (
            node.role not in roles.HOLDERS
            or not within
            or node.has(StateBit.FOCUSABLE)
            or node.has(StateBit.SELECTABLE)
        ):
            return False
        shown = " ".join(other.name or other.text or "" for other in within)
        return all(other.role in roles.INTERACTIVE for other in within) and _letters(draft.name) == _letters(shown)

    def _adds_text(self, draft: Draft, within: Sequence[Draft], place: _Place) -> bool:
        if not draft.name:
            return not within and place.document and self._lone(draft, place)
        if place.document and is_marker(draft.node.name):
            return False
        if place.field or (place.document and self._only_holds(draft, within)):
            return False
        if draft.node.children and flowing_text(self._application, draft.node) is None and not draft.node.name:
            return False
        part_of_page = place.document and bool(draft.node.children) and draft.node.role == "static"
        return not _within(draft.name, place.owner) or (part_of_page and draft.name != place.owner)

    def _lone(self, draft: Draft, place: _Place) -> bool:
        """Return whether something without content looks usable all the same."""
        node = draft.node
        if not place.document:
            drawn_in = node.role == "panel" and draft.area.area >= _LEAST_SURFACE  # such as the picture in GIMP
            return not any(visible_children(self._application, node)) and (
                (node.role not in _NEVER_ALONE or drawn_in) and node.has(StateBit.FOCUSABLE)
            )
        if any(
            child.role != "image" or own_name(self._application, child)
            for child in visible_children(self._application, node)
        ):
            return False
        notable = node.attributes.get("class") or node.attributes.get("id")
        # A part with only a class that is as large as the page is a decorative layer, a thin one a line or a shadow.
        thin = draft.area.height < _THICKNESS and draft.area.width > _LINE_SHAPE * draft.area.height
        return node.has(StateBit.FOCUSABLE) or bool(notable and 2 * draft.area.area < place.clip.area and not thin)

    def _merged(self, draft: Draft, within: list[Draft]) -> list[Draft]:
        if draft.role == "combo box":
            within = self._merged_combo_box(draft, within)
        elif draft.text is not None and draft.path and is_field(draft.node) and draft.role not in roles.INTERACTIVE:
            parts = [
                other
                for other in within
                if other.role in roles.TEXTS | _FLOWING and other.role not in roles.INTERACTIVE
            ]
            within = [other for other in within if other not in parts]
            if EMBEDDED in draft.text:
                draft.text = _filled(draft.node, parts)
        within = [other for other in within if not _is_nameless_picture(other)]
        usable = [other for other in within if other.role in roles.INTERACTIVE]
        draft.avoid = [other.area for other in usable if other.area.area < draft.area.area]
        if draft.role == roles.SHAPE and draft.text:
            draft.target = _written_in(draft)
        if draft.role == "date editor" and usable:
            draft.target = usable[0].area  # typing begins in its first part
        return [draft, *within]

    def _merged_combo_box(self, draft: Draft, within: list[Draft]) -> list[Draft]:
        """Give a combo box its text, and return what is in it besides."""
        gtk4, field = is_gtk4(self._application), next((other for other in within if is_field(other.node)), None)
        if field is None:
            # The button that GTK builds a combo box from is all of it.
            shown = next((other.name for other in within if other.role in roles.BUTTONS), "")
            if shown and gtk4:
                draft.text = shown  # instead of its name, or that of its label
            draft.text = draft.text or shown or None
            within = [other for other in within if other.role not in roles.BUTTONS]
        elif is_java(self._application):
            draft.text = field.text  # which may not be chosen yet
        items = [one for one in within if one.role == "list item" and draft.area.contains(one.area.center)]
        if len(items) == 1 and draft.text == draft.name and gtk4:
            # A row of a list that is a combo box holds its name and, in a list of its own, what is chosen.
            draft.text = items[0].name
            within = [other for other in within if other is not items[0] and other.name != draft.name]
        shown = draft.text or ""
        if draft.name == shown and not self._chromium and self._application.toolkit.casefold().startswith("gtk"):
            draft.name = ""  # GTK calls a box without a name by what it stands on
        if draft.text and draft.text == draft.label and gtk4:
            draft.text = None  # a box that does not report its choice has the name of its label
        return [other for other in within if other.role not in roles.TEXTS or not _within(other.name, shown)]


def _written_in(shape: Draft) -> Rect | None:
    """Return where the text of a shape stands: a click beside it goes through a shape that is not filled."""
    lines = (line.rect.intersection(shape.area) for line in shape.node.children if line.rect is not None)
    return next((line for line in lines if line is not None and line.area > 1), None)


def _filled(node: Node, parts: Sequence[Draft]) -> str:
    """Return the text of a field, with the texts of its parts in place of the objects in it."""
    if not has_own_text(node):
        return "\n".join(part.text or part.name for part in parts)
    said = {part.node.ref: part.text or part.name for part in parts}
    filled = filled_text(node, lambda child: said.get(child.ref, ""))
    return filled if filled is not None else (node.text or "").replace(EMBEDDED, "")


def _built_alike(children: Sequence[Node]) -> frozenset[Ref]:
    """Return the containers that have the same parts as several others beside them."""
    shapes: dict[tuple[str, ...], list[Ref]] = {}
    for child in children:
        if len(child.children) >= LEAST_PARTS:
            shapes.setdefault((child.role, *(part.role for part in child.children)), []).append(child.ref)
    return frozenset(ref for alike in shapes.values() if len(alike) >= LEAST_REPEATED for ref in alike)


def _above(rect: Rect, shown: Iterable[Node]) -> Rect | None:
    """Return the part of a container above its contents; None if there is no room for a title."""
    tops = [child.rect.y for child in shown if child.rect is not None and child.rect.area]
    height = min(tops, default=rect.y) - rect.y
    return replace(rect, height=height) if height >= LEAST_TITLE_PX else None


def _is_hidden_box(node: Node) -> bool:
    return node.role in ("check box", "radio button", "switch") and not node.has(StateBit.SHOWING)


def _is_nameless_picture(draft: Draft) -> bool:
    return draft.role == "image" and not draft.name and draft.node.value is None


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _words_in(node: Node) -> str:
    """Return the words in a node that holds nothing else, such as a button in a page that shows what is chosen."""
    if any(child.role not in _WORDS for child in node.children):
        return ""
    words = (child.name or collapse(spoken_text(child)) or _words_in(child) for child in node.children)
    return " ".join(filter(None, words))


def _text(application: Application, node: Node, name: str) -> str | None:
    if node.role == "combo box":
        in_page = application.toolkit.startswith(("Chromium", GECKO))
        return node.choice or collapse(spoken_text(node)) or (_words_in(node) if in_page else name) or None
    if node.role == "date editor" and node.children:
        return date_text(node)
    if (part := date_part(node)) is not None:
        return part or None
    if node.role in roles.VALUED and not node.has(StateBit.EDITABLE):
        # Qt says the unit of a number in its text, and the word that stands for one number.
        return node.text if node.role == "spin button" and _MORE_THAN_A_NUMBER.search(node.text or "") else None
    return node.text if is_field(node) else None


def _within(name: str, owner: str) -> bool:
    return bool(owner) and (not name or name in owner)


def _same_button(outer: Draft, inner: Draft) -> bool:
    """Return whether a button only wraps another one, as in the menu buttons of GTK 4."""
    if inner.role not in roles.BUTTONS or inner.area.area * 4 < outer.area.area:
        return False
    if not inner.description:
        inner.description = outer.description
    inner.states |= outer.states & {"expandable", "expanded", "has_popup"}
    return True


def _label_from_neighbours(drafts: Sequence[Draft]) -> None:
    """Label fields without a name by the text or choice to their left; some combo boxes are named by what they say."""
    for index, draft in enumerate(drafts):
        named = draft.name and not (draft.role == "combo box" and draft.name == draft.text)
        if named or draft.label or not index or draft.role not in roles.FIELDS | {"toggle button"}:
            continue
        before = drafts[index - 1]
        gap = draft.area.x - before.area.right
        same_line = before.area.y < draft.area.bottom and draft.area.y < before.area.bottom
        captions = before.role in roles.TEXTS or before.role in ("check box", "radio button")
        if captions and _letters(before.name) and same_line and -4 <= gap <= LABEL_GAP_PX:
            draft.label = before.name


def _set_counts_apart(drafts: Sequence[Draft]) -> None:
    """Make the counts in the names of rows their contents, except where only they tell rows apart."""
    counted = [draft for draft in drafts if draft.count]
    if not counted:
        return
    names = Counter((draft.role, _without_count(draft)) for draft in drafts)
    for draft in counted:
        if names[draft.role, name := _without_count(draft)] == 1:
            draft.name, draft.text = name, draft.count
        draft.count = ""


def _without_count(draft: Draft) -> str:
    return draft.name.removesuffix(draft.count).rstrip()


def _describe_by_neighbours(drafts: Sequence[Draft]) -> None:
    """Describe unnamed controls by their neighbours; the nearest text labels what can be checked."""
    for index, draft in enumerate(drafts):
        nameless = not (draft.name or draft.label or draft.description or draft.text)
        if not nameless or draft.role not in roles.BUTTONS | roles.CHECKABLE | {"link", "slider"}:
            continue
        before, after = drafts[max(0, index - 1) : index], drafts[index + 1 : index + 2]
        beside = [other for other in (*before, *after) if other.name and _on_one_line(draft.area, other.area)]
        texts = [other for other in beside if other.role in roles.TEXTS]
        if texts and draft.role in roles.CHECKABLE:
            draft.label = min(texts, key=lambda other: _gap(draft.area, other.area)).name
        elif beside:
            draft.description = f"beside {beside[0].name[:LONGEST_NEIGHBOUR]}"


def _on_one_line(one: Rect, other: Rect) -> bool:
    return one.y < other.bottom and other.y < one.bottom and _gap(one, other) <= LABEL_GAP_PX


def _gap(one: Rect, other: Rect) -> int:
    return max(one.x, other.x) - min(one.right, other.right)


def _pass_focus(within: Sequence[Draft], document: bool) -> None:
    """Move the focus of a container to its selected item, or to its only field, outside of web pages."""
    if document or any("focused" in draft.states for draft in within):
        return
    selected = [draft for draft in within if "selected" in draft.states]
    fields = [draft for draft in within if is_field(draft.node)]
    heir = selected[0] if selected else fields[0] if len(fields) == 1 else None
    if heir is not None:
        heir.states = heir.states | {"focused"}


def _around(node: Node) -> Rect:
    rects = [child.rect for child in node.children if child.rect is not None and child.rect.area]
    return bounding(rects) if rects else Rect(0, 0, 0, 0)
