"""What a killed owner leaves, and its removal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aci.desktop.cleanup import find_abandoned, remove_abandoned
from aci.desktop.folders import Owner, create_folder
from aci.desktop.virtual import VirtualDesktop
from aci.processes import belonging_to, is_answered

pytestmark = pytest.mark.desktop

OWNER = """
import sys
from pathlib import Path
from aci.desktop.virtual import VirtualDesktop
desktop = VirtualDesktop(parent=Path(sys.argv[1]))
desktop.start()
desktop.launch(["xterm"])
print(desktop.id, desktop.display, flush=True)
sys.stdin.read()
"""


def test_files_and_processes_of_a_killed_owner_are_removed(parent: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    desktop_id, display = owner.stdout.readline().split()
    try:
        assert find_abandoned(parent) == []  # Its owner lives.
    finally:
        owner.kill()
        owner.communicate()
    (found,) = find_abandoned(parent)
    assert found.desktop_id == desktop_id
    assert found.display == int(display[1:])
    assert len(found.processes) >= 5
    assert remove_abandoned([found]) == []
    assert belonging_to(desktop_id) == set()
    assert not found.folder.exists()
    assert find_abandoned(parent) == []


def test_socket_of_a_killed_server_is_removed(parent: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    _, display = owner.stdout.readline().split()
    owner.kill()
    owner.communicate()
    (found,) = find_abandoned(parent)
    for pid in found.processes:
        os.kill(pid, signal.SIGKILL)
    socket = Path(f"/tmp/.X11-unix/X{display[1:]}")
    assert socket.exists()
    remove_abandoned(find_abandoned(parent))
    assert not socket.exists() or is_answered(socket)  # Another desktop may have taken the number since.


def test_running_desktop_is_never_removed(parent: Path) -> None:
    with VirtualDesktop(parent=parent) as desktop:
        assert find_abandoned(parent) == []
        assert len(belonging_to(desktop.id)) >= 4


def test_reused_process_id_is_not_an_owner(parent: Path) -> None:
    place = create_folder(parent)
    own = Owner.this_process()
    place.write_owner(Owner(pid=own.pid, started=own.started - 1, boot=own.boot))
    assert [item.desktop_id for item in find_abandoned(parent)] == [place.id]


def test_owner_of_an_earlier_boot_is_gone(parent: Path) -> None:
    place = create_folder(parent)
    own = Owner.this_process()
    place.write_owner(Owner(pid=own.pid, started=own.started, boot="another"))
    assert len(find_abandoned(parent)) == 1


def test_truncated_owner_record_counts_as_abandoned(parent: Path) -> None:
    place = create_folder(parent)
    (place.path / "owner.json").write_text('{"pid": 1')
    (found,) = find_abandoned(parent)
    assert remove_abandoned([found]) == []
    assert not place.path.exists()


def test_kept_home_is_not_removed(parent: Path) -> None:
    with VirtualDesktop(keep_home=True, parent=parent) as desktop:
        home = desktop.home
    assert find_abandoned(parent) == []
    assert home.is_dir()


def test_desktop_with_a_new_owner_is_not_removed(parent: Path) -> None:
    place = create_folder(parent)
    own = Owner.this_process()
    place.write_owner(Owner(pid=own.pid, started=own.started - 1, boot=own.boot))
    (found,) = find_abandoned(parent)
    place.write_owner(own)
    remove_abandoned([found])
    assert place.path.exists()


def test_desktop_of_a_user_namespace_is_found_and_removed(parent: Path) -> None:
    place = create_folder(parent)
    (place.path / "owner.json").unlink()
    place.path.parent.rename(place.path.parent.with_name("agent-s-4711"))
    (found,) = find_abandoned(parent)
    assert found.desktop_id == place.id
    assert remove_abandoned([found]) == []
    assert not found.folder.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root sees the folders of others")
def test_root_finds_the_desktop_of_another_user_and_leaves_it_to_them(parent: Path) -> None:
    place = create_folder(parent)
    (place.path / "owner.json").write_text('{"pid": "../self", "started": 1, "boot": ""}')
    os.chown(place.path.parent, 4711, 4711)
    os.chown(place.path, 4711, 4711)
    (found,) = find_abandoned(parent)
    assert found.user == 4711
    assert remove_abandoned([found]) == [found]
    assert place.path.exists()
