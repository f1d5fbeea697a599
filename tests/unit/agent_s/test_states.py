"""What docs/control_flow.md says of states is held by the tests that it names."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
DOCS = TESTS.parent / "docs" / "control_flow.md"
STATES = ("Init", "Observe", "Plan", "Execute", "Verify", "Success", "Fail", "Error", "Reset")


def test_every_state_and_transition_has_a_test_that_exists() -> None:
    section = DOCS.read_text(encoding="utf-8").split("## States")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    told = [row for row in rows if not row.startswith(("| state", "| from"))]
    assert [row.split(" | ")[0].strip("| ") for row in told[: len(STATES)]] == list(STATES)
    sources = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    defined = set(re.findall(r"^ *def (test_\w+)\(", sources, re.MULTILINE))
    for row in told:
        named = re.findall(r"`(test_\w+)`", row)
        assert named and set(named) <= defined, row
