from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows
from tests.unit.evaluation.judging import read, value

VLCRC = (
    "[qt]\n#qt-bgcone=1\nqt-max-volume=200\n#qt-minimal-view=0\nglobal-key-play-pause=Ctrl+p\ninput-record-path=/r\n"
)
XCU = (
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    '<item oor:path="/org.openoffice.Office.Writer/DefaultFont"><prop oor:name="Standard"><value>Arial</value></prop>'
    '</item><item oor:path="/org.openoffice.Office.Impress/Misc/Start"><prop oor:name="EnablePresenterScreen">'
    "<value>false</value></prop></item></oor:items>"
)


@pytest.mark.parametrize(
    ("func", "rules", "score"),
    [
        ("check_qt_max_volume", {"expected_qt_max_volume": 200}, 1),
        ("check_qt_max_volume", {"expected_qt_max_volume": 125}, 0),
        ("check_qt_bgcone", {"expected_qt_bgcone": 1}, 1),
        ("check_qt_bgcone", {"expected_qt_bgcone": "0"}, 0),
        ("check_qt_minimal_view", {"expected_qt_minimal_view": 1}, 0),
        ("check_one_instance_when_started_from_file", {"expected_one_instance_when_started_from_file": 0}, 0),
        ("check_global_key_play_pause", {"expected_global_key_play_pause": 1}, 1),
        ("check_global_key_play_pause", {"expected_global_key_play_pause": 0}, 0),
        ("is_vlc_recordings_folder", {"recording_file_path": "/r"}, 1),
        ("is_vlc_recordings_folder", {"recording_file_path": "/s"}, 0),
        ("check_vlc_settings", {"expected": {"qt-bgcone": 1, "qt-max-volume": "200"}}, 1),
    ],
)
def test_vlc_setting_is_read_with_its_default(
    context: TaskContext, home: Path, func: str, rules: dict[str, Any], score: float
) -> None:
    assert read(context, "vlc_config").value is None
    (home / ".config/vlc").mkdir(parents=True)
    (home / ".config/vlc/vlcrc").write_text(VLCRC)

    assert value(func, read(context, "vlc_config", dest="vlcrc").value, rules) == score


@pytest.mark.parametrize(
    ("key", "wanted", "score"),
    [
        ("theme", '"Dark"', 1),
        ("theme", "Light", 0),
        ("undo-levels", "100", 1),
        ("hidden", "yes", 0),
        (["color-management", "mode"], "off", 1),
    ],
)
def test_gimp_setting_is_read_from_the_newest_version(
    context: TaskContext, home: Path, key: Any, wanted: str, score: float
) -> None:
    assert read(context, "gimp_config_file", file_name="gimprc").value is None
    for version, levels in (("2.10", 100), ("2.8", 5)):
        (home / f".config/GIMP/{version}").mkdir(parents=True)
        (home / f".config/GIMP/{version}/gimprc").write_text(
            f'# (hidden yes)\n(theme "Dark")\n(undo-levels {levels})\n(color-management (mode off))\n'
        )

    path = read(context, "gimp_config_file", file_name="gimprc").value

    assert value("check_config_status", path, {"key": key, "value": wanted}) == score


@pytest.mark.parametrize(
    ("func", "rules", "score"),
    [
        ("find_default_font", {"font_name": "Arial"}, 1),
        ("find_default_font", {"font_name": "Times"}, 0),
        ("check_presenter_console_disable", None, 1),
        ("check_auto_saving_time", {"minutes": 3}, 0),
    ],
)
def test_libreoffice_setting_is_read_from_the_profile(tmp_path: Path, func: str, rules: Any, score: float) -> None:
    (tmp_path / "a.xcu").write_text(XCU)

    assert value(func, tmp_path / "a.xcu", rules) == score


def test_gsettings_reads_a_key_and_a_missing_key_is_an_error(home: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/gsettings"
    program.write_text("#!/bin/sh\n[ $3 = color ] && echo \"'#ff0000'\" && exit\necho No such key >&2; exit 1\n")
    program.chmod(0o755)
    desktop = FakeDesktop(home)
    desktop.environment = {**desktop.environment, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    context = TaskContext(desktop, FakeWindows(), folder)

    assert read(context, "gsettings", schema_id="org.example", key="color").value == "#ff0000"
    with pytest.raises(CheckFailed, match="No such key"):
        read(context, "gsettings", schema_id="org.example", key="size")


def test_favorite_apps_are_compared_without_order() -> None:
    rules = {"expected": ["b.desktop", "a.desktop"]}

    assert value("check_gnome_favorite_apps", "['a.desktop', 'b.desktop']", rules) == 1
    assert value("check_gnome_favorite_apps", "['a.desktop']", rules) == 0
