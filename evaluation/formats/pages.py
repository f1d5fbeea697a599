"""Open pages of Chromium, over its debugging port: setup steps, and getters of addresses and contents.

The browser must have been started with a debugging port, as OSWorld's task files do (see `machine.yaml`), or with
`--remote-debugging-port=0` and a `--user-data-dir` of its own (without one Chromium opens no port).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import Field

from aci.waiting import Clock
from evaluation.errors import BrowserLost, CheckFailed, EvaluationError, PreparationFailed
from evaluation.formats.addresses import same_address
from evaluation.formats.browser import PROFILE
from evaluation.state.context import TaskContext
from evaluation.state.devtools import DevTools, Target
from evaluation.state.parameters import Parameters, Unused, by_name
from evaluation.state.reading import Reading, excerpt
from evaluation.state.steps import Perform

Words = Annotated[tuple[str, ...], Field(min_length=1)]
LOAD_LIMIT_S = 30.0  # time a page may take to load, or to show what a step waits for, s
_POLL_S = 0.2
_NAMELESS = ""
ADDRESS_BAR = "Address and search bar"

_TEXTS = """
((found, attribute) => found.map(node => attribute ? node.getAttribute(attribute) : (node.textContent || "").trim()))
"""
_BY_CLASS = "Array.from(document.getElementsByClassName({0}))"
_BY_PATH = (
    "[document.evaluate({0}, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue]"
    ".filter(Boolean)"
)
_BY_SELECTOR = "Array.from(document.querySelectorAll({0}))"


class Attribute(Parameters):
    """The name of a value, and the attribute that it is read from; its text where none is named."""

    name: str
    attribute: str | None = None


class SiteInfo(Parameters):
    """What is read of a page: the text or an attribute of the first element that fits a CSS selector."""

    action: Literal["inner_text", "attribute", "click_and_inner_text", "click_and_attribute"]
    selector: str | tuple[str, ...]
    attribute: str | None = None


Names = dict[str, str | Attribute | None]
"""Names of values by where they are found; a value without a name is all that is read."""


def open_tabs_info(context: TaskContext, *, profile: str = PROFILE, dest: Unused = None) -> Reading:
    """Open tabs, `{"title": ..., "url": ...}` each."""
    with debugged(context.path(profile)) as browser:
        tabs = [{"title": tab["title"], "url": tab["url"]} for tab in _tabs(browser)]
    return Reading(tabs, f"tabs: {', '.join(tab['url'] for tab in tabs)}")


def active_url_from_accessTree(context: TaskContext, *, goto_prefix: str = "https://") -> Reading:  # noqa: N802
    """Address in the browser's address bar, with a prefix for the parts that it hides."""
    for element in context.desktop.observe().elements:
        if element.name == ADDRESS_BAR and element.text:
            address = element.text if element.text.startswith("http") else f"{goto_prefix}{element.text}"
            return Reading(address, f"the address is {address}")
    return Reading(None, "there is no address bar")


def active_tab_info(context: TaskContext, *, goto_prefix: str = "https://", profile: str = PROFILE) -> Reading:
    """Title, address and content of the tab that is shown."""
    with debugged(context.path(profile)) as browser:
        page = _shown(browser)
        return Reading(None, "no tab is shown") if page is None else _info(browser, page)


def active_tab_url_parse(
    context: TaskContext,
    *,
    parse_keys: Words,
    replace: Mapping[str, str] | None = None,
    goto_prefix: str = "https://",
    split_list: bool = False,
) -> Reading:
    """Values of a query in the active address by their keys, empty where there is none; `replace` renames keys."""
    found = active_url_from_accessTree(context, goto_prefix=goto_prefix)
    if found.value is None:
        return found
    return Reading(query_values(found.value, parse_keys, replace or {}, split_list), found.evidence)


def query_values(address: str, keys: Words, renamed: Mapping[str, str], split_list: bool = False) -> dict[str, Any]:
    """Return the first value of each key of a query, or "", under its name; a list with `split_list`."""
    query = parse_qs(urlsplit(address).query)
    values = {renamed.get(key, key): query.get(key, [""])[0] for key in keys}
    return {key: value.split(",") for key, value in values.items()} if split_list else values


