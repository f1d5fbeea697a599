"""Settings of applications (GSettings), which no element of their windows may show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KEYFILE = Path(".config/glib-2.0/settings/keyfile")
"""Settings on private desktops (GSETTINGS_BACKEND=keyfile), relative to the home."""

_DATABASE = Path(".config/dconf/user")  # settings elsewhere, in a binary format of dconf


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


def cannot_switch(wanted: Mapping[str, str], settings: Mapping[str, str] | None) -> str:
    """Return why a hidden switch must not be used: it is already set, or cannot be read; empty if it may be.

    Args:
        wanted: The settings that it makes.
        settings: The current settings; None if they cannot be read.
    """
    for key, value in wanted.items():
        if settings is None:
            return f"nothing shows whether {key} is {value} already"
        return "" if differing(wanted, settings) else f"{key} is {value} already"
    return ""


def differing(wanted: Mapping[str, str], settings: Mapping[str, str] | None) -> list[str]:
    """Return the keys of settings that differ from the wanted ones; none if they cannot be read."""
    return [] if settings is None else [key for key, value in wanted.items() if settings.get(key) != value]
