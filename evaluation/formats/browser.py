"""The state of Chromium in its profile: preferences, bookmarks, history, cookies, experiments and extensions.

The files are complete once the browser has ended.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from evaluation.state.getters import Getter
from evaluation.state.metrics import ExpectedList, Score, score_of
from evaluation.state.parameters import Unused
from evaluation.state.reading import Reading, excerpt, read_text

PROFILE = "~/.config/browser-profile"  # default data folder of Chromium on a virtual desktop
_CHROMIUM_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)

Words = Annotated[tuple[str, ...], Field(min_length=1)]


def chromium_preference(context: TaskContext, *, key: Words, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """One of Chromium's preferences as JSON, by a path such as `["bookmark_bar", "show_on_all_tabs"]`.

    It is absent if it has its default.
    """
    value = _at(_preferences(context, profile), *key)
    return Reading(value, f"{'.'.join(key)} = {json.dumps(value)}")


def bookmarks(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """Chromium's bookmarks: `bookmark_bar`, `other` and `synced`, each with `children`."""
    content = _json_file(context.path(profile) / "Default/Bookmarks")
    if content is None:
        return Reading(None, "there are no bookmarks")
    roots = content.get("roots", {})
    named = [child.get("name", "") for root in roots.values() for child in _at(root, "children") or ()]
    return Reading(roots, f"bookmarks: {', '.join(named)}")


