"""The complete tree of an application: its cache in one call, and what the cache lacks by further calls.

GTK 3 answers `Cache.GetItems` in full. Chromium and LibreOffice omit branches that were never asked for, and GTK 4
all that it has not drawn. A visible node with fewer known children than it reports is therefore asked for its children,
until nothing is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from aci.accessibility.atspi import CACHE_PATH, PREFIX, PROPERTIES, Ref, StateBit, object_ref, role_name
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.accessibility.tree.libreoffice import (
    is_part_of_sheet,
    may_be_sheet,
    revive_input_lines,
    settle_combo_boxes,
    settle_input_lines,
    settle_shapes,
)
from aci.accessibility.tree.nodes import Application, Node

MOST_CHILDREN = 2000  # nodes with more children are never listed completely: a sheet would be busy for minutes
MOST_LISTED = 2 * MOST_CHILDREN  # a list may turn out longer than its reported count
MOST_MANAGED = 400  # the same for lists that create their items on demand, which GTK does for any list
UNCOUNTED = 2**31 - 1
MOST_SHOWING = 5000  # visible nodes read per application
MOST_UNKNOWN = 64  # unknown objects that are asked for their parents
MOST_LEVELS = 300  # levels of nesting; deeper nodes are omitted
DEEPEST = 64  # rounds of repair; more means that the tree has a loop

# at-spi2-atk keeps freed objects of these in its cache, and sometimes crashes them when it is asked for all of it
_CRASHES_WHEN_LISTED = frozenset({"soffice"})
_CRASHES_BY_TOOLKIT = "GAIL"  # GTK 2
HIDDEN = "unknown"  # role of nodes that were never visible; it is read once they appear
_DESCRIBING = ("Name", "Description", "ChildCount")
_GIVE_ALL_PROPERTIES = ("Chromium", "gtk ", "GTK ")  # at-spi2-atk, also of LibreOffice, and GTK 4
_HIDES_POPUPS = "Qt"  # toolkit that does not list all of its popups
_LEAST = frozenset({"Accessible", "Component"})
IN_PAGE = _LEAST | {"Action", "Text"}
# Roles for which Chromium always offers the same interfaces, as far as they matter here
_ALIKE_IN_PAGE = frozenset(
    {"static", "link", "push button", "toggle button", "check box", "radio button", "entry", "list item", "heading",
     "paragraph", "section", "label"}
)  # fmt: skip
_LONG = len(PREFIX)
_ACCESSIBLE = PREFIX + "Accessible"


async def read_tree(bus: Bus, application: Application) -> None:
    """Read the nodes and windows of an application.

    Raises:
        PeerSilent: The application does not answer.
        ConnectionLost: The bus went away.
    """
    nodes = await _cached_nodes(bus, application) if _may_be_listed(application) else {}
    application.nodes = nodes
    roots = await top_refs(bus, application)
    missing = [ref for ref in roots if ref not in nodes]
    for node in await describe(bus, application, missing, application.root):
        nodes[node.ref] = node
    _link(nodes)
    application.tops = [nodes[ref] for ref in roots if ref in nodes]
    cached = len(nodes)
    await repair(bus, application)
    application.patchy = len(nodes) > cached


async def top_refs(bus: Bus, application: Application) -> list[Ref]:
    """Return the windows of an application: the children of its root, and menus that are not listed among them."""
    listed = await child_refs(bus, application.root)
    unlisted = [ref for ref in application.unlisted if ref not in listed]
    states = await all_states(bus, unlisted)
    showing_still = StateBit.SHOWING.value
    application.unlisted = tuple(ref for ref, bits in zip(unlisted, states, strict=True) if (bits or 0) & showing_still)
    return [*listed, *application.unlisted]


async def find_unlisted(bus: Bus, application: Application, touched: Iterable[Ref]) -> None:
    """Find the popups of an application that its root does not list: menus of Qt that belong to no menu bar.

    They report that they show, and name the root as their parent.

    Args:
        bus: The accessibility bus.
        application: The application.
        touched: Objects that reported anything.
    """
    if not application.toolkit.startswith(_HIDES_POPUPS):
        return
    unknown = [ref for ref in touched if ref not in application.nodes][:MOST_UNKNOWN]
    parents = await all_properties(bus, unknown, "Accessible", "Parent")
    found = [
        ref for ref, parent in zip(unknown, parents, strict=True) if parent and object_ref(parent) == application.root
    ]
    application.unlisted = tuple(dict.fromkeys((*application.unlisted, *found)))


def _may_be_listed(application: Application) -> bool:
    crashes = application.name in _CRASHES_WHEN_LISTED or application.toolkit.startswith(_CRASHES_BY_TOOLKIT)
    return not crashes and not application.gently


async def _cached_nodes(bus: Bus, application: Application) -> dict[Ref, Node]:
    root = application.root
    try:
        items = (await bus.call(root.name, CACHE_PATH, PREFIX + "Cache", "GetItems"))[0]
    except CallRefused:
        if bus.silent(root.name):
            raise
        return {}
    nodes = (_node_of_item(item) for item in items)
    return {node.ref: node for node in nodes if node.ref != root and node.ref.name not in application.strangers}


def _node_of_item(item: Sequence[Any]) -> Node:
    """Read one item of `GetItems`: reference, application, parent, index, child count, interfaces, name and so on."""
    reference, _, parent, index, child_count, interfaces, name, role, description, states = item
    return Node(
        ref=Ref(*reference),
        parent=Ref(*parent),
        role=role_name(role),
        name=name,
        description=description,
        states=corrected_states(role_name(role), states[0] | states[1] << 32),
        interfaces=_short(interfaces),
        index=index,
        child_count=child_count,
    )


def corrected_states(role: str, states: int) -> int:
    """Return corrected states: GTK 3 denies that a scrolled viewport shows, LibreOffice that panes of sheets do."""
    if states & StateBit.VISIBLE and (role == "viewport" or is_part_of_sheet(role, states)):
        return states | StateBit.SHOWING
    return states


def _short(interfaces: Iterable[str]) -> frozenset[str]:
    return frozenset(interface[_LONG:] for interface in interfaces)


def _link(nodes: dict[Ref, Node]) -> None:
    for node in nodes.values():
        parent = nodes.get(node.parent) if node.parent is not None else None
        if parent is not None and parent is not node:
            parent.children.append(node)
    for node in nodes.values():
        if len(node.children) > 1:
            node.children.sort(key=lambda child: child.index)


async def repair(bus: Bus, application: Application) -> set[Ref]:
    """Read what visible nodes lack, and correct toolkit peculiarities; return the nodes with newly found children."""
    found: set[Ref] = set()
    asked: set[Ref] = set()
    revived: list[Node] = []
    for _ in range(DEEPEST):
        seen = showing(application)
        await _count_managed(bus, seen)
        new = revive_input_lines(seen)
        revived += new
        seen = showing(application) if new else seen
        wave = [node for node in (*seen, *_choices(seen)) if _lacks_children(node) and node.ref not in asked]
        if not wave:
            break
        asked.update(node.ref for node in wave)
        answers = await all_child_refs(bus, [node.ref for node in wave])
        await describe_unknown(bus, application, zip(wave, answers, strict=True))
        for node, refs in zip(wave, answers, strict=True):
            if adopt(application, node, refs):
                found.add(node.ref)
    bound_tree(application)
    settle_input_lines(revived)
    settle_combo_boxes(showing(application))
    settle_shapes(showing(application))
    return found


async def describe_unknown(bus: Bus, application: Application, listed: Iterable[tuple[Node, Sequence[Ref]]]) -> None:
    """Add nodes for unknown children; of most invisible ones only the states, which is enough until they appear."""
    nodes = application.nodes
    strangers = application.strangers
    unknown = {
        ref: (node, refs) for node, refs in listed for ref in refs if ref not in nodes and ref.name not in strangers
    }
    full: list[Found] = []
    for (ref, (parent, siblings)), states in zip(unknown.items(), await all_states(bus, unknown), strict=True):
        if states is None:
            continue
        shows = StateBit.VISIBLE if application.hides_menus else application.shows_by
        if states & shows.value or _describes_visible(nodes, parent, siblings, states):
            full.append(Found(ref, parent.ref, states))
        else:
            nodes[ref] = Node(ref, parent.ref, HIDDEN, "", "", states, _LEAST, child_count=0)
    nodes.update({node.ref: node for node in await _describe(bus, application, full)})


def _describes_visible(nodes: Mapping[Ref, Node], parent: Node, siblings: Sequence[Ref], states: int) -> bool:
    """Return whether an invisible object describes a visible one.

    Examples are the items of closed combo boxes, hidden parts of LibreOffice's, its input line and panes of its sheets,
    which deny that they are visible, as viewports do, and check boxes that pages hide to draw their labels as such.
    """
    around = nodes.get(parent.parent) if parent.parent is not None else None
    if parent.role in ("combo box", "scroll pane", "label") or (around is not None and around.role == "combo box"):
        return True
    return states == StateBit.DEFUNCT.value or may_be_sheet(states) or (parent.role == "filler" and len(siblings) == 3)


def adopt(application: Application, node: Node, refs: Sequence[Ref]) -> bool:
    """Set the children of a node; return whether they differ from before."""
    children = [child for ref in refs if (child := application.nodes.get(ref)) is not None and child is not node]
    differ = [child.ref for child in children] != [child.ref for child in node.children]
    node.children, node.child_count = children, len(children)
    return differ


def _choices(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the closed lists of combo boxes, whose items reveal the selection."""
    for node in nodes:
        if node.role == "combo box":
            yield from (child for child in node.children if child.role in ("menu", "list box", "list"))


