from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent_s.errors import SearchError
from agent_s.llm.protocol import PlanContext, PlannedNode, PlanResponse, WebResult
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Plan, Task
from agent_s.roles.manager import Manager
from agent_s.search import WebSearch
from memory_store import MemoryStore, Provenance
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.agent_s.fakes import screen

TASK = Task(instruction="Turn on line numbers in the editor")
PAGE = WebResult("Line numbers", "http://localhost/lines", "Use the View menu.")


class Engine(WebSearch):
    def __init__(self, *results: WebResult, error: SearchError | None = None) -> None:
        self.queries: list[str] = []
        self._results = results
        self._error = error

    def search(self, query: str) -> tuple[WebResult, ...]:
        self.queries.append(query)
        if self._error:
            raise self._error
        return self._results


def test_web_and_memory_get_the_same_query(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as memory:
        memory.add_narrative(
            query=f"How to {TASK.instruction}",
            instruction=TASK.instruction,
            summary="The option is in the View menu.",
            success=True,
            provenance=Provenance(run_id="r"),
        )
        engine = Engine(PAGE)
        model = ScriptedModel({})
        knowledge = Manager(model, memory, engine).gather(TASK, screen())
    assert engine.queries == [knowledge.query]
    assert knowledge.web == (PAGE,)
    assert [hit.experience.summary for hit in knowledge.hits] == ["The option is in the View menu."]
    assert [request.kind for request in model.requests] == ["query"]


def test_a_plan_keeps_its_guideline() -> None:
    answer = PlanResponse(guideline="Look in the View menu [web 1].", nodes=(PlannedNode(name="Open the View menu"),))
    plan = Manager(ScriptedModel({"plan": [answer]})).plan(PlanContext(TASK, screen(), web=(PAGE,)))
    assert isinstance(plan, Plan)
    assert plan.guideline == "Look in the View menu [web 1]."


def test_planning_continues_when_the_search_engine_is_down() -> None:
    manager = Manager(ScriptedModel({}), search=Engine(error=SearchError("no server at localhost:1")))
    assert manager.gather(TASK, screen()).problems == ("web search: no server at localhost:1",)


def test_planning_continues_when_the_search_engine_hangs() -> None:
    released = threading.Event()

    class Hanging(WebSearch):
        def search(self, query: str) -> tuple[WebResult, ...]:
            released.wait(60)
            return (PAGE,)

    try:
        knowledge = Manager(ScriptedModel({}), search=Hanging(), search_timeout_s=0.05).gather(TASK, screen())
    finally:
        released.set()
    assert knowledge.web == ()
    assert knowledge.problems == ("web search did not answer in time",)


def test_an_unexpected_error_is_not_swallowed() -> None:
    class Broken(WebSearch):
        def search(self, query: str) -> tuple[WebResult, ...]:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        Manager(ScriptedModel({}), search=Broken()).gather(TASK, screen())
