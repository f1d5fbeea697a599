"""Addresses of pages: metrics for tabs, patterns and texts of pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.metrics import Expected, ExpectedList, Score, score_of
from evaluation.state.parameters import Parameters
from evaluation.state.reading import excerpt

Words = Annotated[tuple[str, ...], Field(min_length=1)]
Tabs = Sequence[Mapping[str, str]]


class Pattern(Parameters):
    """A regular expression."""

    pattern: str


def is_expected_active_tab(result: Any, type: Literal["url"], url: str, *, prefix: bool = False) -> Score:
    """The address of the active tab is the expected one, or with `prefix` begins with it."""
    found = _address(result)
    same = found.startswith(url) if prefix else same_address(url, found)
    return score_of(same, f"the address is {found}, expected {url}")


def is_expected_url_pattern_match(result: Any, expected: ExpectedList[str]) -> Score:
    """Each regular expression fits a part of the address of the active tab."""
    found = _address(result)
    missing = [pattern for pattern in expected.expected if not _fits(pattern, found)]
    return score_of(not missing, f"the address is {found}, which lacks {missing}" if missing else f"at {found}")


def is_expected_search_query(result: Any, expect: Pattern) -> Score:
    """A regular expression fits a part of the address of the active tab."""
    found = _address(result)
    return score_of(_fits(expect.pattern, found), f"the address is {found}")


def is_expected_tabs(result: Tabs, type: Literal["url"], urls: Words) -> Score:
    """As many tabs are open as expected, and each of the expected addresses is."""
    found = [tab["url"] for tab in result]
    return score_of(same_addresses(found, urls), f"open are {found}, expected {list(urls)}")


def include_expected_tabs(result: Tabs, type: Literal["url"], urls: Words) -> Score:
    """Each expected address is open, exactly as written."""
    missing = sorted(set(urls) - {tab["url"] for tab in result})
    return score_of(not missing, f"not open: {missing}" if missing else "all are open")


def include_expected_url(result: Tabs, expected: Expected[str], *, postfix: str = "") -> Score:
    """The expected address with something behind it is open, exactly as written."""
    wanted = expected.expected + postfix
    found = [tab["url"] for tab in result]
    return score_of(wanted in found, f"open are {found}, expected {wanted}")


def webpage_contains(result: Any, expected: Expected[str]) -> Score:
    """The content of a page holds a text."""
    content = str(result["content"])
    return score_of(expected.expected in content, f"expected {expected.expected!r} in {excerpt(content)}")


def same_address(one: str, two: str) -> bool:
    """Return whether two addresses lead to the same page.

    A missing scheme is http; capitals of the host, `www.` before it, and a slash behind a bare host do not count.
    """
    return _plain(one) == _plain(two)


def same_addresses(found: Iterable[str], wanted: Iterable[str]) -> bool:
    """Return whether there are as many addresses as wanted, and each of those wanted."""
    have, right = list(map(_plain, found)), list(map(_plain, wanted))
    return len(have) == len(right) and all(address in have for address in right)


def _plain(address: str) -> tuple[str, ...]:
    parts = urlsplit(address if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", address) else f"http://{address}")
    path = "" if parts.path == "/" else parts.path
    return parts.scheme, parts.netloc.lower().removeprefix("www."), path, parts.query, parts.fragment


def _address(result: Any) -> str:
    return str(result["url"] if isinstance(result, Mapping) else result)


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error as error:
        raise CheckFailed(f"{pattern!r} is not a regular expression: {error}") from error
