from __future__ import annotations

import pytest

from agent_s.offline.quoting import guard
from agent_s.offline.targets import parse_target
from tests.unit.agent_s.offline.brief import query


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("the second 'OK' button below 'Name' in the dialog", "'OK' button #2 below ('Name' in (dialog))"),
        ("the Save As button", "Save As button"),
        ("button Submit", "Submit button"),
        ("the link that says More", "More link"),
        ("the text field next to Password", "field beside (Password)"),
        ('the field labeled "First name"', "'First name' field"),
        ("the button labelled Save in the toolbar", "Save button in (toolbar)"),
        ("the top left icon", "image left top"),
        ("the icon in the bottom right corner", "image bottom right"),
        ("the last row", "row #-1"),
        ("third item in the list", "item #3 in (combo)"),
        ("Tab #2", "tab #2"),
        ("the 2nd input textbox", "field #2"),
        ("both text fields", "field every"),
        ("all of the checkboxes", "checkbox every"),
        ("the button to the right of Cancel", "button right of (Cancel)"),
        ("the OK button of the Find dialog", "OK button in (Find dialog)"),
        ("the 'Edit' button in the row of Bob", "'Edit' button row (Bob)"),
        ("the checkbox for Remember me", "checkbox beside (Remember me)"),
        ("the selected item", "item selected"),
        ("Preferences", "Preferences"),
        ("File", "File"),
        ("the first one", "#1"),
        ("a \"checkbox\" widget", "checkbox"),
        ("folder Documents", "Documents item"),
        ("the X in the upper right corner of the window", "X right top"),
    ],
)  # fmt: skip
def test_reads_a_description(phrase: str, expected: str) -> None:
    assert query(parse_target(guard(phrase))) == expected


def test_keeps_the_whole_phrase_for_names_that_read_like_descriptions() -> None:
    assert parse_target(guard("the Terms of service link")).phrase == "Terms of service link"