def url_dashPart(  # noqa: N802
    context: TaskContext,
    *,
    partIndex: int,  # noqa: N803
    returnType: Literal["string", "json"],  # noqa: N803
    needDeleteId: bool = False,  # noqa: N803
    key: str | None = None,
    goto_prefix: str = "https://",
) -> Reading:
    """A part of the active address, between slashes; as an object with one key for `json`."""
    found = active_url_from_accessTree(context, goto_prefix=goto_prefix)
    part = None if found.value is None else address_part(found.value, partIndex, needDeleteId)
    if part is None:
        return Reading(None, f"there is no part {partIndex}: {found.evidence}")
    return Reading(part if returnType == "string" else {str(key): part}, found.evidence)


def address_part(address: str, index: int, without_query: bool) -> str | None:
    """Return a part of an address between slashes; None where there are too few."""
    parts = address.split("/")
    if not -len(parts) <= index < len(parts):
        return None
    return parts[index].partition("?")[0] if without_query else parts[index]


def active_tab_html_parse(
    context: TaskContext,
    *,
    category: Literal["class", "label", "xpath", "input", "iframe-xpath", "js_code"],
    goto_prefix: str = "https://",
    class_singleObject: Names | None = None,  # noqa: N803
    class_multiObject: Mapping[str, Mapping[str, str]] | None = None,  # noqa: N803
    labelObject: Names | None = None,  # noqa: N803
    xpathObject: Names | None = None,  # noqa: N803
    inputObject: Names | None = None,  # noqa: N803
    jsObjects: Names | None = None,  # noqa: N803
    profile: str = PROFILE,
) -> Reading:
    """Texts of the tab that is shown, by name.

    Args:
        context: The task.
        category: How elements are found.
        goto_prefix: Unused; the address bar hides what it stands for.
        class_singleObject: Names by class, for the first element.
        class_multiObject: Names by class and number.
        labelObject: Names by label.
        xpathObject: Names by XPath; with an attribute, its value.
        inputObject: Names by XPath, for the value of a field.
        jsObjects: Names by JavaScript of the task file, which must be allowed.
        profile: Folder of the browser's profile.
    """
    with debugged(context.path(profile)) as browser:
        page = _shown(browser)
        if page is None:
            return Reading({}, "no tab is shown")
        values: dict[str, Any] = {}
        for selector, name in (class_singleObject or {}).items():
            values |= _first(browser, page, _BY_CLASS, selector, name)
        for selector, names in (class_multiObject or {}).items():
            texts = _texts(browser, page, _BY_CLASS, selector)
            for number, one in names.items():
                values[one] = texts[int(number)] if int(number) < len(texts) else ""
        for selector, name in {**(labelObject or {}), **(xpathObject or {})}.items():
            values |= _first(browser, page, _BY_PATH, selector, name)
        for selector, name in (inputObject or {}).items():
            found = browser.evaluate(page, f"{_BY_PATH.format(json.dumps(selector))}.map(node => node.value)")
            values |= {_name(name): found[0]} if found else {}
        for script, name in (jsObjects or {}).items():
            context.permit(script)
            values[_name(name)] = browser.evaluate(page, script)
    value = values.get(_NAMELESS, values)
    return Reading(value, f"the page has {excerpt(json.dumps(value, ensure_ascii=False))}")


def target_tab_html_parse(
    context: TaskContext,
    *,
    target_tab_url: str,
    category: Literal["xpath"],
    xpathObject: Names,  # noqa: N803
    profile: str = PROFILE,
) -> Reading:
    """Texts of the tab with an address, by name, found by XPath."""
    with debugged(context.path(profile)) as browser:
        page = _of_address(browser, target_tab_url)
        if page is None:
            return Reading({}, f"no tab shows {target_tab_url}")
        values: dict[str, Any] = {}
        for selector, name in xpathObject.items():
            values |= _first(browser, page, _BY_PATH, selector, name)
    return Reading(values, f"the page has {values}")


