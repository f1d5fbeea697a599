"""The state of Chromium: preferences, bookmarks and history from its profile, open tabs over its debugging port.

Tabs can be read and closed where the task starts Chromium itself, with `--remote-debugging-port=0` and a
`--user-data-dir` of its own (without one Chromium opens no port); the other files are there with any start, and
are complete once the browser has ended.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from evaluation.errors import CheckFailed, EvaluationError, PreparationFailed
from evaluation.state.context import TaskContext
from evaluation.state.devtools import DevTools
from evaluation.state.getters import Getter, Parameters, Reading, excerpt, read_text
from evaluation.state.metrics import Metric, Score, by_name, rules_of, score_of
from evaluation.state.steps import StepKind

PROFILE = "~/.config/browser-profile"
"""Default data folder of Chromium on a virtual desktop."""
_CHROMIUM_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


class Profile(Parameters):
    """Chromium's data folder; `dest` is accepted as in OSWorld and not needed."""

    profile: str = PROFILE
    dest: str | None = None


class Preference(Profile):
    """A path of names into Chromium's preferences, such as `["bookmark_bar", "show_on_all_tabs"]`."""

    key: Annotated[tuple[str, ...], Field(min_length=1)]


class Tabs(Profile):
    """Addresses of tabs to close."""

    urls_to_close: Annotated[tuple[str, ...], Field(min_length=1)]


def chromium_preference(parameters: Preference, context: TaskContext) -> Reading:
    """One of Chromium's preferences, as JSON; absent if it has its default."""
    value = _at(_preferences(parameters, context), *parameters.key)
    return Reading(value, f"{'.'.join(parameters.key)} = {json.dumps(value)}")


def bookmarks(parameters: Profile, context: TaskContext) -> Reading:
    """Chromium's bookmarks: `bookmark_bar`, `other` and `synced`, each with `children`."""
    content = _json_file(context.path(parameters.profile) / "Default/Bookmarks")
    if content is None:
        return Reading(None, "there are no bookmarks")
    roots = content.get("roots", {})
    named = [child.get("name", "") for root in roots.values() if isinstance(root, dict) for child in _children(root)]
    return Reading(roots, f"bookmarks: {', '.join(named)}")


def history(parameters: Profile, context: TaskContext) -> Reading:
    """Pages that Chromium remembers, `{"url": ..., "title": ..., "last_visit": ISO time}`, newest first."""
    path = context.path(parameters.profile) / "Default/History"
    if not path.is_file():
        return Reading(None, "there is no history")
    rows = _rows(path, "SELECT url, title, last_visit_time FROM urls ORDER BY last_visit_time DESC")
    visits = [
        {"url": url, "title": title, "last_visit": (_CHROMIUM_EPOCH + timedelta(microseconds=time)).isoformat()}
        for url, title, time in rows
    ]
    return Reading(visits, f"history: {excerpt(', '.join(visit['url'] for visit in visits))}")


def cookie_data(parameters: Profile, context: TaskContext) -> Reading:
    """Cookies that Chromium keeps, `{"domain": ..., "name": ...}` each, by domain."""
    profile = context.path(parameters.profile) / "Default"
    path = next((file for file in (profile / "Network/Cookies", profile / "Cookies") if file.is_file()), None)
    if path is None:
        return Reading(None, "there are no cookies")
    rows = _rows(path, "SELECT host_key, name FROM cookies ORDER BY host_key, name")
    cookies = [{"domain": domain, "name": name} for domain, name in rows]
    return Reading(cookies, f"cookies: {excerpt(', '.join(cookie['domain'] for cookie in cookies))}")


def open_tabs_info(parameters: Profile, context: TaskContext) -> Reading:
    """Open tabs, `{"title": ..., "url": ...}` each."""
    try:
        with DevTools(context.path(parameters.profile)) as browser:
            tabs = [{"title": tab["title"], "url": tab["url"]} for tab in _tabs(browser.call("Target.getTargets"))]
    except EvaluationError as error:
        raise CheckFailed(f"{error}. {_PORT_HINT}") from error
    return Reading(tabs, f"tabs: {', '.join(tab['url'] for tab in tabs)}")


