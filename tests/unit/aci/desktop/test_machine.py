from __future__ import annotations

from pathlib import Path

import pytest

from aci.applications.catalog import Application, Catalog
from aci.desktop.machine import read_machine, user_folders


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("Documents", "Downloads", "Dokumente", ".config"):
        (tmp_path / name).mkdir()
    return tmp_path


CATALOG = Catalog(
    (
        Application("org.gnome.Calculator", "Calculator", ("/usr/bin/calc",)),
        Application("org.gnome.Calculator", "Rechner", ("/usr/bin/calc", "--german")),
        Application("debian-xterm", "xterm", ("xterm",)),
        Application("debian-xterm", "xterm", ("xterm",)),
    )
)


def test_standard_folders_that_exist_are_found_by_their_usual_names(home: Path) -> None:
    assert user_folders({}, home) == ("~/Documents", "~/Downloads")


def test_folders_are_those_that_the_user_has_configured(home: Path) -> None:
    (home / ".config" / "user-dirs.dirs").write_text(
        '# a comment\nXDG_DOCUMENTS_DIR="$HOME/Dokumente"\nXDG_MUSIC_DIR="$HOME/"\nXDG_VIDEOS_DIR="$HOME/gone"\n'
        f'XDG_PUBLICSHARE_DIR="{home.parent}"\n',
        encoding="utf-8",
    )
    assert user_folders({}, home) == ("~/Dokumente", str(home.parent))


def test_facts_come_from_the_environment_of_the_applications(home: Path) -> None:
    environment = {"LANG": "de_DE.UTF-8", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"}
    machine = read_machine(environment, home, (800, 600), CATALOG, "Mutter", "de")
    assert (machine.desktop, machine.language, machine.keyboard) == ("ubuntu, GNOME", "de_DE.UTF-8", "de")
    assert machine.applications == ("Calculator", "Rechner", "xterm")
    assert machine.display_names == {
        **{"calc": "Calculator", "org.gnome.calculator": "Calculator", "calculator": "Calculator"},
        **{"xterm": "xterm", "debian-xterm": "xterm"},
    }
    assert machine.system and machine.now is not None and machine.now.tzinfo is not None
    assert read_machine({}, home, (1, 1), Catalog(()), "Openbox").desktop == "Openbox"
