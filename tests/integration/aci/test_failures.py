"""Real applications and servers that hang and die."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psutil
import pytest

from aci.accessibility.connection import connect_accessibility
from aci.acting.actions import Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError, ConnectionLost
from aci.observation.observation import Observation
from aci.screen.screen import Screen, open_display
from agent_s import AgentS, Task
from agent_s.offline import OfflineModel
from tests.integration.aci.seeing import LIMIT_S, element, find, until

pytestmark = pytest.mark.desktop


def pid_of(desktop: VirtualDesktop, part: str) -> int:
    """Return the process of this desktop whose command line has a part."""
    for process in psutil.process_iter(["cmdline", "environ"]):
        environment, words = process.info["environ"] or {}, process.info["cmdline"] or []
        if environment.get("AGENT_S_DESKTOP") == desktop.id and part in " ".join(words):
            return int(process.pid)
    raise AssertionError(f"no process {part!r}")


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def named(seen: Observation, app: str) -> list[tuple[int, str, str]]:
    return [(each.id, each.role, each.name) for each in seen.elements if each.app == app]


@pytest.fixture(scope="module")
def two() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1400, 800), ocr=None) as desktop:
        desktop.launch(["thunar"])
        desktop.launch(["mousepad"])
        until(desktop, lambda seen: find(seen, "menu", "Document") and find(seen, "menu", "Go"))
        yield desktop


def test_stopped_application_is_named_and_comes_back_as_it_was(two: VirtualDesktop) -> None:
    before = two.observe()
    editor, files = named(before, "mousepad"), named(before, "thunar") + named(before, "Thunar")
    assert editor
    assert files
    with stopped(pid_of(two, "mousepad")):
        for _ in range(2):
            seen = two.observe()
            assert named(seen, "mousepad") == []
            assert named(seen, "thunar") + named(seen, "Thunar") == files
            assert "mousepad does not answer; its elements are missing." in seen.notes
    seen = until(two, lambda seen: not seen.notes)
    assert named(seen, "mousepad") == editor


def test_application_that_answers_late_after_an_action_is_waited_for(two: VirtualDesktop) -> None:
    before = until(two, lambda seen: named(seen, "mousepad") and not seen.notes)
    editor = pid_of(two, "mousepad")
    two.perform(Hotkey(keys=("Escape",)))
    with stopped(editor):
        late = threading.Timer(2.5, os.kill, (editor, signal.SIGCONT))
        late.start()
        seen = two.observe()
        late.join()
    assert named(seen, "mousepad") == named(before, "mousepad")
    assert not seen.notes


def test_application_that_hangs_when_first_seen_is_known_when_it_comes_back(two: VirtualDesktop) -> None:
    screen = two.x11.screen
    with stopped(pid_of(two, "mousepad")):
        client = connect_accessibility("dbus", two.environment)
        reading = client.read(screen.windows(), screen.rect)
        assert reading.notes == ("Mousepad does not answer; its elements are missing.",)
    try:
        reading = client.read(screen.windows(), screen.rect)
        assert {each.app for each in reading.elements} >= {"mousepad"}
        assert ("mousepad", pid_of(two, "mousepad")) in client.applications()
    finally:
        client.close()


def test_killing_an_application_affects_nothing_else(two: VirtualDesktop) -> None:
    files = [each for each in two.observe().elements if each.app.lower() == "thunar"]
    os.kill(pid_of(two, "mousepad"), signal.SIGKILL)
    seen = two.observe()
    assert {each.id for each in files} <= set(seen.by_id)
    until(two, lambda seen: not named(seen, "mousepad") and not seen.notes)
    assert two.perform(Click(element_id=files[0].id)).ok
    two.perform(Hotkey(keys=("Escape",)))


def test_windows_that_die_between_list_and_look_are_left_out(two: VirtualDesktop) -> None:
    screen, display, over = two.x11.screen, open_display(two.display), threading.Event()
    identity, managed = 0, screen.managed_windows()

    def come_and_go() -> None:
        nonlocal identity
        while not over.is_set():
            window = display.screen().root.create_window(0, 0, 50, 50, 0, 24, override_redirect=True)
            window.map()
            display.sync()
            identity = int(window.id)
            window.destroy()
            display.sync()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(100):
            assert {window.id for window in screen.windows() if not window.popup} == {one.id for one in managed}
            assert screen.managed_windows() == managed
    finally:
        over.set()
        thread.join()
        display.close()
    assert not screen.is_tooltip(identity)
    assert not screen.activate(identity, limit_s=0.05)


def test_without_its_accessibility_bus_a_screen_is_still_read() -> None:
    with VirtualDesktop(size=(900, 600)) as desktop:
        desktop.launch(["mousepad"])
        menu = element(desktop, "menu", "Document")
        os.kill(pid_of(desktop, "accessibility.conf"), signal.SIGKILL)
        assert not desktop.perform(Click(element_id=menu.id)).ok
        seen = until(desktop, lambda seen: find(seen, "text line", "Document"))
        assert any(note.startswith("No elements but recognized texts can be seen") for note in seen.notes)
        word = find(seen, "text line", "Document")
        assert word is not None
        assert desktop.perform(Click(element_id=word.id)).ok
        until(desktop, lambda seen: any(window.popup for window in seen.windows))


def test_a_display_that_dies_while_pixels_are_read_is_reported_and_closes_quietly() -> None:
    with VirtualDesktop(size=(600, 400), ocr=None) as desktop, closing(Screen(desktop.display)) as screen:
        threading.Timer(0.2, psutil.Process(pid_of(desktop, "Xvfb")).kill).start()
        deadline = time.monotonic() + LIMIT_S
        with pytest.raises(ConnectionLost, match="display went away"):
            while time.monotonic() < deadline:
                screen.frame()


def test_display_that_dies_ends_a_run_with_a_reason() -> None:
    with VirtualDesktop(size=(600, 400), ocr=None) as desktop:
        desktop.launch(["xterm"])
        assert desktop.observe().windows
        server = psutil.Process(pid_of(desktop, "Xvfb"))
        server.kill()
        server.wait(timeout=LIMIT_S)
        with pytest.raises(ConnectionLost, match="virtual desktop"):
            desktop.observe()
        with pytest.raises(AciError):
            desktop.perform(Hotkey(keys=("Escape",)))
        outcome = AgentS(model=OfflineModel(), desktop=desktop).run(Task(instruction="Type hello"))
        assert outcome.status == "error"
        assert "The X display went away" in outcome.reason
        assert "--virtual" in outcome.reason
