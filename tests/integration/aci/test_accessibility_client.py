"""The accessibility client by itself, against a real bus."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from aci.accessibility.client import AccessibilityClient
from aci.accessibility.connection import connect_accessibility
from aci.accessibility.dbus.bus import Bus, accessibility_bus_address
from aci.acting.actions import Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.errors import ConnectionLost
from aci.observation.observation import Element
from tests.integration.aci.seeing import element, find, until

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def editor() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1000, 700)) as desktop:
        desktop.launch(["mousepad"])
        element(desktop, "menu", "File")
        yield desktop


@pytest.fixture
def client(editor: VirtualDesktop) -> Iterator[AccessibilityClient]:
    made = connect_accessibility("dbus", editor.environment)
    yield made
    made.close()


def read(client: AccessibilityClient, editor: VirtualDesktop) -> tuple[Element, ...]:
    screen = editor.x11.screen
    return client.read(screen.windows(), screen.rect).elements


def body(elements: tuple[Element, ...]) -> Element:
    return next(item for item in elements if item.role == "text")


def test_text_is_set_and_read_back_exactly(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    field = body(read(client, editor))
    text = "é 中 😀\n" * 3
    assert client.set_text(field.id, text)
    assert client.element_text(field.id) == text
    assert body(read(client, editor)).text == text


def test_labels_take_no_text(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    menu = next(item for item in read(client, editor) if item.role == "menu")
    assert not client.set_text(menu.id, "x")
    assert not client.set_text(10_000, "x")
    assert client.element_text(10_000) is None


def test_menu_item_is_located_until_its_menu_closes(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    editor.perform(Click(element_id=element(editor, "menu", "Edit").id))
    until(editor, lambda seen: find(seen, "menu item", "Paste"))
    item = next(item for item in read(client, editor) if item.name == "Paste")
    assert client.locate(item.id) == item.rect
    editor.perform(Hotkey(keys=("Escape",)))
    until(editor, lambda seen: not find(seen, "menu item", "Paste"))
    assert client.locate(item.id) is None
    assert client.locate(10_000) is None


def test_events_are_noticed(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    field = body(read(client, editor))
    before = client.last_event_at()
    client.set_text(field.id, "changed")
    until(editor, lambda _: client.last_event_at() > before)


def test_applications_are_named_with_their_process(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    [(name, pid)] = client.applications()
    assert name == "mousepad"
    assert pid in {window.pid for window in editor.observe().windows}


def test_lost_connection_comes_back_by_itself(editor: VirtualDesktop) -> None:
    bus = Bus(accessibility_bus_address(editor.environment["DBUS_SESSION_BUS_ADDRESS"]))
    client = AccessibilityClient(bus)
    before = read(client, editor)
    bus.close()
    assert [(item.id, item.name) for item in read(client, editor)] == [(item.id, item.name) for item in before]
    client.close()


def test_closed_client_raises(editor: VirtualDesktop) -> None:
    client = connect_accessibility("dbus", editor.environment)
    client.close()
    client.close()
    with pytest.raises(ConnectionLost):
        client.applications()


def test_closing_cancels_pending_work(editor: VirtualDesktop, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        client = connect_accessibility("dbus", editor.environment)
        read(client, editor)
        client.rest(5.0)
        client.close()
        del client
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_bus_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConnectionLost):
        connect_accessibility("dbus", {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"})
    client = AccessibilityClient(Bus("unix:path=/nonexistent/bus"))
    with pytest.raises(ConnectionLost):
        client.connect()
    client.close()


def test_bus_that_goes_away_is_an_error() -> None:
    with VirtualDesktop(size=(400, 300)) as desktop:
        client = connect_accessibility("dbus", desktop.environment)
        screen, windows = desktop.x11.screen.rect, desktop.x11.screen.windows()
    try:
        with pytest.raises(ConnectionLost):
            client.read(windows, screen)
    finally:
        client.close()


def test_client_works_inside_a_running_event_loop(editor: VirtualDesktop) -> None:
    async def inside() -> list[tuple[str, int]]:
        client = await asyncio.to_thread(connect_accessibility, "dbus", editor.environment)
        try:
            return client.applications()
        finally:
            client.close()

    assert asyncio.run(inside())


def test_elements_are_asked_without_a_reading(client: AccessibilityClient, editor: VirtualDesktop) -> None:
    elements = read(client, editor)
    field, menu = body(elements), next(item for item in elements if item.role == "menu")
    client.set_text(field.id, "as it is now")
    unknown = replace(field, id=10_000)
    assert client.now([menu, field, unknown]) == [menu, replace(field, text="as it is now"), None]
    assert client.is_unchanged(menu.id) and client.is_unchanged(field.id)
    assert not client.is_unchanged(10_000)


def test_answers_of_an_element_that_is_gone_are_not_the_same(
    client: AccessibilityClient, editor: VirtualDesktop
) -> None:
    editor.perform(Click(element_id=element(editor, "menu", "Edit").id))
    until(editor, lambda seen: find(seen, "menu item", "Paste"))
    item = next(item for item in read(client, editor) if item.name == "Paste")
    assert client.is_unchanged(item.id)
    editor.perform(Hotkey(keys=("Escape",)))
    until(editor, lambda seen: not find(seen, "menu item", "Paste"))
    assert not client.is_unchanged(item.id)
    assert client.now([item]) == [None]


def test_closed_client_knows_no_element(editor: VirtualDesktop) -> None:
    made = connect_accessibility("dbus", editor.environment)
    field = body(read(made, editor))
    made.close()
    assert made.now([field]) == [None]
    assert not made.is_unchanged(field.id)
