"""What a killed owner leaves, and its removal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aci.desktop.cleanup import find_abandoned, remove_abandoned, remove_when_abandoned
from aci.desktop.folders import Owner, create_folder, desktop_folders
from aci.desktop.virtual import VirtualDesktop
from aci.processes import belonging_to, boot_id, bound_sockets, is_answered, living, start_ticks
from tests.integration.aci.seeing import LIMIT_S, wait_until

pytestmark = pytest.mark.desktop

OWNER = """
import sys
from pathlib import Path
from aci.desktop.virtual import VirtualDesktop
desktop = VirtualDesktop(parent=Path(sys.argv[1]), keep_home=len(sys.argv) > 2)
desktop.start()
desktop.launch(["xterm"])
print(desktop.id, desktop.display, flush=True)
sys.stdin.read()
"""


def start_owner(parent: Path, *options: str) -> tuple[subprocess.Popen[str], str, str]:
    """Start a process that owns a desktop; return it with the desktop's name and display."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(parent), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    desktop_id, display = owner.stdout.readline().split()
    return owner, desktop_id, display


def watchers(owner: int) -> list[int]:
    return [stat.pid for stat in living().values() if stat.parent == owner and stat.program == "sh"]


def kill(owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.communicate()


def kill_with_watcher(owner: subprocess.Popen[str]) -> None:
    """Kill an owner so that its desktop stays."""
    (watcher,) = watchers(owner.pid)
    os.kill(watcher, signal.SIGKILL)
    kill(owner)


def test_a_desktop_ends_with_its_killed_owner(parent: Path) -> None:
    owner, desktop_id, display = start_owner(parent)
    number = int(display[1:])
    bound = bound_sockets(belonging_to(desktop_id))
    (place,) = desktop_folders(parent)
    assert len(belonging_to(desktop_id)) >= 5
    assert bound
    kill(owner)
    wait_until(lambda: not place.path.exists())
    assert belonging_to(desktop_id) == set()
    assert not [path for path in (*bound, Path(f"/tmp/.X{number}-lock")) if path.exists() and not is_answered(path)]


def test_a_desktop_outlives_the_death_of_another_owner(parent: Path) -> None:
    owner, killed, _ = start_owner(parent)
    with VirtualDesktop(parent=parent) as desktop:
        desktop.launch(["xterm"])
        kill(owner)
        wait_until(lambda: len(list(desktop_folders(parent))) == 1)
        assert belonging_to(killed) == set()
        assert [window.app for window in desktop.windows()] == ["XTerm"]


def test_a_home_that_is_to_be_kept_outlives_a_killed_owner(parent: Path) -> None:
    owner, desktop_id, _ = start_owner(parent, "keep its home")
    (place,) = desktop_folders(parent)
    kill(owner)
    wait_until(lambda: place.kept and not place.logs.exists())
    assert belonging_to(desktop_id) == set()
    assert (place.home / "Documents").is_dir()
    assert find_abandoned(parent) == []


def test_no_watcher_stays_after_a_desktop_was_stopped(parent: Path) -> None:
    with VirtualDesktop(parent=parent):
        assert len(watchers(os.getpid())) == 1
    assert watchers(os.getpid()) == []


def test_files_and_processes_of_an_owner_killed_with_its_watcher_are_removed(parent: Path) -> None:
    owner, desktop_id, display = start_owner(parent)
    try:
        assert find_abandoned(parent) == []  # Its owner lives.
    finally:
        kill_with_watcher(owner)
    (found,) = find_abandoned(parent)
    assert found.desktop_id == desktop_id
    assert found.display == int(display[1:])
    assert len(found.processes) >= 5
    assert remove_abandoned([found]) == []
    assert belonging_to(desktop_id) == set()
    assert not found.folder.exists()
    assert find_abandoned(parent) == []


def test_socket_of_a_killed_server_is_removed(parent: Path) -> None:
    owner, _, display = start_owner(parent)
    kill_with_watcher(owner)
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


def test_a_watcher_removes_nothing_before_its_owner_has_ended(parent: Path) -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        started = start_ticks(process.pid)
        assert started is not None
        place = create_folder(parent)
        place.write_owner(Owner(pid=process.pid, started=started, boot=boot_id()))
        watching = threading.Thread(target=remove_when_abandoned, args=(place,))
        watching.start()
        watching.join(0.2)
        assert watching.is_alive()
        assert place.path.exists()
        process.kill()
    watching.join(LIMIT_S)
    assert not place.path.exists()
    remove_when_abandoned(place)  # which is gone


def test_a_watcher_does_not_wait_for_another_process_with_the_number_of_its_owner(parent: Path) -> None:
    place = create_folder(parent)
    own = Owner.this_process()
    place.write_owner(Owner(pid=own.pid, started=own.started - 1, boot=own.boot))
    remove_when_abandoned(place)
    assert not place.path.exists()


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
