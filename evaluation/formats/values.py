"""Metrics for texts, numbers, lists and JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from evaluation.errors import CheckFailed
from evaluation.state.metrics import (
    Expected,
    ExpectedList,
    Score,
    ValueRule,
    score_of,
    score_unless,
    without_differences,
)
from evaluation.state.parameters import Parameters
from evaluation.state.reading import excerpt

Threshold = Annotated[float, Field(ge=0, le=1)] | None
"""Least similarity for a score of 1; None makes the similarity itself the score."""


class DirectJson(Parameters):
    """Values by key."""

    expected: dict[str, Any]  # the values; with `ignore_list_order` among them, lists may have another order
    # whether a text need only hold the expected one, and a list only one of those expected
    expect_in_result: bool = False
    # the time that values were filled in for; see `rule_relativeTime`
    relativeTime: Any = None  # noqa: N815 - OSWorld's name

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_values(cls, content: Any) -> Any:
        """Take an object without `expected` for the values themselves, as it is in some files."""
        return {"expected": content} if isinstance(content, dict) and content and "expected" not in content else content


class ExpectedValue(Expected[Any]):
    """One value; see `DirectJson` for `relativeTime`."""

    relativeTime: Any = None  # noqa: N815 - OSWorld's name


class ExtensionRule(Parameters):
    """A text that must be in another, or must not."""

    type: Literal["contain", "not_contain"]
    expected: str


def literal_match(
    result: Any, expected: Any, *, type: Literal["str", "list"] = "str", ignore_case: bool = False
) -> Score:
    """A text, or each text of a list, is the expected one: a value, or `expected` of a rule."""
    if isinstance(expected, Mapping) and set(expected) == {"expected"}:
        expected = expected["expected"]
    found, wanted = [result], [expected]
    if type == "list":
        if not (isinstance(result, list | tuple) and isinstance(expected, list | tuple)):
            return Score(0.0, f"{excerpt(str(result))} or {excerpt(str(expected))} is not a list")
        found, wanted = list(result), list(expected)
    same = [without_differences(str(part), False, ignore_case) for part in found] == [
        without_differences(str(part), False, ignore_case) for part in wanted
    ]
    return score_of(same, f"expected {wanted}, found {found}")


def is_in_list(result: Any, expected: Expected[Any]) -> Score:
    """The expected value is in a list, or the text in a text."""
    return score_of(expected.expected in result, f"expected {expected.expected!r} in {excerpt(str(result))}")


def fuzzy_match(result: str, expected: Expected[Any], *, threshold: Threshold = None) -> Score:
    """The similarity of two texts (edit distance), from 0 to 1."""
    from rapidfuzz.fuzz import ratio

    similarity = ratio(result, str(expected.expected)) / 100
    value = similarity if threshold is None else float(similarity >= threshold)
    return Score(value, f"the similarity of {excerpt(result)} and {expected.expected!r} is {similarity:.3f}")


def check_direct_json_object(result: Any, expected: DirectJson) -> Score:
    """A JSON object, as value or text, has the expected values."""
    content = _parsed(result) if isinstance(result, str) else result
    if not isinstance(content, Mapping):
        return Score(0.0, f"not a JSON object: {excerpt(str(result))}")
    any_order = bool(expected.expected.get("ignore_list_order"))
    wrong = (
        f"{key} is {content.get(key)!r}, expected {value!r}"
        for key, value in expected.expected.items()
        if not (
            _holds_part(content.get(key), value)
            if expected.expect_in_result
            else _same(content.get(key), value, any_order and key != "ignore_list_order")
        )
    )
    return score_unless(wrong, "all values are as expected")


def check_one_of_include(result: Sequence[str], expected: ExpectedList[str]) -> Score:
    """One of several texts holds all the expected ones."""
    found = any(all(part in text for part in expected.expected) for text in result)
    return score_of(found, f"{'one' if found else 'none'} of {len(result)} texts holds {list(expected.expected)}")


def check_one_of_equal(result: Sequence[Any], expected: ExpectedValue) -> Score:
    """One of several values is the expected one."""
    return score_of(expected.expected in result, f"expected {expected.expected!r} among {excerpt(str(result))}")


def check_json_contains(result: Mapping[str, Any], expected: Expected[dict[str, Any]]) -> Score:
    """The value of each key holds the expected one."""
    wrong = (
        f"{key} is {result.get(key)!r}, expected {value!r} in it"
        for key, value in expected.expected.items()
        if value not in (result.get(key) or ())
    )
    return score_unless(wrong, "all values hold what is expected")


def check_directory(result: Sequence[str], expected: ExpectedList[Any]) -> Score:
    """`list_directory` found exactly these files and folders."""
    found, wanted = sorted(result), sorted(map(str, expected.expected))
    return score_of(found == wanted, f"found {found}, expected {wanted}")


def check_moved_jpgs(result: Sequence[str], expected: ExpectedList[str]) -> Score:
    """`list_directory` found exactly these files and folders; those of subfolders do not count."""
    found = sorted(name.rstrip("/") for name in result if "/" not in name.rstrip("/"))
    return score_of(found == sorted(expected.expected), f"found {found}, expected {sorted(expected.expected)}")


def check_number(result: Any, expected: ExpectedList[ValueRule]) -> Score:
    """The first number of a text, or a number, fits every rule."""
    number = re.search(r"-?\d+(?:\.\d+)?", str(result))
    if number is None:
        return Score(0.0, f"there is no number in {excerpt(str(result))}")
    value = float(number[0])
    wrong = [str(rule) for rule in expected.expected if not rule.holds(value)]
    return score_of(not wrong, f"{value:g} should be {', '.join(wrong)}" if wrong else f"{value:g} is as expected")


def is_not_empty(result: Any) -> Score:
    """There is a value, and it is not empty."""
    return score_of(bool(result), f"found {excerpt(str(result))}")


def is_json_empty(result: Any) -> Score:
    """A JSON object has no keys."""
    return score_of(isinstance(result, dict) and not result, f"found {excerpt(str(result))}")


def check_2048_has_16(result: Mapping[str, Sequence[str]]) -> Score:
    """One of the tiles of the game 2048 is 16 or more."""
    tiles = [int(tile) for tile in result.get("tiles", ())]
    return score_of(any(tile >= 16 for tile in tiles), f"the tiles are {tiles}")


def check_email_match_href(result: str, expected: Expected[str]) -> Score:
    """A mail address is that of a link, which may begin with `mailto:`."""
    return score_of(result == expected.expected.removeprefix("mailto:"), f"{result!r}, expected {expected.expected!r}")


def check_text_enlarged(result: str) -> Score:
    """A factor for the size of texts is greater than 1."""
    try:
        factor = float(result)
    except ValueError as error:
        raise CheckFailed(f"{excerpt(result)} is not a number") from error
    return score_of(factor > 1, f"the factor is {factor:g}")


def is_utc_0(result: str) -> Score:
    """The fourth line of `timedatectl` names a time zone with no offset."""
    lines = result.split("\n")
    return score_of(len(lines) > 3 and lines[3].endswith("+0000)"), f"found {excerpt(result)}")


def is_extension_installed(result: str, expected: ExtensionRule) -> Score:
    """A list of extensions, as text, holds one, or does not."""
    found = expected.expected in result
    return score_of(found == (expected.type == "contain"), f"{expected.expected!r} is {'' if found else 'not '}listed")


def is_in_vm_clickboard(result: str, expected: ExpectedList[str]) -> Score:
    """The clipboard holds all texts."""
    missing = [text for text in expected.expected if text not in result]
    return score_of(not missing, f"the clipboard lacks {missing}" if missing else "the clipboard holds the text")


def _same(found: Any, wanted: Any, any_order: bool) -> bool:
    if any_order and isinstance(found, list) and isinstance(wanted, list):
        return sorted(found, key=str) == sorted(wanted, key=str)
    return bool(found == wanted)


def _holds_part(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(one == found or (isinstance(found, list) and one in found) for one in wanted)
    return isinstance(wanted, str) and isinstance(found, str | list) and wanted in found


def _parsed(text: str) -> Any:
    for written in (text, text.replace("'", '"')):  # as Python writes it
        try:
            return json.loads(written)
        except json.JSONDecodeError:
            continue
    return None
