"""The benchmark of trained planners."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.planner import measure
from tests.wire.formats import ChatFormat
from tests.wire.server import WireServer


def node(name: str, skill: int | None, *values: str) -> dict[str, object]:
    return {"name": name, "info": "", "skill": skill, "values": values}


def test_plans_are_compared_with_those_of_the_file(tmp_path: Path) -> None:
    right = [
        [node("open page 12", 2, "12")],
        [node("print", None)],
        [node("turn on bold", 1), node("open page 3", 2, "3")],
    ]
    given = [{"nodes": right[0]}, {"nodes": [node("Print it", None)]}, {"nodes": right[2][:1]}]
    file = tmp_path / "held_back.jsonl"
    turns = (("system", "You plan."), ("user", "Task: it\nNow."))
    with file.open("w", encoding="utf-8") as lines:
        for nodes in right:
            messages = [*turns, ("assistant", json.dumps({"nodes": nodes}))]
            lines.write(json.dumps({"messages": [{"role": role, "content": text} for role, text in messages]}) + "\n")
    no_schema = ChatFormat().error(400, "response_format is not supported")
    server = WireServer([no_schema, *(ChatFormat().answer(json.dumps(one)) for one in given)])
    with server.running():
        figures = measure(Namespace(file=file, model=f"{server.url}/v1#planner", quick=False)).values()
    seconds = figures.pop("seconds")
    assert seconds is not None and seconds >= 0
    assert figures == {
        "tasks": 3,
        "valid": 1.0,
        "skills": pytest.approx(2 / 3, abs=1e-4),
        "skills_single": 1.0,
        "skills_joined": 0.0,
        "values": 0.5,
        "missing": 1.0,
    }
