from __future__ import annotations

import json

import pytest

from aci.errors import ConnectionLost
from benchmarks.support.figures import Figures, NotMeasured


def test_a_figure_that_was_not_reached_is_null_with_a_reason() -> None:
    figures = Figures(["first", "second"])
    figures.set("first", 0.123456789)
    assert json.loads(json.dumps(figures.values())) == {"first": 0.12346, "second": None}
    assert list(figures.reasons()) == ["second"]


@pytest.mark.parametrize("error", [NotMeasured("no engine"), ConnectionLost("no engine"), OSError("no engine")])
def test_a_part_that_breaks_costs_its_own_figures_only(error: Exception) -> None:
    figures = Figures(["first", "second", "third"])
    with figures.part("first", "second"):
        figures.set("first", 1)
        raise error
    with figures.part("third"):
        figures.set("third", 3)
    assert figures.values() == {"first": 1, "second": None, "third": 3}
    assert "no engine" in figures.reasons()["second"]
    assert "first" not in figures.reasons()


def test_a_mistake_in_a_part_is_not_hidden() -> None:
    figures = Figures(["first"])
    with pytest.raises(ZeroDivisionError), figures.part("first"):
        raise ZeroDivisionError


def test_figures_that_were_not_named_are_refused() -> None:
    with pytest.raises(KeyError):
        Figures(["first"]).set("frist", 1)
