"""Workers on a Ray cluster that is not there; `tests/integration/evaluation/test_ray_pool.py` has one."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from agent_s.settings import Settings
from evaluation.errors import ClusterError
from evaluation.harness.ray_pool import RayPool
from evaluation.harness.results import Job
from evaluation.worker import Assignment

pytest.importorskip("ray")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(
    "address", ["127.0.0.1:{port}", "ray://127.0.0.1:{port}", "nonsense", "", "host:port", ":1", "a..b:1"]
)
def test_an_address_where_no_cluster_is_is_refused_at_once(address: str, tmp_path: Path) -> None:
    address = address.format(port=free_port())
    assignment = Assignment(benchmark="tasks", settings=Settings(), folder=tmp_path)
    began = time.monotonic()
    with pytest.raises(ClusterError, match="There is no Ray cluster at"):
        list(RayPool(assignment, 1, 60, address).run([Job(task="a")]))
    assert time.monotonic() - began < 30  # Ray itself tries for minutes
