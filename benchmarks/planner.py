"""How well a small planner uses skills, on conversations that it was not trained on.

```
agent-s memory export --training pairs.jsonl     # hold some of its lines back from training
python -m benchmarks.planner held_back.jsonl --model http://localhost:8000/v1#planner --json
```

Each conversation is sent as it is in a run, with the schema of a plan if the server takes one, and the answer is
compared with the plan of the file:

valid    share of answers that are valid plans
skills   share that name the same skills in the same order; `skills_single` and `skills_joined` are the shares of tasks
         that ask for one thing, and for several
values   share of those with values whose skills and values are all right
missing  share of the parts for which no skill is offered that are left to the worker
seconds  median time of an answer, s
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from agent_s.llm.build import build_model
from agent_s.llm.conversation import Conversation, Message, Text
from agent_s.llm.protocol import PlannedNode, PlanResponse
from agent_s.llm.providers.provider import ProviderModel
from agent_s.llm.providers.schemas import schema_for
from agent_s.llm.providers.sdk_errors import SchemaRefused
from agent_s.llm.providers.structured import Unreadable, read_response
from agent_s.settings import ProviderSettings
from benchmarks.support.figures import Figures, command, tell

FIGURES = ("tasks", "valid", "skills", "skills_single", "skills_joined", "values", "missing", "seconds")
SETTINGS = ProviderSettings(max_pictures=0, max_output_tokens=256, timeout_s=300)


def planned(model: ProviderModel, turns: list[dict[str, str]]) -> tuple[PlannedNode, ...]:
    """Return the subtasks that a model plans; none if its answer is not a valid plan."""
    system, user, _ = (turn["content"] for turn in turns)
    conversation = Conversation(system, (Message("user", (Text(user),)),), key="")
    settings = model.settings.for_role("plan")
    try:
        reply = model.send(model.client, settings, conversation, schema_for(PlanResponse))
    except SchemaRefused:
        reply = model.send(model.client, settings, conversation, None)
    try:
        answer = read_response(reply.text, PlanResponse)
    except Unreadable as problem:
        tell(f"not a plan ({problem}): {reply.text[:200]!r}")
        return ()
    assert isinstance(answer, PlanResponse)
    return answer.nodes


def measure(wanted: argparse.Namespace) -> Figures:
    """Ask for the plans of a file, and compare them."""
    figures = Figures(FIGURES)
    if wanted.file is None or not wanted.model:
        for name in FIGURES:
            figures.lack(name, "no conversations and no server were named")
        return figures
    model = build_model(wanted.model, os.environ, SETTINGS)
    assert isinstance(model, ProviderModel), "only a model behind a server can be measured"
    lines = wanted.file.read_text(encoding="utf-8").splitlines()
    rows = [_compared(model, json.loads(line)["messages"]) for line in (lines[:3] if wanted.quick else lines)]
    shares = {
        "valid": [row["valid"] for row in rows],
        "skills": [row["skills"] for row in rows],
        "skills_single": [row["skills"] for row in rows if row["parts"] == 1],
        "skills_joined": [row["skills"] for row in rows if row["parts"] > 1],
        "values": [row["values"] for row in rows if row["values"] is not None],
        "missing": [left for row in rows for left in row["missing"]],
    }
    figures.set("tasks", len(rows))
    figures.set("seconds", statistics.median(row["seconds"] for row in rows))
    for name, values in shares.items():
        if values:
            figures.set(name, sum(values) / len(values))
        else:
            figures.lack(name, "the file has no such task")
    return figures


def _compared(model: ProviderModel, turns: list[dict[str, str]]) -> dict[str, Any]:
    right = PlanResponse.model_validate_json(turns[-1]["content"]).nodes
    began = time.monotonic()
    given = planned(model, turns)
    seconds = time.monotonic() - began
    same = [node.skill for node in given] == [node.skill for node in right]
    instruction = turns[1]["content"].partition("Task: ")[2].partition("\n")[0]
    tell(f"{'same' if same else 'OTHER'}, {seconds:.0f} s: {instruction}: {_said(given)}; right is {_said(right)}")
    return {
        "parts": len(right),
        "seconds": seconds,
        "valid": bool(given),
        "skills": same,
        "values": same and _values(given) == _values(right) if any(_values(right)) else None,
        "missing": [
            place < len(given) and given[place].skill is None for place, node in enumerate(right) if node.skill is None
        ],
    }


def _values(nodes: tuple[PlannedNode, ...]) -> list[tuple[str, ...]]:
    return [node.values for node in nodes]


def _said(nodes: tuple[PlannedNode, ...]) -> str:
    return ", ".join(f"{node.name!r} [{node.skill}]{node.values or ''}" for node in nodes) or "nothing"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, help="conversations of `agent-s memory export --training`")
    parser.add_argument("--model", default="", help="address of the server, with #NAME of its model")


if __name__ == "__main__":
    sys.exit(command("planner", (__doc__ or "").partition("\n")[0], measure, _options))
