"""Settings of desktop applications: GSettings, LibreOffice profiles, GIMP and VLC configuration files.

Applications write only values that differ from their defaults, so a setting without a line in the file is not set.
"""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from aci.acting.actions import Hotkey, Type
from evaluation.errors import CheckFailed, EvaluationError
from evaluation.state.context import TaskContext
from evaluation.state.getters import file_reading
from evaluation.state.metrics import (
    Expected,
    ExpectedList,
    Metric,
    Score,
    differing_values,
    rules_with,
    score_of,
    score_unless,
)
from evaluation.state.parameters import Parameters, Unused
from evaluation.state.reading import Reading, read_text

VIDEO_TYPES = ("3gpp", "avi", "mp2t", "mp4", "mpeg", "ogg", "quicktime", "webm", "x-flv", "x-matroska", "x-ms-wmv")
SLIDER_COLORS = "153;210;153;20;210;20;255;199;15;245;39;29"
VSCODE_WRITES_S = 1.0  # how long an extension may take to write its file, s
_OOR = "{http://openoffice.org/2001/registry}"


def gsettings(
    context: TaskContext,
    *,
    schema_id: Annotated[str, Field(pattern=r"^[\w.:/-]+$")],
    key: Annotated[str, Field(pattern=r"^[\w-]+$")],
) -> Reading:
    """Value of a key of GSettings as text, without the quotes of a text."""
    try:
        text = context.output(["gsettings", "get", schema_id, key]).strip()
    except EvaluationError as error:
        raise CheckFailed(f"gsettings cannot read {schema_id} {key}: {error}") from error
    value = text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
    return Reading(value, f"{schema_id} {key} = {text}")


def gimp_config_file(
    context: TaskContext, *, file_name: Annotated[str, Field(pattern=r"^[\w.-]+$")], dest: Unused = None
) -> Reading:
    """Path of a file of GIMP's settings, such as `gimprc` or `sessionrc`, of the newest version that has one."""
    found = context.path("~/.config/GIMP").glob(f"[0-9]*/{file_name}")
    newest = max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parent.name)], default=None)
    if newest is None:
        return Reading(None, f"GIMP has written no {file_name}")
    return Reading(newest, f"{context.shown(newest)} exists")


def vlc_config(context: TaskContext, *, dest: Unused = None) -> Reading:
    """Path of VLC's settings."""
    return file_reading(context.path("~/.config/vlc/vlcrc"), context)


def vm_wallpaper(context: TaskContext, *, dest: Unused = None) -> Reading:
    """Path of the picture behind the windows, as GNOME keeps it."""
    address = gsettings(context, schema_id="org.gnome.desktop.background", key="picture-uri").value
    return file_reading(Path(unquote(urlsplit(address).path)), context)


def default_video_player(context: TaskContext) -> Reading:
    """Name of the desktop entry that opens most kinds of videos, with a line end; `unknown` if none does."""
    found = [context.run(["xdg-mime", "query", "default", f"video/{kind}"]).stdout for kind in VIDEO_TYPES]
    most = Counter(filter(None, found)).most_common(1)
    player = most[0][0] if most else "unknown"
    return Reading(player, f"videos are opened with {player.strip()}")


def vscode_config(context: TaskContext, *, vscode_extension_command: str, path: str, dest: Unused = None) -> Reading:
    """Path of a file that a command of an extension of Visual Studio Code writes, once it is in front."""
    for action in (Hotkey(keys=("ctrl", "shift", "p")), Type(text=vscode_extension_command, enter=True)):
        done = context.desktop.perform(action)
        if not done.ok:
            raise CheckFailed(f"the command {vscode_extension_command!r} could not be given: {done.error}")
    time.sleep(VSCODE_WRITES_S)
    return file_reading(context.path(path), context)


class RegistryValue(Parameters):
    """A setting of a LibreOffice profile: component path, property name and its text."""

    path: str
    name: str
    value: str


def check_gnome_favorite_apps(result: str, expected: ExpectedList[str]) -> Score:
    """A list of GSettings, such as `['a.desktop', 'b.desktop']`, holds exactly the expected names."""
    found = re.findall(r"'([^']*)'", result)
    return score_of(sorted(found) == sorted(expected.expected), f"found {found}, expected {list(expected.expected)}")


def check_config_status(result: Path, key: str | tuple[str, str], value: str) -> Score:
    """A GIMP settings file has a line `(key ... value)`, of one or two words as key; the last one counts."""
    keys = [key] if isinstance(key, str) else list(key)
    found = None
    for line in read_text(result).splitlines():
        words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^\s()"]+)', line.partition("#")[0])]
        if words[: len(keys)] == keys and len(words) > len(keys):
            found = words[-1]
    return score_of(found == value.strip('"'), f"{' '.join(keys)} is {found}, expected {value}")