def chrome_close_tabs(parameters: Tabs, context: TaskContext) -> None:
    """Close the tabs with the given addresses; raise an error if one is not open."""
    try:
        with DevTools(context.path(parameters.profile)) as browser:
            tabs = _tabs(browser.call("Target.getTargets"))
            for url in parameters.urls_to_close:
                ids = [tab["targetId"] for tab in tabs if same_address(tab["url"], url)]
                if not ids:
                    raise PreparationFailed(f"no tab shows {url}")
                for id_ in ids:
                    browser.call("Target.closeTarget", {"targetId": id_})
    except PreparationFailed:
        raise
    except EvaluationError as error:
        raise PreparationFailed(f"{error}. {_PORT_HINT}") from error


_ENGINE = ("default_search_provider_data", "template_url_data", "short_name")
_FONT_SIZES = {"default_font_size": 16, "default_fixed_font_size": 13, "minimum_font_size": 0}


def _font_sizes(preferences: Any) -> dict[str, Any]:
    set_ = _at(preferences, "webkit", "webprefs") or {}
    return {name: set_.get(name, default) for name, default in _FONT_SIZES.items()}


def _true(value: Any) -> str:
    return "true" if value else "false"


_PREFERENCES: dict[str, Callable[[Any], Any]] = {
    "enable_do_not_track": lambda found: _true(_at(found, "enable_do_not_track")),
    "enable_enhanced_safety_browsing": lambda found: _true(_at(found, "safebrowsing", "enhanced")),
    "enable_safe_browsing": lambda found: _true(_at(found, "safebrowsing", "enabled")),
    "data_delete_automacally": lambda found: _true(
        _at(found, "profile", "default_content_setting_values", "cookies") == 4
    ),
    "new_startup_page": lambda found: _true(_at(found, "session", "restore_on_startup") == 5),
    "default_search_engine": lambda found: _at(found, *_ENGINE) or "Google",
    "profile_name": lambda found: _at(found, "profile", "name"),
    "chrome_language": lambda found: _at(found, "intl", "app_locale") or "en-US",
    "chrome_font_size": _font_sizes,
}


def _preference(name: str, read: Callable[[Any], Any]) -> Getter[Profile]:
    def read_one(parameters: Profile, context: TaskContext) -> Reading:
        value = read(_preferences(parameters, context))
        return Reading(value, f"{name}: {value!r}")

    return Getter(Profile, read_one)


class BookmarkRule(Parameters):
    """The expected bookmark bar, without its subfolders: exactly these folder names, or exactly these addresses."""

    type: Literal["bookmark_bar_folders_names", "bookmark_bar_websites_urls"]
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class FontRule(Parameters):
    """The default size of text: one `value`, or between `min` and `max`, exclusive."""

    type: Literal["value", "range"]
    value: int | None = None
    min: int = 0
    max: int = 1000


def is_expected_bookmarks(result: Any, expected: BookmarkRule) -> Score:
    """The bookmark bar has exactly the expected folders or addresses, in any order."""
    folders = expected.type == "bookmark_bar_folders_names"
    found = [
        child.get("name" if folders else "url", "")
        for child in _children(result.get("bookmark_bar", {}))
        if child.get("type") == ("folder" if folders else "url")
    ]
    wanted = list(expected.names if folders else expected.urls)
    same = sorted(found) == sorted(wanted) if folders else _same_addresses(found, wanted)
    return score_of(same, f"the bookmark bar has {found}, expected {wanted}")


def is_expected_tabs(result: Any, expected: Any) -> Score:
    """Exactly the expected addresses are open."""
    found = [tab["url"] for tab in result]
    return score_of(_same_addresses(found, expected.urls), f"open are {found}, expected {list(expected.urls)}")


def check_history_deleted(result: Any, expected: Any) -> Score:
    """No page of the history has one of the words in its address."""
    left = [visit["url"] for visit in result if any(word in visit["url"] for word in expected.keywords)]
    return score_of(not left, f"still in the history: {left}" if left else "the pages are not in the history")


