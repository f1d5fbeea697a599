"""Summaries of settings from the installed GSettings schemas."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

FOLDERS = (Path("/usr/local/share/glib-2.0/schemas"), Path("/usr/share/glib-2.0/schemas"))


def summary_of(setting: str, folders: tuple[Path, ...] = FOLDERS) -> str:
    """Return the summary of a setting such as "org/gnome/calculator/show-zeroes"; empty if no schema has one."""
    return _summaries(folders).get(setting, "")


@lru_cache(maxsize=4)
def _summaries(folders: tuple[Path, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.gschema.xml"))):
        try:
            schemas = list(ElementTree.parse(path).iter("schema"))
        except (OSError, ElementTree.ParseError):
            continue  # a summary is only one of several sources of names
        for schema in schemas:
            place = (schema.get("path") or "").strip("/")
            for key in schema.iter("key") if place else ():
                summary = " ".join((key.findtext("summary") or "").split())
                found[f"{place}/{key.get('name')}"] = summary.rstrip(".")
    return found
