"""The clipboard, with xclip as the other application."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest

from aci.desktop.virtual import VirtualDesktop
from aci.input.clipboard import Clipboard, Content
from aci.screen.screen import open_display
from tests.integration.aci.seeing import LIMIT_S

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(shutil.which("xclip") is None, reason="xclip is the other application"),
]


@pytest.fixture
def clipboard(desktop: VirtualDesktop) -> Iterator[Clipboard]:
    opened = Clipboard(desktop.display)
    yield opened
    opened.close()


def other_reads(desktop: VirtualDesktop) -> str:
    answer = subprocess.run(
        ["xclip", "-selection", "clipboard", "-out"],
        env=desktop.environment,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    return answer.stdout.decode()


def other_offers(desktop: VirtualDesktop, text: str, target: str = "UTF8_STRING") -> None:
    command = ["xclip", "-selection", "clipboard", "-target", target, "-in"]
    before = owner(desktop)
    subprocess.run(command, env=desktop.environment, input=text.encode(), timeout=LIMIT_S, check=True)
    deadline = time.monotonic() + LIMIT_S
    while owner(desktop) in (before, 0):  # It takes the clipboard in the background.
        assert time.monotonic() < deadline
        time.sleep(0.01)


def owner(desktop: VirtualDesktop) -> int:
    display = open_display(desktop.display)
    window = display.get_selection_owner(display.intern_atom("CLIPBOARD"))
    display.close()
    return window.id if window else 0


@pytest.mark.parametrize(
    "text", ["plain", "é 中 😀\nsecond", "", "x" * 400_000], ids=["plain", "unicode", "empty", "long"]
)
def test_offered_text_is_read_by_other_programs(desktop: VirtualDesktop, clipboard: Clipboard, text: str) -> None:
    clipboard.offer(text)
    assert other_reads(desktop) == text
    assert clipboard.wait_taken(1.0)


def test_offered_text_is_not_taken_without_a_request(clipboard: Clipboard) -> None:
    clipboard.offer("text")
    assert not clipboard.wait_taken(0.05)


def test_clipboard_of_other_programs_is_read(desktop: VirtualDesktop, clipboard: Clipboard) -> None:
    other_offers(desktop, "theirs é 中")
    assert clipboard.content() == Content("theirs é 中", plain=True)


def test_a_later_owner_takes_over(desktop: VirtualDesktop, clipboard: Clipboard) -> None:
    clipboard.offer("mine")
    assert clipboard.content() == Content("mine", plain=True)
    other_offers(desktop, "theirs")
    assert clipboard.content() == Content("theirs", plain=True)
    clipboard.clear()  # What belongs to somebody else stays.
    assert other_reads(desktop) == "theirs"


def test_content_other_than_plain_text_is_reported(desktop: VirtualDesktop, clipboard: Clipboard) -> None:
    other_offers(desktop, "<b>bold</b>", target="text/html")
    assert clipboard.content() == Content(None, plain=False)


def test_a_cleared_clipboard_is_empty(clipboard: Clipboard) -> None:
    clipboard.offer("mine")
    clipboard.clear()
    assert clipboard.content() == Content(None, plain=True)