def _lacks_children(node: Node) -> bool:
    return may_be_listed(node, node.child_count) and node.child_count != len(node.children)


def may_be_listed(node: Node, count: int) -> bool:
    """Return whether a node with this number of children may be asked for all of them."""
    return 0 <= count <= (MOST_MANAGED if is_managed(node) else MOST_CHILDREN)


async def _count_managed(bus: Bus, seen: Sequence[Node]) -> None:
    """Read the number of items of lists that create them on demand, which the cache does not know.

    It is read again before the items are, since such a list may have been filled meanwhile.
    """
    managed = [node for node in seen if is_managed(node) and (node.child_count < 0 or _lacks_children(node))]
    # Some applications fill a menu only when it opens.
    opened = [node for node in seen if node.child_count < 0 and node.role == "menu" and node.has(StateBit.SELECTED)]
    await count_children(bus, [*managed, *opened])


async def count_children(bus: Bus, nodes: Sequence[Node]) -> None:
    """Read how many children nodes have now."""
    counts = await all_properties(bus, [node.ref for node in nodes], "Accessible", "ChildCount")
    for node, number in zip(nodes, counts, strict=True):
        node.child_count = number if isinstance(number, int) and number >= 0 else UNCOUNTED


def is_managed(node: Node) -> bool:
    """Return whether a node creates its children on demand."""
    return node.has(StateBit.MANAGES_DESCENDANTS)


