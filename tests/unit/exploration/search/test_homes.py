"""Files and settings of a home."""

from __future__ import annotations

import os
from pathlib import Path

from agent_s.probes.preferences import KEYFILE
from exploration.search.homes import read_home


def test_home_state_separates_files_and_settings(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("one")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/x").write_text("noise")
    keyfile = tmp_path / KEYFILE
    keyfile.parent.mkdir(parents=True)
    keyfile.write_text(
        "[org/app/view]\nnumbers=true\nwidth=640\nsplitter-pos=150\n\n[org/gtk/settings/file-chooser]\nsort='name'\n"
    )
    home = read_home(tmp_path)
    assert list(home.files) == ["note.txt"]
    assert home.settings == {"org/app/view/numbers": "true"}


def test_changed_file_changes_the_home_state(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("one")
    before = read_home(tmp_path)
    (tmp_path / "note.txt").write_text("two")
    assert read_home(tmp_path) != before
    (tmp_path / "note.txt").write_text("one")
    assert read_home(tmp_path) == before


def test_lock_of_a_running_program_is_no_part_of_a_home(tmp_path: Path) -> None:
    lock, number = tmp_path / "editor-ann", tmp_path / "number"
    lock.write_bytes(f"{os.getpid()}\0".encode())
    lock.chmod(0o600)
    number.write_text(str(os.getpid()))
    number.chmod(0o644)
    assert list(read_home(tmp_path).files) == ["number"]


def test_special_files_are_tolerated(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "missing")
    assert read_home(tmp_path).files == {"broken": "special"}


def test_settings_do_not_tell_one_home_from_another(tmp_path: Path) -> None:
    homes = []
    for name in ("one", "two"):
        keyfile = tmp_path / name / KEYFILE
        keyfile.parent.mkdir(parents=True)
        keyfile.write_text(f"[org/app]\nroot='file://{tmp_path / name}'\n")
        homes.append(read_home(tmp_path / name))
    assert homes[0].settings == homes[1].settings == {"org/app/root": "'file://~'"}