def check_history_visited(result: Any, expected: Any) -> Score:
    """Each word is in the address of some page of the history."""
    missing = [word for word in expected.keywords if not any(word in visit["url"] for visit in result)]
    return score_of(not missing, f"never visited: {missing}" if missing else "all pages were visited")


def is_cookie_deleted(result: Any, expected: Any) -> Score:
    """No cookie is of one of the domains or of a part of one."""
    found = {cookie["domain"].removeprefix(".") for cookie in result}
    left = sorted(one for one in found for domain in expected.domains if one == domain or one.endswith(f".{domain}"))
    return score_of(not left, f"cookies are left of {left}" if left else "no cookie of these is left")


def check_font_size(result: Any, expected: FontRule) -> Score:
    """The default size of text is as expected."""
    found = result["default_font_size"]
    holds = found == expected.value if expected.type == "value" else expected.min < found < expected.max
    return score_of(holds, f"the font size is {found}")


def same_address(one: str, two: str) -> bool:
    """Return whether two addresses are the same page; case of the host and a final slash do not matter."""
    return _plain_address(one) == _plain_address(two)


_PORT_HINT = (
    "Start Chromium in the task with --remote-debugging-port=0 "
    "--user-data-dir=~/FOLDER, and name that folder as `profile`"
)


def _plain_address(url: str) -> tuple[str, ...]:
    parts = urlsplit(url if re.match(r"[a-z][a-z0-9+.-]*:", url) else f"https://{url}")
    host = parts.netloc.lower().removeprefix("www.")
    return parts.scheme, host, unquote(parts.path.rstrip("/")), parts.query, parts.fragment


def _same_addresses(found: Iterable[str], wanted: Iterable[str]) -> bool:
    return sorted(map(_plain_address, found)) == sorted(map(_plain_address, wanted))


def _tabs(answer: Any) -> list[Any]:
    return [target for target in answer["targetInfos"] if target["type"] == "page"]


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    try:  # immutable: the browser may hold the lock
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return database.execute(query).fetchall()
    except sqlite3.Error as error:
        raise CheckFailed(f"Chromium's {path.name} cannot be read: {error}") from error


def _preferences(parameters: Profile, context: TaskContext) -> Any:
    return _json_file(context.path(parameters.profile) / "Default/Preferences") or {}


def _json_file(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise CheckFailed(f"{path.name} is not JSON: {error}") from error


def _children(node: Any) -> list[Any]:
    children: list[Any] = node.get("children", [])
    return children


def _at(value: Any, *key: str) -> Any:
    for name in key:
        value = value.get(name) if isinstance(value, dict) else None
    return value


GETTERS: dict[str, Getter[Any]] = {
    "chromium_preference": Getter(Preference, chromium_preference),
    "bookmarks": Getter(Profile, bookmarks),
    "history": Getter(Profile, history),
    "cookie_data": Getter(Profile, cookie_data),
    "open_tabs_info": Getter(Profile, open_tabs_info),
    **{name: _preference(name, read) for name, read in _PREFERENCES.items()},
}


STEPS: dict[str, StepKind[Any]] = {
    "chrome_close_tabs": StepKind(Tabs, chrome_close_tabs),
}


def _list_rule(kind: str, key: str) -> type[Parameters]:
    """Return the class of a rule of OSWorld's `type` with a list of texts."""
    return rules_of("ListRule", type=Literal[kind], **{key: Annotated[tuple[str, ...], Field(min_length=1)]})


METRICS = by_name(
    Metric(is_expected_bookmarks, rules=BookmarkRule),
    Metric(is_expected_tabs, rules=_list_rule("url", "urls")),
    Metric(check_history_deleted, rules=_list_rule("keywords", "keywords")),
    Metric(check_history_visited, rules=_list_rule("keywords", "keywords")),
    Metric(is_cookie_deleted, rules=_list_rule("domains", "domains")),
    Metric(check_font_size, rules=FontRule),
)
