"""Incremental update of an application's tree.

It reads what events name and what lies in changed areas of the screen, and spreads from there: around everything that
moved, appeared or vanished, neighbours and descendants are read as well, until nothing changes. So a scrolled page is
followed although only its pixels report the change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from aci.accessibility.atspi import Ref, StateBit, object_ref
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.roles import ITEMS, MENU_ENTRIES, OPENS_OUTSIDE
from aci.accessibility.tree.capture import (
    MOST_UNKNOWN,
    adopt,
    all_child_refs,
    all_properties,
    all_states,
    corrected_states,
    count_children,
    describe_unknown,
    get_properties,
    identify,
    is_managed,
    may_be_listed,
    property_value,
    reachable,
    repair,
    showing,
)
from aci.accessibility.tree.chromium import show_choices
from aci.accessibility.tree.details import all_extents, read_contents, read_details
from aci.accessibility.tree.gecko import find_spilling, show_boxless
from aci.accessibility.tree.gtk_menus import show_open_menus
from aci.accessibility.tree.java import name_entries
from aci.accessibility.tree.names import is_java
from aci.accessibility.tree.nodes import Application, Node
from aci.accessibility.tree.refresh_scope import Scope
from aci.accessibility.tree.webkit import show_embedded
from aci.observation.geometry import Rect

# The containers of these are listed at every look: a closed page keeps answering, and no event reports its successor
DOCUMENTS = frozenset({"document web", "document frame"})
FRAME_OF_DOCUMENT = "internal frame"  # holds a document of any role in Gecko, such as a calendar
# read at every look: LibreOffice moves all it draws without an event or a changed pixel
ANCHORS = DOCUMENTS | {"root pane"}
# found in menus and lists that are windows of their own; some count as visible while these are closed
_LISTED_IN_WINDOWS = MENU_ENTRIES | ITEMS
MOST_ROUNDS = 64


async def update_tree(bus: Bus, application: Application, roots: Sequence[Ref], scope: Scope) -> set[Ref]:
    """Update the nodes of an application that was read before, and their details, except large tables.

    Args:
        bus: The accessibility bus.
        application: Afterwards its extents are as it reports them, without corrections.
        roots: The current children of its root.
        scope: What to read.

    Returns:
        The nodes that differ from before, or have different children.
    """
    return await _Update(bus, application, roots, scope).run()


class _Answer(NamedTuple):
    """A node that was read, and how it differs from before."""

    node: Node
    moved: bool
    appeared: bool  # or vanished
    opened: bool  # or closed


class _Update:
    def __init__(self, bus: Bus, application: Application, roots: Sequence[Ref], scope: Scope) -> None:
        self._bus = bus
        self._application = application
        self._roots = roots
        self._scope = scope
        self._tops_before = [top.ref for top in application.tops]
        application.tops = [top for top in application.tops if top.ref in roots]
        self._shown = {node.ref for node in showing(application)}
        self._asked: set[Ref] = set()
        self._listed: set[Ref] = set()
        self._to_list: dict[Ref, Node] = {}
        self._changed: set[Ref] = set()

    async def run(self) -> set[Ref]:
        wave = list(self._first())
        for node in self._application.nodes.values():
            node.restore_reported()
        gone = self._forget_gone_windows()
        wave += await self._windows()
        await self._find_parents(gone)
        for _ in range(MOST_ROUNDS):
            wave = list({node.ref: node for node in wave if node.ref not in self._asked}.values())
            if not wave and not self._to_list:
                break
            self._asked.update(node.ref for node in wave)
            wave = await self._ask(wave)
            wave += await self._list_again()
        self._changed |= await repair(self._bus, self._application)
        await show_open_menus(self._bus, self._application)
        await show_choices(self._bus, self._application)
        name_entries(self._application)
        await show_boxless(self._bus, self._application)
        await show_embedded(self._bus, self._application)
        await self._contents()
        before = self._application.spilling
        await find_spilling(self._bus, self._application)
        return self._changed | (before ^ self._application.spilling)

    def _first(self) -> Iterator[Node]:
        nodes, touched = self._application.nodes, self._scope.touched
        for node in showing(self._application):
            if node.cell is not None:
                continue
            # LibreOffice does not report every object that loses the keyboard focus.
            if node.role in ANCHORS or node.has(StateBit.FOCUSED) or self._reaches(node):
                yield node
            yield from (nodes[ref] for ref in node.text_at if ref in nodes)
            if self._scope.everything or node.ref in touched.items:
                yield from _few_children(node)
        for ref in touched.objects | touched.items:
            named = nodes.get(ref)
            if named is not None and (ref in self._shown or named.parent in self._shown):
                yield named
        shown = list(showing(self._application))
        around = {node.parent for node in shown if node.role in DOCUMENTS and node.parent}
        around |= {node.ref for node in shown if node.role == FRAME_OF_DOCUMENT}
        self._application.holders |= around  # while one page goes and another comes they hold none
        self._to_list = {ref: nodes[ref] for ref in (touched.parents | self._application.holders) & self._shown}

    def _reaches(self, node: Node) -> bool:
        """Return whether something has changed where a node is; what has no children opens no window over it."""
        may_open = bool(node.children) or node.role in _LISTED_IN_WINDOWS or node.popup is not None
        return self._scope.reaches(node.rect, may_open=may_open)

    def _forget_gone_windows(self) -> Set[Ref]:
        """Forget what was in windows that are not there any more, and return these objects."""
        before = self._application.nodes
        if len(self._application.tops) < len(self._tops_before):
            self._application.nodes = reachable(self._application)
        return before.keys() - self._application.nodes.keys()

    async def _find_parents(self, gone: Set[Ref]) -> None:
        """Have the parents of objects listed that are only known by their events: Writer reports no new paragraph."""
        nodes, touched = self._application.nodes, self._scope.touched
        named = (touched.objects | touched.items | touched.parents) - gone
        unknown = [ref for ref in named if ref not in nodes]
        answers = await all_properties(self._bus, unknown[:MOST_UNKNOWN], "Accessible", "Parent")
        for ref in {ref for answer in answers if answer and (ref := object_ref(answer)) in self._shown}:
            self._to_list[ref] = nodes[ref]

    async def _windows(self) -> list[Node]:
        application, roots = self._application, self._roots
        holder = Node(application.root, None, "application", "", "", 0, frozenset())
        await describe_unknown(self._bus, application, [(holder, roots)])
        application.tops = [application.nodes[ref] for ref in roots if ref in application.nodes]
        self._shown.update(top.ref for top in application.tops)
        if self._tops_before != [top.ref for top in application.tops]:
            self._changed.update(top.ref for top in application.tops)
        return application.tops

    async def _ask(self, wave: Sequence[Node]) -> list[Node]:
        """Read some nodes, and return the nodes to read because of that."""
        bus, before = self._bus, {node.ref: _facts(node) for node in wave}
        wave = await self._seen_or_appearing(wave)
        placed = [node for node in wave if "Component" in node.interfaces]
        refs = [node.ref for node in wave]
        properties, states, rects = await asyncio.gather(
            get_properties(bus, self._application, refs),
            all_states(bus, refs),
            all_extents(bus, [node.ref for node in placed]),
        )
        rect_of = dict(zip((node.ref for node in placed), rects, strict=True))
        found: list[_Answer] = []
        following: list[Node] = []
        for node, described, bits in zip(wave, properties, states, strict=True):
            if described is None or bits is None:
                following += self._lost(node)
            else:
                found.append(self._updated(node, described, corrected_states(node.role, bits), rect_of.get(node.ref)))
        await identify(bus, [each.node for each in found if each.appeared and self._is_visible(each.node)])
        for each in found:
            if before[each.node.ref] != _facts(each.node):
                self._changed.add(each.node.ref)
            following += self._around(each)
        return following

    async def _seen_or_appearing(self, wave: Sequence[Node]) -> list[Node]:
        """Return the nodes that were visible or are now; of the others, only the states are read."""
        hidden = [node for node in wave if node.ref not in self._shown]
        still_hidden: set[Ref] = set()
        for node, bits in zip(hidden, await all_states(self._bus, [node.ref for node in hidden]), strict=True):
            was_visible = self._is_visible(node)
            if bits is None or was_visible:
                continue
            states = corrected_states(node.role, bits)
            if not states & self._application.shows_by.value:
                node.states = states
                still_hidden.add(node.ref)
        return [node for node in wave if node.ref not in still_hidden]

    def _updated(self, node: Node, properties: dict[str, Any], states: int, rect: Rect | None) -> _Answer:
        """Give a node what its application reports, and return how it differs."""
        opened = bool((states ^ node.states) & StateBit.EXPANDED.value)
        was_visible, moved = self._is_visible(node), rect != node.rect
        node.name = property_value(properties, "Name", "")
        node.description = property_value(properties, "Description", "")
        node.states, node.rect = states, rect
        node.asked = True
        is_visible = self._is_visible(node)
        appeared = is_visible != was_visible or (is_visible and node.ref not in self._shown)
        count = property_value(properties, "ChildCount", -1)
        # Of what was hidden, the number of children may be known without the children, as of a popover of GTK 3.
        known = len(node.children) if appeared and is_visible else node.child_count
        if count != known and may_be_listed(node, node.child_count) and may_be_listed(node, count):
            self._to_list[node.ref] = node
        return _Answer(node, moved, appeared, opened)

    def _around(self, answer: _Answer) -> list[Node]:
        """Return the nodes to read because of what was read of one."""
        node, appeared, opened = answer.node, answer.appeared, answer.opened
        parent = self._application.nodes.get(node.parent) if node.parent is not None else None
        if appeared and not self._is_visible(node) and parent is not None and parent.ref not in self._listed:
            # Other children may have taken its place, without a change of their number.
            self._to_list[parent.ref] = parent
        if not (answer.moved or appeared or opened):
            return []
        siblings = _few_children(parent) if parent is not None and (answer.moved or appeared) else []
        return [*self._inside(node, opened=appeared or opened), *self._newly_within(node), *siblings]

    def _newly_within(self, viewport: Node) -> list[Node]:
        """Return what may show now in a viewport of another size: Java reports no event for rows in a list or tree."""
        if viewport.role != "viewport" or not is_java(self._application):
            return []
        pending, found = list(viewport.children), []
        while pending:
            node = pending.pop()
            found += [node] if node.ref not in self._shown else []
            pending += node.children
        return found

    def _is_visible(self, node: Node) -> bool:
        return node.has(self._application.shows_by)

    def _lost(self, node: Node) -> list[Node]:
        """Mark a vanished node as invisible, and relist its parent."""
        self._changed.add(node.ref)
        node.states = 0
        parent = self._application.nodes.get(node.parent) if node.parent is not None else None
        if parent is None or parent.ref in self._listed:
            return []
        self._to_list[parent.ref] = parent
        return [parent]

    def _inside(self, node: Node, opened: bool) -> list[Node]:
        """Return the children of a node, without the invisible ones of a closed menu that only moved."""
        if opened or node.role not in OPENS_OUTSIDE:
            return _few_children(node)
        return [child for child in _few_children(node) if child.has(self._application.shows_by)]

    async def _list_again(self) -> list[Node]:
        done = self._listed | self._application.views
        # A list that was filled meanwhile would create all of its items, which takes minutes in one of 60,000 rows.
        await count_children(self._bus, [node for node in self._to_list.values() if is_managed(node)])
        due = [node for ref, node in self._to_list.items() if ref not in done and may_be_listed(node, node.child_count)]
        self._to_list.clear()
        self._listed.update(node.ref for node in due)
        answers = await all_child_refs(self._bus, [node.ref for node in due])
        listed = list(zip(due, answers, strict=True))
        await describe_unknown(self._bus, self._application, listed)
        differing = [node for node, refs in listed if adopt(self._application, node, refs)]
        if differing:
            self._changed.update(node.ref for node in differing)
            self._application.nodes = reachable(self._application)
        return [child for node in differing for child in node.children]

    async def _contents(self) -> None:
        seen = [node for node in showing(self._application) if node.cell is None]
        new = [node for node in seen if not node.asked]
        old = [node for node in seen if node.asked and node.ref in self._asked]
        before = [_contents_of(node) for node in old]
        for node in old:
            if node.ref in self._scope.touched.objects:
                self._application.settled.pop((node.ref, node.role, node.name), None)
        await asyncio.gather(
            read_details(self._bus, self._application, new), read_contents(self._bus, self._application, old)
        )
        self._changed.update(node.ref for node in new)
        self._changed.update(
            node.ref for node, contents in zip(old, before, strict=True) if contents != _contents_of(node)
        )


def _few_children(node: Node) -> list[Node]:
    """Return the children other than cells, which are read with their table."""
    return [child for child in node.children if child.cell is None]


def _facts(node: Node) -> Hashable:
    return node.role, node.name, node.description, node.states, node.rect


def _contents_of(node: Node) -> Hashable:
    runs = tuple((run.ref, run.name, run.rect) for run in node.runs)
    said = node.text, node.value, node.caret, node.selection, node.choice
    return *said, tuple(node.attributes.items()), node.labels, runs
