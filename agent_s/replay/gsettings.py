"""What applications are set to, where no element of their windows shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KEYFILE = Path(".config/glib-2.0/settings/keyfile")
"""Where GSettings are kept on private desktops (GSETTINGS_BACKEND=keyfile), relative to the home."""

_DATABASE = Path(".config/dconf/user")
"""Where they are kept elsewhere, in a form that only their own library reads."""


def read_settings(home: Path | None) -> dict[str, str] | None:
    """Return the settings that differ from their defaults, by "group/key"; None where they cannot be read.

    Args:
        home: HOME of the applications; None where its files cannot be seen.
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
    """Say why something hidden must not be switched: it is so already, or nobody knows; empty where it may.

    Args:
        wanted: What it sets.
        settings: What is set now; None where that cannot be read.
    """
    if not wanted:
        return ""
    if settings is None:
        return f"nothing shows whether {next(iter(wanted))} is {next(iter(wanted.values()))} already"
    return f"{next(iter(wanted))} is {next(iter(wanted.values()))} already" if not differing(wanted, settings) else ""


def differing(wanted: Mapping[str, str], settings: Mapping[str, str] | None) -> list[str]:
    """Return the settings that are not as they should be; none where they cannot be read."""
    return [] if settings is None else [key for key, value in wanted.items() if settings.get(key) != value]