def active_tab_noe_class(
    context: TaskContext, *, class_name: str, goto_prefix: str = "https://", profile: str = PROFILE
) -> Reading:
    """Number of the elements of a class in the tab that is shown."""
    with debugged(context.path(profile)) as browser:
        page = _shown(browser)
        number = 0 if page is None else len(_texts(browser, page, _BY_CLASS, class_name))
    return Reading(number, f"{number} elements of the class {class_name}")


def page_info(context: TaskContext, *, url: str, profile: str = PROFILE) -> Reading:
    """Title, address and content of a page, which is opened for it in a tab of its own."""
    with debugged(context.path(profile)) as browser, _visited(browser, url) as page:
        return _info(browser, page)


def pdf_from_url(context: TaskContext, *, path: str, dest: str, profile: str = PROFILE) -> Reading:
    """Path of a PDF that the browser prints of a page."""
    with debugged(context.path(profile)) as browser, _visited(browser, path) as page:
        printed = browser.call("Page.printToPDF", {}, page)["data"]
    copy = context.cached(dest)
    copy.write_bytes(base64.b64decode(printed))
    return Reading(copy, f"{path} as a PDF")


def info_from_website(
    context: TaskContext, *, url: str, infos: tuple[SiteInfo, ...], backups: Any = None, profile: str = PROFILE
) -> Reading:
    """Texts of a page, which is opened for it; `backups` are given in its place if it cannot be read."""
    try:
        with debugged(context.path(profile)) as browser, _visited(browser, url) as page:
            values = [_site_info(browser, page, info) for info in infos]
    except EvaluationError as error:
        if backups is None:
            raise
        return Reading(backups, f"{url} cannot be read ({error}); its earlier values are {backups}")
    return Reading(values, f"{url} has {values}")


def gotoRecreationPage_and_get_html_content(  # noqa: N802
    context: TaskContext, *, selector: Literal["class"], class_: str, order: int | None = None, profile: str = PROFILE
) -> Reading:
    """The text of an element of a class in the tab that is shown, as an expected value."""
    with debugged(context.path(profile)) as browser:
        page = _shown(browser)
        texts = [] if page is None else _texts(browser, page, _BY_CLASS, class_)
    number = order or 0
    text = texts[number] if number < len(texts) else "__EVALUATION_FAILED__"
    return Reading({"expected": {"expected": text}}, f"the page has {text!r}")


def chrome_close_tabs(
    context: TaskContext, *, urls_to_close: Words, profile: str = PROFILE, dest: Unused = None
) -> None:
    """Close the tabs with the given addresses; raise an error if one is not open."""
    with debugged(context.path(profile)) as browser:
        tabs = _tabs(browser)
        for url in urls_to_close:
            ids = [tab["targetId"] for tab in tabs if same_address(tab["url"], url)]
            if not ids:
                raise PreparationFailed(f"no tab shows {url}")
            for id_ in ids:
                browser.call("Target.closeTarget", {"targetId": id_})


def chrome_activate_tab(context: TaskContext, *, tab_url: str, profile: str = PROFILE) -> None:
    """Show the tab with an address."""
    with debugged(context.path(profile)) as browser:
        browser.call("Target.activateTarget", {"targetId": _awaited(browser, tab_url).id})


def chrome_click_element(context: TaskContext, *, element_xpath: str, profile: str = PROFILE) -> None:
    """Click an element of the tab that is shown, once it is there."""
    script = f"{_BY_PATH.format(json.dumps(element_xpath))}.map(node => node.click()).length > 0"
    with debugged(context.path(profile)) as browser:
        _wait_until(lambda: (page := _shown(browser)) is not None and browser.evaluate(page, script), element_xpath)


def chrome_execute_script(
    context: TaskContext,
    *,
    tab_url: str,
    script: str,
    reload: bool = True,
    wait_for: str | None = None,
    profile: str = PROFILE,
) -> None:
    """Run JavaScript of the task file in a tab, and load the page again afterwards.

    Args:
        context: The task, whose commands must be allowed.
        tab_url: Beginning of the tab's address.
        script: The script.
        reload: Whether the page is loaded again.
        wait_for: CSS selector of what must be there first.
        profile: Folder of the browser's profile.
    """
    context.permit(script)
    with debugged(context.path(profile)) as browser:
        page = _awaited(browser, tab_url)
        if wait_for:
            there = f"document.querySelector({json.dumps(wait_for)}) !== null"
            _wait_until(lambda: browser.evaluate(page, there), wait_for)
        browser.evaluate(page, script)
        if reload:
            browser.call("Page.reload", {}, page)


