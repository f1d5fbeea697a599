"""Fixtures for tests of several packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Ray cluster without machines; `add_node` adds one."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    made = Cluster()
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