def showing(application: Application) -> list[Node]:
    """Return the visible nodes, parents before their children; windows count as visible, since some are not marked."""
    visible = application.shows_by.value
    found: list[Node] = []
    seen: set[Ref] = set()
    wave = list(application.tops)
    while wave:
        found.extend(wave)
        seen.update(node.ref for node in wave)
        inner = (child for node in wave for child in node.children if child.states & visible and child.ref not in seen)
        wave = list({child.ref: child for child in inner}.values())
    return found


def bound_tree(application: Application) -> None:
    """Make a tree of bounded size of what an application reports.

    Each object stays where it is found first, and objects of other applications are removed; false reports could
    otherwise cause endless reading, or pass off the elements of others as their own.
    """
    visible = application.shows_by
    seen = {top.ref for top in application.tops}
    level, shown = list(application.tops), 0
    application.cut = False
    for depth in range(MOST_LEVELS + 1):
        below: list[Node] = []
        for node in level:
            own = []
            for child in node.children if depth < MOST_LEVELS else ():
                if child.ref in seen or child.ref.name in application.strangers:
                    continue
                shown += child.has(visible)
                if shown > MOST_SHOWING:
                    application.cut = True
                    break
                seen.add(child.ref)
                own.append(child)
            if len(own) < len(node.children):
                application.cut |= depth == MOST_LEVELS
                node.children, node.child_count = own, len(own)
            below += own
        if not below:
            return
        level = below


def reachable(application: Application) -> dict[Ref, Node]:
    """Return the nodes in the application's windows by reference."""
    found: dict[Ref, Node] = {}
    pending = list(application.tops)
    while pending:
        node = pending.pop()
        if node.ref not in found:
            found[node.ref] = node
            pending.extend(node.children)
    return found


def tops_with(application: Application, refs: Set[Ref]) -> frozenset[Ref]:
    """Return the application's windows that are or contain any of these objects."""
    found = set()
    for top in application.tops:
        pending = [top]
        while pending:
            node = pending.pop()
            if node.ref in refs:
                found.add(top.ref)
                break
            pending.extend(node.children)
    return frozenset(found)


async def child_refs(bus: Bus, ref: Ref) -> list[Ref]:
    """Return the reported children of an object; [] if it is gone."""
    [children] = await all_child_refs(bus, [ref])
    return children


async def all_child_refs(bus: Bus, refs: Iterable[Ref]) -> list[list[Ref]]:
    """Return the reported children of each of some objects; [] for one that is gone."""
    answers = await bus.ask_all([(*ref, _ACCESSIBLE, "GetChildren", "", ()) for ref in refs])
    return [
        [ref for child in (children or ())[:MOST_LISTED] if (ref := object_ref(child)) is not None]
        for children in answers
    ]


async def all_states(bus: Bus, refs: Iterable[Ref]) -> list[int | None]:
    """Return the state bits of objects, None for each that is gone."""
    answers = await bus.ask_all([(*ref, _ACCESSIBLE, "GetState", "", ()) for ref in refs])
    return [None if states is None else states[0] | states[1] << 32 for states in answers]


