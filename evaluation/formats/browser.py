"""The state of Chromium: preferences, bookmarks and history from its profile, open tabs over its debugging port.

Tabs can be read and closed where the task starts Chromium itself, with `--remote-debugging-port=0` and a
`--user-data-dir` of its own (without one Chromium opens no port); the other files are there with any start, and
are complete once the browser has ended.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from evaluation.errors import CheckFailed, EvaluationError, PreparationFailed
from evaluation.state.context import TaskContext
from evaluation.state.devtools import DevTools
from evaluation.state.getters import Getter
from evaluation.state.metrics import Score, metrics_by_name, score_of
from evaluation.state.parameters import Parameters, Unused, by_name
from evaluation.state.reading import Reading, excerpt, read_text
from evaluation.state.steps import Perform

PROFILE = "~/.config/browser-profile"
"""Default data folder of Chromium on a virtual desktop."""
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


def open_tabs_info(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """Open tabs, `{"title": ..., "url": ...}` each."""
    with _debugged(context.path(profile)) as browser:
        tabs = [{"title": tab["title"], "url": tab["url"]} for tab in _tabs(browser)]
    return Reading(tabs, f"tabs: {', '.join(tab['url'] for tab in tabs)}")


def chrome_close_tabs(
    context: TaskContext, *, urls_to_close: Words, profile: str = PROFILE, dest: Unused = None
) -> None:
    """Close the tabs with the given addresses; raise an error if one is not open."""
    with _debugged(context.path(profile)) as browser:
        tabs = _tabs(browser)
        for url in urls_to_close:
            ids = [tab["targetId"] for tab in tabs if _plain_address(tab["url"]) == _plain_address(url)]
            if not ids:
                raise PreparationFailed(f"no tab shows {url}")
            for id_ in ids:
                browser.call("Target.closeTarget", {"targetId": id_})


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
    "new_startup_page": _flag("session", "restore_on_startup", equals=5),
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


GETTERS: dict[str, Getter] = {
    **by_name(chromium_preference, bookmarks, history, cookie_data, open_tabs_info),
    **{name: _preference(name, read) for name, read in _PREFERENCES.items()},
}
STEPS: dict[str, Perform] = by_name(chrome_close_tabs)


class BookmarkRule(Parameters):
    """The expected bookmark bar, without its subfolders: exactly these folder names, or exactly these addresses."""

    type: Literal["bookmark_bar_folders_names", "bookmark_bar_websites_urls"]
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class TabRule(Parameters):
    """Addresses of tabs."""

    type: Literal["url"]
    urls: Words


class KeywordRule(Parameters):
    """Words in the addresses of pages."""

    type: Literal["keywords"]
    keywords: Words


class DomainRule(Parameters):
    """Domains, without a dot in front."""

    type: Literal["domains"]
    domains: Words


class FontRule(Parameters):
    """The default size of text: one `value`, or between `min` and `max`, exclusive."""

    type: Literal["value", "range"]
    value: int | None = None
    min: int = 0
    max: int = 1000


def is_expected_bookmarks(result: Any, expected: BookmarkRule) -> Score:
    """The bookmark bar has exactly the expected folders or addresses, in any order."""
    children = _at(result, "bookmark_bar", "children") or ()
    if expected.type == "bookmark_bar_folders_names":
        found = [child.get("name", "") for child in children if child.get("type") == "folder"]
        wanted, same = expected.names, sorted(found) == sorted(expected.names)
    else:
        found = [child.get("url", "") for child in children if child.get("type") == "url"]
        wanted, same = expected.urls, _same_addresses(found, expected.urls)
    return score_of(same, f"the bookmark bar has {found}, expected {list(wanted)}")


def is_expected_tabs(result: Any, expected: TabRule) -> Score:
    """Exactly the expected addresses are open."""
    found = [tab["url"] for tab in result]
    return score_of(_same_addresses(found, expected.urls), f"open are {found}, expected {list(expected.urls)}")


def check_history_deleted(result: Any, expected: KeywordRule) -> Score:
    """No page of the history has one of the words in its address."""
    left = [visit["url"] for visit in result if any(word in visit["url"] for word in expected.keywords)]
    return score_of(not left, f"still in the history: {left}" if left else "the pages are not in the history")


def check_history_visited(result: Any, expected: KeywordRule) -> Score:
    """Each word is in the address of some page of the history."""
    missing = [word for word in expected.keywords if not any(word in visit["url"] for visit in result)]
    return score_of(not missing, f"never visited: {missing}" if missing else "all pages were visited")


def is_cookie_deleted(result: Any, expected: DomainRule) -> Score:
    """No cookie is of one of the domains or of a part of one."""
    found = {cookie["domain"].removeprefix(".") for cookie in result}
    left = sorted(one for one in found for domain in expected.domains if one == domain or one.endswith(f".{domain}"))
    return score_of(not left, f"cookies are left of {left}" if left else "no cookie of these is left")


def check_font_size(result: Any, expected: FontRule) -> Score:
    """The default size of text is as expected."""
    found = result["default_font_size"]
    holds = found == expected.value if expected.type == "value" else expected.min < found < expected.max
    return score_of(holds, f"the font size is {found}")


METRICS = metrics_by_name(
    is_expected_bookmarks,
    is_expected_tabs,
    check_history_deleted,
    check_history_visited,
    is_cookie_deleted,
    check_font_size,
)


def _plain_address(url: str) -> tuple[str, ...]:
    """Return an address to be compared: case of the host and a final slash do not matter."""
    parts = urlsplit(url if re.match(r"[a-z][a-z0-9+.-]*:", url) else f"https://{url}")
    host = parts.netloc.lower().removeprefix("www.")
    return parts.scheme, host, unquote(parts.path.rstrip("/")), parts.query, parts.fragment


def _same_addresses(found: Iterable[str], wanted: Iterable[str]) -> bool:
    return sorted(map(_plain_address, found)) == sorted(map(_plain_address, wanted))


@contextmanager
def _debugged(profile: Path) -> Iterator[DevTools]:
    """Give a connection to the browser with a profile."""
    try:
        browser = DevTools(profile)
    except EvaluationError as error:
        raise EvaluationError(
            f"{error}. Start Chromium in the task with --remote-debugging-port=0 --user-data-dir=~/FOLDER, "
            "and name that folder as `profile`"
        ) from error
    with closing(browser):
        yield browser


def _tabs(browser: DevTools) -> list[Any]:
    return [target for target in browser.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]


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
