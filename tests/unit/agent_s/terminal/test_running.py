from __future__ import annotations

import click
import pytest

from agent_s.terminal.running import choose_desktop


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)


def test_own_screen_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_desktop(None, virtual=False).display is None
    monkeypatch.setenv("DISPLAY", ":7")
    assert choose_desktop(None, virtual=False).display == ":7"
    assert choose_desktop(None, virtual=True).display is None
    with pytest.raises(click.UsageError):
        choose_desktop(":7", virtual=True)


def test_wayland_session_is_used_only_where_it_is_asked_for_and_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    left = choose_desktop(None, virtual=False)
    assert left.display is None
    assert "--display :7" in left.words
    asked = choose_desktop(":7", virtual=False)
    assert asked.display == ":7"
    assert "only XWayland windows" in asked.words
    assert "--virtual" in asked.words
    assert choose_desktop(":9", virtual=False).words == "the screen :9"  # another server, such as Xvfb
    monkeypatch.delenv("DISPLAY")
    assert "Wayland" in choose_desktop(None, virtual=False).words
