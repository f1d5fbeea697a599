"""Settings of desktop applications: GSettings, LibreOffice profiles, GIMP and VLC configuration files.

An application writes only what differs from its defaults: what is not in its file does not hold.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.osworld.context import TaskContext
from evaluation.osworld.getters import Parameters, Reading, excerpt, getter, read_text
from evaluation.osworld.metrics import Score, metric, score_of


class SettingKey(Parameters):
    """A key of GSettings."""

    schema_id: Annotated[str, Field(pattern=r"^[\w.:/-]+$")]
    key: Annotated[str, Field(pattern=r"^[\w-]+$")]


class GimpFile(Parameters):
    """A file of GIMP's settings, such as `gimprc` or `sessionrc`; `dest` is accepted as in OSWorld and not needed."""

    file_name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    dest: str | None = None


class Destination(Parameters):
    """No keys but `dest`, which is accepted as in OSWorld and not needed."""

    dest: str | None = None


@getter("gsettings", SettingKey)
def gsettings(parameters: SettingKey, context: TaskContext) -> Reading:
    """Value of a key of GSettings as text, without the quotes of a text."""
    ended = context.run(["gsettings", "get", parameters.schema_id, parameters.key])
    if ended.returncode != 0:
        raise CheckFailed(f"gsettings cannot read {parameters.schema_id} {parameters.key}: {excerpt(ended.stderr)}")
    text = ended.stdout.strip()
    value = text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
    return Reading(value, f"{parameters.schema_id} {parameters.key} = {text}")


@getter("gimp_config_file", GimpFile)
def gimp_config_file(parameters: GimpFile, context: TaskContext) -> Reading:
    """Path of a file of GIMP's settings, of the newest version that has one."""
    found = list(context.path("~/.config/GIMP").glob(f"[0-9]*/{parameters.file_name}"))
    if not found:
        return Reading(None, f"GIMP has written no {parameters.file_name}")
    newest = max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parent.name)])
    return Reading(newest, f"{context.shown(newest)} exists")


@getter("vlc_config", Destination)
def vlc_config(parameters: Destination, context: TaskContext) -> Reading:
    """Path of VLC's settings."""
    path = context.path("~/.config/vlc/vlcrc")
    shown = context.shown(path)
    return Reading(path, f"{shown} exists") if path.is_file() else Reading(None, f"{shown} does not exist")


class Favorites(Parameters):
    """Names of desktop files."""

    expected: Annotated[tuple[str, ...], Field(min_length=1)]


class ConfigStatus(Parameters):
    """A setting of GIMP: its name, or its first two words, and its value."""

    key: str | tuple[str, str]
    value: str


class FontName(Parameters):
    """Name of a font."""

    font_name: str


class Minutes(Parameters):
    """A time in whole minutes."""

    minutes: Annotated[int, Field(ge=1)]


class RegistryValue(Parameters):
    """A setting of a LibreOffice profile: component path, property name and its text."""

    path: str
    name: str
    value: str


class RegistryRules(Parameters):
    """The settings that a LibreOffice profile must have."""

    expected: Annotated[tuple[RegistryValue, ...], Field(min_length=1)]


class VlcSettings(Parameters):
    """Values by the name of the setting."""

    expected: Annotated[dict[str, str | int], Field(min_length=1)]


class RecordingFolder(Parameters):
    """Folder of VLC's recordings."""

    recording_file_path: str


class MaxVolume(Parameters):
    """Largest volume in %."""

    expected_qt_max_volume: str | int


class Bgcone(Parameters):
    """Whether the cone is shown: 0 or 1."""

    expected_qt_bgcone: str | int


class MinimalView(Parameters):
    """Whether the menus and controls are hidden: 0 or 1."""

    expected_qt_minimal_view: str | int


class OneInstance(Parameters):
    """Whether a file opens in the window that is there: 0 or 1."""

    expected_one_instance_when_started_from_file: str | int


class GlobalKey(Parameters):
    """Whether a key plays and pauses from everywhere: 0 or 1."""

    expected_global_key_play_pause: str | int


@metric(rules=Favorites)
def check_gnome_favorite_apps(result: str, expected: Favorites) -> Score:
    """A list of GSettings, such as `['a.desktop', 'b.desktop']`, holds exactly the expected names."""
    found = re.findall(r"'([^']*)'", result)
    return score_of(sorted(found) == sorted(expected.expected), f"found {found}, expected {list(expected.expected)}")


@metric(rules=ConfigStatus)
def check_config_status(result: Path, expected: ConfigStatus) -> Score:
    """A GIMP settings file has a line `(key ... value)`; the last one of that key counts."""
    key = [expected.key] if isinstance(expected.key, str) else list(expected.key)
    found = None
    for line in read_text(result).splitlines():
        words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^\s()"]+)', line.partition("#")[0])]
        if words[: len(key)] == key and len(words) > len(key):
            found = words[-1]
    return score_of(found == expected.value.strip('"'), f"{' '.join(key)} is {found}, expected {expected.value}")