async def describe(bus: Bus, application: Application, refs: Sequence[Ref], parent: Ref) -> list[Node]:
    """Return nodes for children of an object; those that are gone are omitted."""
    states = await all_states(bus, refs)
    found = [Found(ref, parent, bits) for ref, bits in zip(refs, states, strict=True) if bits is not None]
    return await _describe(bus, application, found)


class Found(NamedTuple):
    """An object of which only parent and states are known."""

    ref: Ref
    parent: Ref
    states: int


async def _describe(bus: Bus, application: Application, found: Sequence[Found]) -> list[Node]:
    refs = [item.ref for item in found]
    chromium = application.toolkit.startswith("Chromium")
    properties, numbers, offers = await asyncio.gather(
        get_properties(bus, application, refs),
        bus.ask_all([(*ref, _ACCESSIBLE, "GetRole", "", ()) for ref in refs]),
        _all_interfaces(bus, () if chromium else refs),
    )
    roles = [role_name(number or 0) for number in numbers]
    if chromium:
        offers = await _interfaces_in_page(bus, refs, roles)
    return [
        Node(
            ref=item.ref,
            parent=item.parent,
            role=role,
            name=property_value(values, "Name", ""),
            description=property_value(values, "Description", ""),
            states=corrected_states(role, item.states),
            interfaces=offered,
            child_count=property_value(values, "ChildCount", -1),
        )
        for item, values, role, offered in zip(found, properties, roles, offers, strict=True)
        if offered and values is not None
    ]


async def identify(bus: Bus, nodes: Sequence[Node]) -> None:
    """Read roles and interfaces: LibreOffice reports those of menu contents only once they are shown."""
    numbers, offers = await asyncio.gather(
        bus.ask_all([(*node.ref, _ACCESSIBLE, "GetRole", "", ()) for node in nodes]),
        _all_interfaces(bus, [node.ref for node in nodes]),
    )
    for node, number, offered in zip(nodes, numbers, offers, strict=True):
        node.role = role_name(number or 0)
        node.interfaces = offered or node.interfaces


async def _all_interfaces(bus: Bus, refs: Iterable[Ref]) -> list[frozenset[str]]:
    """Return the short names of the interfaces of each of some objects; none for one that is gone."""
    answers = await bus.ask_all([(*ref, _ACCESSIBLE, "GetInterfaces", "", ()) for ref in refs])
    return [_short(answer or ()) for answer in answers]


async def _interfaces_in_page(bus: Bus, refs: Sequence[Ref], roles: Sequence[str]) -> list[frozenset[str]]:
    """Return the interfaces of objects of Chromium, which is asked only where their roles do not tell them."""
    to_ask = [ref for ref, role in zip(refs, roles, strict=True) if role not in _ALIKE_IN_PAGE]
    asked = iter(await _all_interfaces(bus, to_ask))
    return [IN_PAGE if role in _ALIKE_IN_PAGE else next(asked) for role in roles]


async def get_property(bus: Bus, ref: Ref, interface: str, name: str) -> Any:
    """Return a property of an object, or None if it is refused."""
    [value] = await all_properties(bus, [ref], interface, name)
    return value


async def all_properties(bus: Bus, refs: Iterable[Ref], interface: str, name: str) -> list[Any]:
    """Return a property of each of some objects, None if it is refused."""
    return await bus.ask_all([(*ref, PROPERTIES, "Get", "ss", (PREFIX + interface, name)) for ref in refs])


async def get_properties(bus: Bus, application: Application, refs: Sequence[Ref]) -> list[dict[str, Any] | None]:
    """Return the name, description and child count of each of some objects; None where an object is gone.

    GTK and Chromium are asked for all properties at once, which takes 40% less time for GTK 3, and half for GTK 4.
    `Properties.GetAll` crashes every Qt 5 application: `AtSpiAdaptor::handleMessage` reads a second argument, which it
    does not have.
    """
    if application.toolkit.startswith(_GIVE_ALL_PROPERTIES) and not application.gently:
        answers = await bus.ask_all([(*ref, PROPERTIES, "GetAll", "s", (PREFIX + "Accessible",)) for ref in refs])
        return [found if isinstance(found, dict) else None for found in answers]
    values = await asyncio.gather(*(all_properties(bus, refs, "Accessible", name) for name in _DESCRIBING))
    each = (dict(zip(_DESCRIBING, found, strict=True)) for found in zip(*values, strict=True))
    return [{key: value for key, value in found.items() if value is not None} or None for found in each]


def property_value(properties: dict[str, Any], key: str, default: Any) -> Any:
    """Return one of an object's properties, or the default if its type differs."""
    value = properties.get(key, default)
    return value if isinstance(value, type(default)) else default