def chrome_check_inited(context: TaskContext, *, tab_url: str, script: str, profile: str = PROFILE) -> None:
    """Refuse to continue unless JavaScript of the task file says that a page is as it should be."""
    context.permit(script)
    with debugged(context.path(profile)) as browser:
        if not browser.evaluate(_awaited(browser, tab_url), script):
            raise PreparationFailed(f"{tab_url} is not as the task needs it")


@contextmanager
def debugged(profile: Path) -> Iterator[DevTools]:
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


def _shown(browser: DevTools) -> Target | None:
    """Return the tab that has the keyboard, else the first that can be seen."""
    pages = [browser.attach(page) for page in browser.pages()]
    for test in ("document.hasFocus()", "document.visibilityState === 'visible'"):
        for page in pages:
            if browser.evaluate(page, test):
                return page
    return None


def _of_address(browser: DevTools, address: str) -> Target | None:
    wanted = unquote(address).rstrip("/")
    tabs = [tab for tab in _tabs(browser) if unquote(tab["url"]).rstrip("/").startswith(wanted)]
    return browser.attach(tabs[0]["targetId"]) if tabs else None


def _awaited(browser: DevTools, address: str) -> Target:
    found: list[Target | None] = []

    def is_there() -> bool:
        found[:] = [_of_address(browser, address)]
        return found[0] is not None

    _wait_until(is_there, address)
    assert found[0] is not None
    return found[0]


@contextmanager
def _visited(browser: DevTools, address: str) -> Iterator[Target]:
    """Open a page in a tab of its own, and close it afterwards."""
    page = browser.attach(browser.call("Target.createTarget", {"url": address})["targetId"])
    try:
        loaded = "document.readyState === 'complete' && location.href !== 'about:blank'"
        _wait_until(lambda: browser.evaluate(page, loaded), address)
        yield page
    finally:
        browser.call("Target.closeTarget", {"targetId": page.id})


def _wait_until(holds: Callable[[], Any], what: str) -> None:
    if not Clock().until(holds, LOAD_LIMIT_S, _POLL_S):
        raise BrowserLost(f"{what} was not there within {LOAD_LIMIT_S:g} s")


def _info(browser: DevTools, page: Target) -> Reading:
    script = "({title: document.title, url: location.href, content: document.documentElement.outerHTML})"
    info = browser.evaluate(page, script)
    return Reading(info, f"{info['title']!r} at {info['url']}")


def _texts(browser: DevTools, page: Target, find: str, selector: str, attribute: str | None = None) -> list[Any]:
    found = find.format(json.dumps(selector))
    return list(browser.evaluate(page, f"{_TEXTS.strip()}({found}, {json.dumps(attribute)})"))


def _first(browser: DevTools, page: Target, find: str, selector: str, name: str | Attribute | None) -> dict[str, Any]:
    attribute = name.attribute if isinstance(name, Attribute) else None
    texts = _texts(browser, page, find, selector, attribute)
    return {_name(name): texts[0]} if texts else {}


def _name(name: str | Attribute | None) -> str:
    return name.name if isinstance(name, Attribute) else name or _NAMELESS


def _site_info(browser: DevTools, page: Target, info: SiteInfo) -> Any:
    *clicked, selector = (info.selector,) if isinstance(info.selector, str) else info.selector
    for one in clicked:
        browser.evaluate(page, f"{_BY_SELECTOR.format(json.dumps(one))}[0]?.click()")
    found = f"{_BY_SELECTOR.format(json.dumps(selector))}.length > 0"
    _wait_until(lambda: browser.evaluate(page, found), selector)
    texts = _texts(browser, page, _BY_SELECTOR, selector, info.attribute)
    if not texts:
        raise CheckFailed(f"the page has no {selector}")
    return texts[0]


STEPS: dict[str, Perform] = by_name(
    chrome_close_tabs, chrome_activate_tab, chrome_click_element, chrome_execute_script, chrome_check_inited
)
