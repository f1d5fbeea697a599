from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent_s.errors import SearchError
from agent_s.llm.protocol import FuseContext, FuseResponse, WebResult
from agent_s.llm.scripted import ScriptedModel
from agent_s.manager import Manager
from agent_s.records import Task
from memory_store import MemoryStore, Provenance
from memory_store.embedding import HashingEmbedder
from tests.unit.agent_s.fakes import screen

TASK = Task(instruction="Turn on line numbers in the editor")
PAGE = WebResult("Line numbers", "http://localhost/lines", "Use the View menu.")


class Engine:
    def __init__(self, *results: WebResult, error: SearchError | None = None) -> None:
        self.queries: list[str] = []
        self._results = results
        self._error = error

    def search(self, query: str) -> tuple[WebResult, ...]:
        self.queries.append(query)
        if self._error:
            raise self._error
        return self._results


def test_web_and_memory_are_asked_the_same_question_and_fused(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as memory:
        memory.add_narrative(
            query=f"How to {TASK.instruction}",
            instruction=TASK.instruction,
            summary="The option is in the View menu.",
            success=True,
            provenance=Provenance(run_id="r"),
        )
        engine = Engine(PAGE)
        model = ScriptedModel({"fuse": [FuseResponse(knowledge="Look in the View menu.")]})
        knowledge = Manager(model, memory, engine).gather(TASK, screen())
    assert engine.queries == [knowledge.query]
    context = model.requests[-1].context
    assert isinstance(context, FuseContext)
    assert context.web == (PAGE,)
    assert [experience.summary for experience in context.experiences] == ["The option is in the View menu."]
    assert knowledge.guideline == "Look in the View menu."


def test_nothing_found_costs_no_fusion_call() -> None:
    model = ScriptedModel({})
    knowledge = Manager(model, search=Engine()).gather(TASK, screen())
    assert knowledge.guideline == ""
    assert [request.kind for request in model.requests] == ["query"]


def test_an_engine_that_is_down_is_named_and_costs_only_its_answer() -> None:
    manager = Manager(ScriptedModel({}), search=Engine(error=SearchError("no server at localhost:1")))
    assert manager.gather(TASK, screen()).problems == ("web search: no server at localhost:1",)


def test_an_engine_that_hangs_is_left_behind() -> None:
    released = threading.Event()

    class Hanging:
        def search(self, query: str) -> tuple[WebResult, ...]:
            released.wait(60)
            return (PAGE,)

    try:
        knowledge = Manager(ScriptedModel({}), search=Hanging(), search_deadline_s=0.05).gather(TASK, screen())
    finally:
        released.set()
    assert knowledge.web == ()
    assert knowledge.problems == ("web search did not answer in time",)


def test_an_unexpected_error_is_not_swallowed() -> None:
    class Broken:
        def search(self, query: str) -> tuple[WebResult, ...]:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        Manager(ScriptedModel({}), search=Broken()).gather(TASK, screen())
