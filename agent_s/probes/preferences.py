"""Persistent settings of applications: GSettings, and Chromium's preferences and bookmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

KEYFILE = Path(".config/glib-2.0/settings/keyfile")
"""Settings on private desktops (GSETTINGS_BACKEND=keyfile), relative to the home."""
OF_TOOLKITS = ("org/gtk/",)
"""Beginnings of the settings that dialogs of toolkits write, such as the width of a file dialog."""
PROFILES = tuple(Path(".config", name) for name in ("browser-profile", "chromium", "google-chrome"))
"""Folders in which Chromium keeps its data, relative to the home."""

_DATABASE = Path(".config/dconf/user")  # further settings in dconf's binary format, which cannot be read
_MAX_BYTES = 20_000_000


def read_settings(home: Path | None) -> dict[str, str] | None:
    """Return the settings that differ from their defaults, by "group/key"; None if they cannot be read.

    Args:
        home: HOME of the applications; None if its files cannot be read.
    """
    if home is None:
        return None
    try:
        lines = (home / KEYFILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None if (home / _DATABASE).exists() else {}
    except OSError:
        return None
    settings: dict[str, str] = {}
    group = ""
    for line in lines:
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif "=" in line:
            key, value = line.split("=", 1)
            settings[f"{group}/{key}"] = value
    return settings


def find_setting(settings: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the settings that match a key: "group/key" with "/" or "." as separators, or the key alone."""
    wanted = key.replace(".", "/").strip("/")
    return {name: value for name, value in settings.items() if name == wanted or name.endswith(f"/{wanted}")}


def cannot_switch(wanted: Mapping[str, str], settings: Mapping[str, str] | None) -> str:
    """Return why a hidden switch must not be toggled: it is already set, or cannot be read; empty if it may be.

    Args:
        wanted: The settings that it changes.
        settings: The current settings; None if they cannot be read.
    """
    for key, value in wanted.items():
        if settings is None:
            return f"nothing shows whether {key} is {value} already"
        return "" if differing(wanted, settings) else f"{key} is {value} already"
    return ""


def differing(wanted: Mapping[str, str], settings: Mapping[str, str] | None) -> list[str]:
    """Return the keys of settings that differ from the wanted ones; empty if they cannot be read."""
    return [] if settings is None else [key for key, value in wanted.items() if settings.get(key) != value]


def same_value(stored: str, wanted: str) -> bool:
    """Return whether two GVariant texts have the same value, ignoring quotes and type prefixes ("uint32 3")."""
    return _plain(stored) == _plain(wanted)


def chromium_preference(home: Path, key: str) -> Any:
    """Return one of Chromium's preferences; None if it has its default or there is no profile."""
    for content in _profile_files(home, "Preferences"):
        value: Any = content
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def chromium_bookmarks(home: Path) -> list[tuple[str, str]]:
    """Return the names and addresses of Chromium's bookmarks."""
    return [
        found
        for content in _profile_files(home, "Bookmarks")
        for root in content.get("roots", {}).values()
        for found in _bookmarks(root)
    ]


def _bookmarks(node: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(node, Mapping):
        return
    if node.get("type") == "url":
        yield str(node.get("name", "")), str(node.get("url", ""))
    for child in node.get("children", ()):
        yield from _bookmarks(child)


def _profile_files(home: Path, name: str) -> Iterator[Mapping[str, Any]]:
    for profile in PROFILES:
        path = home / profile / "Default" / name
        try:
            if not path.is_file() or path.stat().st_size > _MAX_BYTES:
                continue
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # Chromium is writing it at this moment, or it is not a profile
            continue
        if isinstance(content, Mapping):
            yield content


def _plain(value: str) -> str:
    text = value.strip()
    kind, _, rest = text.partition(" ")
    if rest and kind in ("byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "double"):
        text = rest
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    try:
        return f"{float(text):g}"
    except ValueError:
        return text
