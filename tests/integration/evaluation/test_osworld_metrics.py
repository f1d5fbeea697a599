"""Metrics and getters beside the originals of OSWorld's package, or beside what these answered before."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.support.osworld.agreement import EXPLAINED, agreement, originals_python
from benchmarks.support.osworld.getters import differing_getters

PYTHON = originals_python()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "python", [None, PYTHON] if PYTHON else [None], ids=["recorded", "installed"][: 1 + bool(PYTHON)]
)
def test_metrics_agree_with_the_originals(python: Path | None) -> None:
    found = agreement(python)

    assert len(found.cases) >= 90
    assert min(found.cases.values()) >= 6
    assert found.same >= 0.94
    assert found.share >= 0.99, [one for one in found.differences if not one.reason]
    assert {one.case.metric for one in found.differences if one.reason} >= set(EXPLAINED) & {"check_thunderbird_folder"}


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason="needs OSWorld's package: make osworld")
def test_getters_read_what_the_originals_read() -> None:
    assert PYTHON is not None

    cases, differing = differing_getters(PYTHON)

    assert cases >= 70
    assert not differing
