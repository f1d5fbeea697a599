"""Pages of WebKitGTK (GNOME Web, Yelp): their objects belong to another process, in a socket of a window of GTK 3."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from aci.accessibility.atspi import PREFIX, Ref, StateBit, object_ref
from aci.accessibility.dbus.bus import DBUS_NAME, DBUS_PATH, PING_LIMIT_S, Bus, CallRefused
from aci.accessibility.tree.capture import all_child_refs, all_properties, describe, repair, showing
from aci.accessibility.tree.nodes import Application, Node

MOST_SOCKETS = 64  # objects without any state that are asked for what they hold
_SHOWS = (StateBit.SHOWING | StateBit.VISIBLE).value
_INTERFACES = frozenset({"Accessible", "Component"})


async def show_embedded(bus: Bus, application: Application) -> None:
    """Add what another process shows in a window of GTK 3, and note its connection (`Application.embedded`).

    A socket reports no states and an empty list of children; only the child at its index 0 is told. That counts if it
    names the socket as its parent, so that no application can pass off the objects of another as its own. Neither it
    nor the view in it, which holds the page, is said to show.
    """
    application.embedded = set()
    if not application.toolkit.startswith("gtk"):
        return
    sockets = [child for node in showing(application) for child in node.children if not child.states][:MOST_SOCKETS]
    plugs = await _plugs(bus, application, sockets)
    for (socket, ref), views in zip(plugs, await all_child_refs(bus, [ref for _, ref in plugs]), strict=True):
        plug = application.nodes.setdefault(ref, Node(ref, socket.ref, "filler", "", "", 0, _INTERFACES))
        if views != [view.ref for view in plug.children]:
            plug.children = await describe(bus, application, views, ref)
            application.nodes.update({view.ref: view for view in plug.children})
        socket.children, plug.child_count = [plug], len(plug.children)
        for node in (socket, plug, *plug.children):
            node.keep_reported()
            node.states |= _SHOWS
        socket.role, socket.child_count = "filler", 1
        application.embedded.add(ref.name)
    if application.embedded:
        await repair(bus, application)


async def _plugs(bus: Bus, application: Application, sockets: Sequence[Node]) -> list[tuple[Node, Ref]]:
    """Return the sockets that hold an object of another process, with that object."""
    answers = await bus.ask_all([(*each.ref, PREFIX + "Accessible", "GetChildAtIndex", "i", (0,)) for each in sockets])
    held = [(each, ref) for each, answer in zip(sockets, answers, strict=True) if (ref := object_ref(answer))]
    owners = await bus.ask_all([(DBUS_NAME, DBUS_PATH, DBUS_NAME, "GetNameOwner", "s", (ref.name,)) for _, ref in held])
    others = application.strangers | {application.root.name}
    plugs = [
        (socket, Ref(owner, ref.path))
        for (socket, ref), owner in zip(held, owners, strict=True)
        if isinstance(owner, str) and owner not in others
    ]
    for _, ref in plugs:
        await _ask_again(bus, ref)
    parents = await all_properties(bus, [ref for _, ref in plugs], "Accessible", "Parent")
    return [
        (socket, ref)
        for (socket, ref), parent in zip(plugs, parents, strict=True)
        if parent and object_ref(parent) == socket.ref
    ]


async def _ask_again(bus: Bus, ref: Ref) -> None:
    """Ask a process that did not answer before whether it does now; a page may be busy for a while."""
    if bus.silent(ref.name):
        bus.forgive(ref.name)
        with suppress(CallRefused):
            await bus.call(*ref, PREFIX + "Accessible", "GetRole", limit_s=PING_LIMIT_S)
