"""What is done on one desktop is not seen on another one, nor by whoever started both."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from aci.errors import ConnectionLost
from aci.processes import belonging_to
from benchmarks.support.reference import SYSTEM_PYTHON

pytestmark = pytest.mark.desktop

LIMIT_S = 60.0
SCHEMA, KEY = "org.gnome.desktop.interface", "cursor-size"


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[VirtualDesktop, VirtualDesktop]]:
    with VirtualDesktop(ocr=None) as one, VirtualDesktop(ocr=None) as other:
        yield one, other


def told(desktop: VirtualDesktop, command: Sequence[str], **more: str) -> str:
    """Return what a program says on a desktop, "" where it fails."""
    environment = {**desktop.environment, **more}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def copy(desktop: VirtualDesktop, text: str, selection: str) -> None:
    """Copy a text; xclip goes on offering it in the background."""
    command = ["xclip", "-selection", selection, "-in"]
    quiet = subprocess.DEVNULL
    subprocess.run(
        command, env=desktop.environment, input=text, text=True, stdout=quiet, stderr=quiet, timeout=LIMIT_S, check=True
    )


def paste(desktop: VirtualDesktop, selection: str = "clipboard") -> str:
    return told(desktop, ["xclip", "-selection", selection, "-out"])


def names(desktop: VirtualDesktop) -> str:
    """Return the names on a desktop's session bus."""
    to = ["--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus"]
    return told(desktop, ["gdbus", "call", "--session", *to, "--method", "org.freedesktop.DBus.ListNames"])


def test_clipboards_are_apart_and_can_be_emptied(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    one, other = pair
    for selection in ("clipboard", "primary"):
        copy(one, "only here", selection)
        assert paste(one, selection) == "only here"
        assert paste(other, selection) == ""
    copy(other, "and there", "clipboard")
    assert (paste(one), paste(other)) == ("only here", "and there")
    one.x11.screen.clear_clipboard()
    assert (paste(one), paste(one, "primary"), paste(other)) == ("", "", "and there")


def test_files_go_to_folders_of_their_own(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    folders = (
        "HOME",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    )
    ours, theirs = ([Path(desktop.environment[name]) for name in folders] for desktop in pair)
    for mine in ours:
        assert not any(mine == their or mine in their.parents or their in mine.parents for their in theirs)
        assert os.environ.get("HOME") != str(mine)
    told(pair[0], ["sh", "-c", 'for place in "$HOME" "$TMPDIR" "$XDG_CONFIG_HOME"; do echo x > "$place/mark"; done'])
    assert all((mine / "mark").exists() for mine in (ours[0], ours[1], ours[3]))
    assert not any((their / "mark").exists() for their in theirs)


def test_settings_stay_on_their_desktop(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    one, other = pair
    usual = told(other, ["gsettings", "get", SCHEMA, KEY])
    assert usual
    told(one, ["gsettings", "set", SCHEMA, KEY, "77"])
    assert told(one, ["gsettings", "get", SCHEMA, KEY]) == "77", "an application sees what another one set"
    assert told(other, ["gsettings", "get", SCHEMA, KEY]) == usual
    own = {**os.environ, "GSETTINGS_BACKEND": "keyfile"}
    done = subprocess.run(["gsettings", "get", SCHEMA, KEY], env=own, capture_output=True, text=True, check=True)
    assert done.stdout.strip() != "77"


@pytest.mark.skipif(not Path("/usr/libexec/dconf-service").exists(), reason="dconf is not installed")
def test_dconf_writes_into_the_home_of_its_desktop(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    one, other = pair
    told(one, ["gsettings", "set", SCHEMA, KEY, "78"], GSETTINGS_BACKEND="dconf")
    assert told(one, ["gsettings", "get", SCHEMA, KEY], GSETTINGS_BACKEND="dconf") == "78"
    assert told(other, ["gsettings", "get", SCHEMA, KEY], GSETTINGS_BACKEND="dconf") not in ("", "78")


def test_windows_and_names_on_the_bus_are_seen_on_one_desktop_only(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    one, other = pair
    before = names(other)
    assert "org.freedesktop.DBus" in before
    process = one.launch(["mousepad"])
    deadline = time.monotonic() + LIMIT_S
    while "org.xfce.mousepad" not in names(one):
        assert time.monotonic() < deadline, names(one)
    assert "mousepad" not in names(other)
    assert [window.app for window in one.observe().windows] == ["Mousepad"]
    assert {element.app for element in one.observe().elements}
    assert other.observe().windows == ()
    assert other.observe().elements == ()
    process.terminate()


def test_killed_server_affects_no_other_desktop(pair: tuple[VirtualDesktop, VirtualDesktop]) -> None:
    _, other = pair
    with VirtualDesktop(ocr=None) as broken:
        broken.launch(["xterm"])
        (server,) = [pid for pid in belonging_to(broken.id) if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n"]
        os.kill(server, signal.SIGKILL)
        with pytest.raises(ConnectionLost):
            while True:
                broken.observe()
        marked = broken.id
        assert other.observe().screenshot.shape == (800, 1280, 3)
        process = other.launch(["xterm", "-title", "still here"])
        assert [window.title for window in other.observe().windows] == ["still here"]
        process.terminate()
    assert not belonging_to(marked)


def test_a_reset_leaves_nothing_of_the_episode_before() -> None:
    with VirtualDesktop(ocr=None) as desktop:
        copy(desktop, "from before", "clipboard")
        told(desktop, ["gsettings", "set", SCHEMA, KEY, "79"])
        (desktop.home / "Documents/note.txt").write_text("from before")
        desktop.launch(["xterm"])
        desktop.reset()
        assert paste(desktop) == ""
        assert told(desktop, ["gsettings", "get", SCHEMA, KEY]) not in ("", "79")
        assert list((desktop.home / "Documents").iterdir()) == []
        assert desktop.observe().windows == ()


_ASK_GTK = """
import gi; gi.require_version("Gtk", "{version}")
from gi.repository import Gtk
Gtk.init({arguments})
print(Gtk.Settings.get_default().props.gtk_enable_animations)
"""


@pytest.mark.parametrize(("version", "arguments"), [("3.0", "None"), ("4.0", "")])
def test_gtk_draws_without_animations_unless_the_home_says_otherwise(
    pair: tuple[VirtualDesktop, VirtualDesktop], version: str, arguments: str
) -> None:
    find = [SYSTEM_PYTHON, "-c", f"import gi; gi.require_version('Gtk', '{version}'); print('found')"]
    if told(pair[0], find) != "found":
        pytest.skip(f"needs GTK {version} with its introspection data")
    ask = [SYSTEM_PYTHON, "-c", _ASK_GTK.format(version=version, arguments=arguments)]
    assert told(pair[0], ask) == "False"
    own = pair[1].home / f".config/gtk-{version}/settings.ini"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("[Settings]\ngtk-enable-animations=1\n", encoding="utf-8")
    assert told(pair[1], ask) == "True"