def check_registry_value(result: Path, expected: ExpectedList[RegistryValue]) -> Score:
    """A LibreOffice profile (`registrymodifications.xcu`) has every setting of the list `expected`."""
    return _registry_score(result, expected.expected)


def check_vlc_settings(result: Path, expected: Expected[Annotated[dict[str, str | int], Field(min_length=1)]]) -> Score:
    """VLC has every setting of `expected`; a line that is commented out gives the default."""
    texts = {name: str(value) for name, value in expected.expected.items()}
    return score_unless(differing_values(_vlc_settings(result), texts), f"VLC has {texts}")


def check_global_key_play_pause(result: Path, expected_global_key_play_pause: str | int) -> Score:
    """VLC has a global key for play and pause (1), or has none (0)."""
    found = _vlc_settings(result).get("global-key-play-pause", "")
    wanted = str(expected_global_key_play_pause) not in ("0", "")
    return score_of(bool(found) == wanted, f"global-key-play-pause is {found!r}")


def check_qt_slider_colours(
    result: Path, type: Literal["match", "blackish"], expected_qt_slider_colours: str = ""
) -> Score:
    """The colors of VLC's slider are these, or all of them dark."""
    colors = _vlc_settings(result).get("qt-slider-colours", SLIDER_COLORS)
    if type == "match":
        return score_of(colors == expected_qt_slider_colours, f"the colors are {colors}")
    bright = [part for part in colors.split(";") if not part.isdigit() or int(part) >= 100]
    return score_of(not bright, f"the colors are {colors}")


def _registry_score(result: Path, wanted: Sequence[RegistryValue]) -> Score:
    try:
        items = ElementTree.fromstring(read_text(result))
    except ElementTree.ParseError as error:
        raise CheckFailed(f"{result.name} is not a LibreOffice profile: {error}") from error
    found = {
        f"{item.get(f'{_OOR}path')} {prop.get(f'{_OOR}name')}": prop.findtext("value")
        for item in items.iter("item")
        for prop in item.iter("prop")
    }
    values = {f"{setting.path} {setting.name}": setting.value for setting in wanted}
    return score_unless(differing_values(found, values), f"{result.name} has {values}")


def _vlc_settings(path: Path) -> dict[str, str]:
    """Read settings; a line `#name=value` is a default, which a set value overrides."""
    settings: dict[str, str] = {}
    for sign, name, value in re.findall(r"^(#?)([\w-]+)=(.*)$", read_text(path), re.MULTILINE):
        if not sign or name not in settings:
            settings[name] = value.strip()
    return settings


def _office(path: str, name: str, value: str = "", **rule: Any) -> Metric:
    """Return a metric for one setting of a LibreOffice profile: a fixed value, or that of the only field of a rule."""

    def judge(result: Path, expected: Parameters | None = None) -> Score:
        wanted = value if expected is None else str(*expected.model_dump().values())
        return _registry_score(result, [RegistryValue(path=f"/org.openoffice.Office.{path}", name=name, value=wanted)])

    return Metric.of(judge, rules_with(**rule) if rule else None)


def _vlc(setting: str, key: str, default: str = "") -> Metric:
    """Return a metric for one setting of VLC, whose value a rule has under a key."""

    def judge(result: Path, expected: Parameters) -> Score:
        found, wanted = _vlc_settings(result).get(setting) or default, str(expected.model_dump()[key])
        return score_of(found == wanted, f"{setting} is {found!r}, expected {wanted!r}")

    return Metric.of(judge, rules_with(**{key: str | int}))


METRICS = {
    "find_default_font": _office("Writer/DefaultFont", "Standard", font_name=str),
    "check_presenter_console_disable": _office("Impress/Misc/Start", "EnablePresenterScreen", "false"),
    "check_auto_saving_time": _office(
        "Common/Save/Document", "AutoSaveTimeIntervall", minutes=Annotated[int, Field(ge=1)]
    ),
    "check_qt_max_volume": _vlc("qt-max-volume", "expected_qt_max_volume", "125"),
    "check_qt_bgcone": _vlc("qt-bgcone", "expected_qt_bgcone", "1"),
    "check_qt_minimal_view": _vlc("qt-minimal-view", "expected_qt_minimal_view", "0"),
    "check_one_instance_when_started_from_file": _vlc(
        "one-instance-when-started-from-file", "expected_one_instance_when_started_from_file", "1"
    ),
    "is_vlc_recordings_folder": _vlc("input-record-path", "recording_file_path"),
}