@metric(rules=FontName)
def find_default_font(result: Path, expected: FontName) -> Score:
    """A LibreOffice profile has that default font for Writer."""
    path = "/org.openoffice.Office.Writer/DefaultFont"
    return _registry_score(result, [RegistryValue(path=path, name="Standard", value=expected.font_name)])


@metric()
def check_presenter_console_disable(result: Path, expected: None = None) -> Score:
    """A LibreOffice profile has the presenter console switched off."""
    path = "/org.openoffice.Office.Impress/Misc/Start"
    return _registry_score(result, [RegistryValue(path=path, name="EnablePresenterScreen", value="false")])


@metric(rules=Minutes)
def check_auto_saving_time(result: Path, expected: Minutes) -> Score:
    """A LibreOffice profile (`registrymodifications.xcu`) has the auto-save interval `minutes`."""
    path = "/org.openoffice.Office.Common/Save/Document"
    return _registry_score(
        result, [RegistryValue(path=path, name="AutoSaveTimeIntervall", value=str(expected.minutes))]
    )


@metric(rules=RegistryRules)
def check_registry_value(result: Path, expected: RegistryRules) -> Score:
    """A LibreOffice profile (`registrymodifications.xcu`) has every setting of the list `expected`."""
    return _registry_score(result, expected.expected)


@metric(rules=VlcSettings)
def check_vlc_settings(result: Path, expected: VlcSettings) -> Score:
    """VLC has every setting of `expected`; a line that is commented out tells the default."""
    return _vlc_score(result, expected.expected)


@metric(rules=MaxVolume)
def check_qt_max_volume(result: Path, expected: MaxVolume) -> Score:
    """VLC allows that largest volume."""
    return _vlc_score(result, {"qt-max-volume": expected.expected_qt_max_volume})


@metric(rules=Bgcone)
def check_qt_bgcone(result: Path, expected: Bgcone) -> Score:
    """VLC shows its cone, or does not."""
    return _vlc_score(result, {"qt-bgcone": expected.expected_qt_bgcone})


@metric(rules=MinimalView)
def check_qt_minimal_view(result: Path, expected: MinimalView) -> Score:
    """VLC hides its menus and controls, or does not."""
    return _vlc_score(result, {"qt-minimal-view": expected.expected_qt_minimal_view})


@metric(rules=OneInstance)
def check_one_instance_when_started_from_file(result: Path, expected: OneInstance) -> Score:
    """VLC opens files in the window that is there, or does not."""
    wanted = expected.expected_one_instance_when_started_from_file
    return _vlc_score(result, {"one-instance-when-started-from-file": wanted})


@metric(rules=GlobalKey)
def check_global_key_play_pause(result: Path, expected: GlobalKey) -> Score:
    """VLC has a global key for play and pause (1), or has none (0)."""
    found = _vlc_settings(result).get("global-key-play-pause", "")
    wanted = str(expected.expected_global_key_play_pause) not in ("0", "")
    return score_of(bool(found) == wanted, f"global-key-play-pause is {found!r}")


@metric(rules=RecordingFolder)
def is_vlc_recordings_folder(result: Path, expected: RecordingFolder) -> Score:
    """VLC keeps its recordings in that folder."""
    return _vlc_score(result, {"input-record-path": expected.recording_file_path})


_OOR = "{http://openoffice.org/2001/registry}"


def _registry_score(result: Path, wanted: Sequence[RegistryValue]) -> Score:
    try:
        items = ElementTree.fromstring(read_text(result))
    except ElementTree.ParseError as error:
        raise CheckFailed(f"{result.name} is not a LibreOffice profile: {error}") from error
    found = {
        (item.get(f"{_OOR}path"), prop.get(f"{_OOR}name")): prop.findtext("value")
        for item in items.iter("item")
        for prop in item.iter("prop")
    }
    told = [f"{setting.name} = {found.get((setting.path, setting.name), 'not set')}" for setting in wanted]
    holds = all(found.get((setting.path, setting.name)) == setting.value for setting in wanted)
    expected = ", ".join(f"{setting.name} = {setting.value}" for setting in wanted)
    return score_of(holds, f"{result.name}: {', '.join(told)}" + ("" if holds else f"; expected {expected}"))


def _vlc_settings(path: Path) -> dict[str, str]:
    """Read settings; `#name=value` is a default, and a value that was set comes before it."""
    settings: dict[str, str] = {}
    for sign, name, value in re.findall(r"^(#?)([\w-]+)=(.*)$", read_text(path), re.MULTILINE):
        if not sign or name not in settings:
            settings[name] = value.strip()
    return settings


def _vlc_score(path: Path, wanted: dict[str, str | int]) -> Score:
    found = _vlc_settings(path)
    wrong = [
        f"{name} is {found.get(name, 'not set')}, expected {value}"
        for name, value in wanted.items()
        if found.get(name) != str(value)
    ]
    return score_of(not wrong, "; ".join(wrong) or f"VLC has {wanted}")