def history(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """Pages that Chromium remembers, `{"url": ..., "title": ..., "last_visit": ISO time}`, newest first."""
    path = context.path(profile) / "Default/History"
    if not path.is_file():
        return Reading(None, "there is no history")
    rows = _rows(path, "SELECT url, title, last_visit_time FROM urls ORDER BY last_visit_time DESC")
    visits = [
        {"url": url, "title": title, "last_visit": (_CHROMIUM_EPOCH + timedelta(microseconds=time)).isoformat()}
        for url, title, time in rows
    ]
    return Reading(visits, f"history: {excerpt(', '.join(visit['url'] for visit in visits))}")


def cookie_data(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """Cookies that Chromium keeps, `{"domain": ..., "name": ...}` each, by domain."""
    folder = context.path(profile) / "Default"
    path = next((file for file in (folder / "Network/Cookies", folder / "Cookies") if file.is_file()), None)
    if path is None:
        return Reading(None, "there are no cookies")
    rows = _rows(path, "SELECT host_key, name FROM cookies ORDER BY host_key, name")
    cookies = [{"domain": domain, "name": name} for domain, name in rows]
    return Reading(cookies, f"cookies: {excerpt(', '.join(cookie['domain'] for cookie in cookies))}")


def enabled_experiments(context: TaskContext, *, profile: str = PROFILE) -> Reading:
    """Chromium's experiments that are switched on, `NAME@CHOICE` each."""
    state = _json_file(context.path(profile) / "Local State") or {}
    found = _at(state, "browser", "enabled_labs_experiments") or []
    return Reading(found, f"experiments: {found}")


def find_unpacked_extension_path(context: TaskContext, *, profile: str = PROFILE) -> Reading:
    """Folders of the browser's extensions."""
    found = [one.get("path", "") for one in _extensions(context, profile)]
    return Reading(found, f"extensions: {found}")


def find_installed_extension_name(context: TaskContext, *, profile: str = PROFILE) -> Reading:
    """Names of the browser's extensions."""
    found = [_at(one, "manifest", "name") or "" for one in _extensions(context, profile)]
    return Reading(found, f"extensions: {found}")


def shortcuts_on_desktop(context: TaskContext) -> Reading:
    """Contents of the desktop entries in `~/Desktop`, by file name."""
    found = {path.name: read_text(path) for path in sorted(context.path("~/Desktop").glob("*.desktop"))}
    return Reading(found, f"shortcuts: {', '.join(found)}")


def _extensions(context: TaskContext, profile: str) -> list[dict[str, Any]]:
    """Return what the browser keeps of its extensions; new versions sign these values in a file of their own."""
    folder = context.path(profile) / "Default"
    files = (_json_file(folder / name) or {} for name in ("Preferences", "Secure Preferences"))
    found = (_at(content, "extensions", "settings") or {} for content in files)
    return [one for extensions in found for one in extensions.values() if isinstance(one, dict)]


def _flag(*key: str, equals: int | None = None) -> Callable[[Any], str]:
    def read(preferences: Any) -> str:
        value = _at(preferences, *key)
        return "true" if (value if equals is None else value == equals) else "false"

    return read


def _text(*key: str, default: str | None = None) -> Callable[[Any], str | None]:
    return lambda preferences: _at(preferences, *key) or default


def _font_sizes(preferences: Any) -> dict[str, Any]:
    defaults = {"default_font_size": 16, "default_fixed_font_size": 13, "minimum_font_size": 0}
    found = _at(preferences, "webkit", "webprefs") or {}
    return {name: found.get(name, default) for name, default in defaults.items()}


_PREFERENCES: dict[str, Callable[[Any], Any]] = {
    "enable_do_not_track": _flag("enable_do_not_track"),
    "enable_enhanced_safety_browsing": _flag("safebrowsing", "enhanced"),
    "enable_safe_browsing": _flag("safebrowsing", "enabled"),
    "data_delete_automacally": _flag("profile", "default_content_setting_values", "cookies", equals=4),
    "new_startup_page": lambda found: "true" if _at(found, "session", "restore_on_startup") in (None, 5) else "false",
    "default_search_engine": _text("default_search_provider_data", "template_url_data", "short_name", default="Google"),
    "profile_name": _text("profile", "name"),
    "chrome_language": _text("intl", "app_locale", default="en-US"),
    "chrome_font_size": _font_sizes,
}


def _preference(name: str, read: Callable[[Any], Any]) -> Getter:
    def read_one(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
        value = read(_preferences(context, profile))
        return Reading(value, f"{name}: {value!r}")

    return read_one


GETTERS: dict[str, Getter] = {**{name: _preference(name, read) for name, read in _PREFERENCES.items()}}


def is_expected_bookmarks(
    result: Any,
    type: Literal["bookmark_bar_folders_names", "bookmark_bar_websites_urls", "liked_authors_websites_urls"],
    names: tuple[str, ...] = (),
    urls: tuple[str | tuple[str, ...], ...] = (),
) -> Score:
    """The bookmark bar, or its folder `Liked Authors`, has exactly the expected folders or addresses, in any order.

    In that folder, each of `urls` may be a choice of several.
    """
    children = _at(result, "bookmark_bar", "children") or ()
    if type == "liked_authors_websites_urls":
        folders = [one for one in children if one.get("type") == "folder" and one.get("name") == "Liked Authors"]
        children = folders[0].get("children", ()) if folders else ()
    folders_count = type == "bookmark_bar_folders_names"
    kind, key = ("folder", "name") if folders_count else ("url", "url")
    found = {child.get(key, "") for child in children if child.get("type") == kind}
    wanted: tuple[str | tuple[str, ...], ...] = names if folders_count else urls
    choices = [{one} if isinstance(one, str) else set(one) for one in wanted]
    same = any(set(chosen) == found for chosen in product(*choices))
    return score_of(same, f"the bookmarks are {sorted(found)}, expected {choices}")


def is_shortcut_on_desktop(
    result: dict[str, str], type: Literal["name", "exec"], name: str = "", exec: str = ""
) -> Score:
    """A desktop entry has that name, or that command."""
    line = f"Name={name}\n" if type == "name" else f"Exec={exec}\n"
    found = [name for name, content in result.items() if line in content]
    return score_of(bool(found), f"{found or 'no shortcut'} has {line.strip()}")


def is_expected_installed_extensions(result: list[str], expected: ExpectedList[str]) -> Score:
    """All expected extensions are installed."""
    missing = sorted(set(expected.expected) - set(result))
    return score_of(not missing, f"not installed: {missing}" if missing else "all are installed")


def check_enabled_experiments(result: list[str], type: Literal["names"], names: tuple[str, ...]) -> Score:
    """Exactly these experiments are switched on."""
    found = [name.partition("@")[0] for name in result]
    return score_of(found == list(names), f"experiments are {found}, expected {list(names)}")


def check_history_deleted(result: Any, type: Literal["keywords"], keywords: Words) -> Score:
    """No page of the history has one of the words in its address."""
    left = [visit["url"] for visit in result if any(word in visit["url"] for word in keywords)]
    return score_of(not left, f"still in the history: {left}" if left else "the pages are not in the history")


def check_history_visited(result: Any, type: Literal["keywords"], keywords: Words) -> Score:
    """Each word is in the address of some page of the history."""
    missing = [word for word in keywords if not any(word in visit["url"] for visit in result)]
    return score_of(not missing, f"never visited: {missing}" if missing else "all pages were visited")


def is_cookie_deleted(result: Any, type: Literal["domains"], domains: Words) -> Score:
    """No cookie is of one of the domains or of a part of one."""
    found = {cookie["domain"].removeprefix(".") for cookie in result}
    wanted = [domain.lower().removeprefix(".").removeprefix("www.") for domain in domains]
    left = sorted(one for one in found for domain in wanted if one == domain or one.endswith(f".{domain}"))
    return score_of(not left, f"cookies are left of {left}" if left else "no cookie of these is left")


def check_font_size(
    result: Any, type: Literal["value", "range"], value: int | None = None, min: int = 0, max: int = 1000
) -> Score:
    """The default size of text is a `value`, or between `min` and `max`, exclusive."""
    found = result["default_font_size"]
    holds = found == value if type == "value" else min < found < max
    return score_of(holds, f"the font size is {found}")


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    try:  # immutable: the browser may hold the lock
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return database.execute(query).fetchall()
    except sqlite3.Error as error:
        raise CheckFailed(f"Chromium's {path.name} cannot be read: {error}") from error


def _preferences(context: TaskContext, profile: str) -> Any:
    return _json_file(context.path(profile) / "Default/Preferences") or {}


def _json_file(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise CheckFailed(f"{path.name} is not JSON: {error}") from error


def _at(value: Any, *key: str) -> Any:
    for name in key:
        value = value.get(name) if isinstance(value, dict) else None
    return value
