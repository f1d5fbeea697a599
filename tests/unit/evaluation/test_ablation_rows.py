"""What each row of the paper's ablations gives its model: plans, web results and experiences."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from aci.acting.actions import Done
from agent_s import AgentS, Options, Task
from agent_s.events import ExperienceStored, RunEnded
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    ModelRequest,
    PlanContext,
    PlannedNode,
    PlanResponse,
    QueryResponse,
    WebResult,
)
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Verdict
from agent_s.search import WebSearch
from agent_s.settings import configs_folder
from evaluation.ablations import load_rows
from evaluation.commands.eval_ablation import _options_of
from memory_store import HashingEmbedder, MemoryStore, Provenance
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.unit.evaluation.test_ablations import GIVEN

ROWS = load_rows(configs_folder() / "ablations" / "paper.yaml")
TASK = Task(instruction="Save the letter as a PDF file")
QUERY = "How to save the letter as a PDF file"
SUBTASKS = ("export the letter as a PDF file", "close the letter")


class OnePage(WebSearch):
    def search(self, query: str) -> tuple[WebResult, ...]:
        return (WebResult("Export to PDF", "https://example.org/", "Choose File > Export."),)


class Given(NamedTuple):
    """What a row of the table gave its model, and whether it wrote to memory."""

    plans: int  # number of calls for a plan
    subtasks: int  # number of subtasks that were carried out
    web: bool  # whether the planner read web results
    narratives: bool  # whether the planner read experiences
    episodes: bool  # whether the Worker read experiences
    learns: bool  # whether the run was stored


WHOLE = Given(plans=1, subtasks=2, web=True, narratives=True, episodes=True, learns=True)
NOTHING = Given(plans=0, subtasks=1, web=False, narratives=False, episodes=False, learns=False)
EXPECTED = {
    "agent-s": WHOLE,
    "without-web": WHOLE._replace(web=False),
    "without-narrative": WHOLE._replace(narratives=False),
    "without-episodic": WHOLE._replace(episodes=False),
    "without-all": WHOLE._replace(web=False, narratives=False, episodes=False, learns=False),
    "baseline": NOTHING,
    "baseline-retrieval": WHOLE._replace(subtasks=1),
    "aci-only": NOTHING,
    "aci-retrieval": WHOLE._replace(subtasks=1),
    "aci-hierarchy": NOTHING._replace(plans=1, subtasks=2),
    "without-exploration": WHOLE._replace(narratives=False, episodes=False),
    "without-update": WHOLE._replace(learns=False),
    "without-evaluator": WHOLE,
}


def memory_of(row: str, path: Path) -> MemoryStore:
    """Return the memory that a row starts with; one that was explored knows the task and its subtasks."""
    store = MemoryStore.open(path, embedder=HashingEmbedder())
    if ROWS.rows[row].memory != "empty":
        came = Provenance(run_id="explored")
        store.add_narrative(
            query=QUERY, instruction=TASK.instruction, summary="Exported the letter.", success=True, provenance=came
        )
        for name in (*SUBTASKS, TASK.instruction):
            store.add_episodic(task_query=QUERY, subtask=name, summary="Menu File.", steps=(), provenance=came)
    return store


def plan(request: ModelRequest) -> PlanResponse:
    """Plan as many of the subtasks as are allowed."""
    assert isinstance(request.context, PlanContext)
    names = SUBTASKS[: request.context.limits.max_subtasks]
    return PlanResponse(nodes=tuple(PlannedNode(name=name) for name in names), edges=tuple(pairwise(names)))


def given_by(row: str, folder: Path) -> Given:
    """Run the task with the settings of a row."""
    settings = _options_of(ROWS, row, GIVEN).settings
    act = ActResponse(action=Done())
    model = ScriptedModel({"query": [QueryResponse(query=QUERY)], "plan": [plan], "act": [act] * len(SUBTASKS)})
    with ExitStack() as opened:
        memory = opened.enter_context(memory_of(row, folder / "m.sqlite")) if settings.memory.enabled else None
        agent = AgentS(
            model=model,
            desktop=FakeDesktop(screen(button(1, "OK"))),
            memory=memory,
            search=OnePage() if settings.search.engine != "none" else None,
            options=Options.from_settings(settings),
        )
        events = list(agent.stream(TASK, lambda status: Verdict(verified=True), blind=True))
    assert isinstance(events[-1], RunEnded) and events[-1].outcome.verified
    contexts = [request.context for request in model.requests]
    plans = [context for context in contexts if isinstance(context, PlanContext)]
    acts = [context for context in contexts if isinstance(context, ActContext)]
    return Given(
        plans=len(plans),
        subtasks=len({context.subtask.name for context in acts}),
        web=any(context.web for context in plans),
        narratives=any(context.experiences for context in plans),
        episodes=any(context.experiences for context in acts),
        learns=any(isinstance(event, ExperienceStored) for event in events),
    )


@pytest.mark.parametrize("row", ROWS.rows)
def test_a_row_gives_the_model_what_its_title_says(row: str, tmp_path: Path) -> None:
    assert given_by(row, tmp_path) == EXPECTED[row]
