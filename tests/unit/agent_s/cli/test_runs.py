"""Options of the commands about recorded runs."""

from __future__ import annotations

import click
import pytest

from agent_s.cli.runs import with_values


def test_values_of_a_task_are_replaced() -> None:
    assert with_values("Save it as draft.txt", ("draft.txt=a=b.txt",)) == "Save it as a=b.txt"
    assert with_values("Save it", ()) == "Save it"


@pytest.mark.parametrize(
    ("value", "problem"), [("draft.txt", "takes OLD=NEW"), ("=x", "takes OLD=NEW"), ("a.txt=b", "a.txt")]
)
def test_other_values_are_refused(value: str, problem: str) -> None:
    with pytest.raises(click.UsageError, match=problem):
        with_values("Save it as draft.txt", (value,))
