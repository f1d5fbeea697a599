from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_s.errors import SearchError
from agent_s.llm.protocol import WebResult
from agent_s.search import WebSearch
from agent_s.search.build import with_cache
from agent_s.search.cached import CachedSearch, in_words
from agent_s.settings import load_settings
from memory_store import HashingEmbedder, MemoryStore, Selection

QUERY = "How to turn on line numbers in Mousepad"
PAGE = WebResult("Mousepad", "http://one.example/", "View > Line Numbers.")
START = datetime(2026, 3, 1, tzinfo=UTC)


class Engine(WebSearch):
    """Answers with a page, or fails; records the queries."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.down = False
        self.lets_go: threading.Event | None = None

    def search(self, query: str) -> tuple[WebResult, ...]:
        self.asked.append(query)
        if self.lets_go is not None:
            self.lets_go.wait(30)
        if self.down:
            raise SearchError("the engine is down")
        return (PAGE,)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", HashingEmbedder()) as store:
        yield store


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cached(engine: Engine, memory: MemoryStore, clock: Clock) -> CachedSearch:
    return CachedSearch(engine, memory, "engine 1", timedelta(days=7), timedelta(days=90), 20.0, clock)


def test_a_repeated_query_is_answered_from_the_cache_with_its_age(
    cached: CachedSearch, engine: Engine, clock: Clock
) -> None:
    assert cached.search(QUERY) == (PAGE,)
    clock.now += timedelta(hours=50)
    assert cached.search(f"  {QUERY}\n") == (WebResult(PAGE.title, PAGE.url, PAGE.content, "(asked 2 days ago)"),)
    assert cached.search("How to turn them off") == (PAGE,)
    assert len(engine.asked) == 2


def test_an_expired_answer_is_replaced(cached: CachedSearch, engine: Engine, clock: Clock, memory: MemoryStore) -> None:
    cached.search(QUERY)
    clock.now += timedelta(days=8)
    assert cached.search(QUERY) == (PAGE,)
    assert len(engine.asked) == 2
    kept = memory.find_web_answer("engine 1", QUERY)
    assert kept is not None and kept.asked_at == clock.now
    assert memory.stats().web_answers == 1


def test_an_engine_that_is_down_falls_back_to_an_older_answer_marked_as_old(
    cached: CachedSearch, engine: Engine, clock: Clock
) -> None:
    cached.search(QUERY)
    engine.down = True
    clock.now += timedelta(days=8)
    (old,) = cached.search(QUERY)
    assert (old.content, old.note) == (
        PAGE.content,
        "(OLD, since the search engine does not answer now: asked 8 days ago)",
    )
    clock.now += timedelta(days=90)
    with pytest.raises(SearchError, match="is down"):
        cached.search(QUERY)
    with pytest.raises(SearchError, match="is down"):
        cached.search("What nobody asked before")


def test_an_engine_that_is_late_falls_back_too_and_its_answer_is_kept_for_the_next_time(
    engine: Engine, memory: MemoryStore, clock: Clock
) -> None:
    impatient = CachedSearch(engine, memory, "engine 1", timedelta(days=7), timedelta(days=90), 0.01, clock)
    patient = CachedSearch(engine, memory, "engine 1", timedelta(days=7), timedelta(days=90), 20.0, clock)
    patient.search(QUERY)
    clock.now += timedelta(days=8)
    engine.lets_go = threading.Event()
    assert impatient.search(QUERY)[0].note.startswith("(OLD")
    with pytest.raises(SearchError, match="in time"):
        impatient.search("Another question")
    engine.lets_go.set()
    assert patient.search("Another question")[0].content == PAGE.content


def test_other_engines_and_empty_answers_are_not_mixed_up(memory: MemoryStore, engine: Engine, clock: Clock) -> None:
    class Silent(WebSearch):
        def search(self, query: str) -> tuple[WebResult, ...]:
            return ()

    week = timedelta(days=7)
    CachedSearch(engine, memory, "engine 1", week, week, 20.0, clock).search(QUERY)
    assert CachedSearch(Silent(), memory, "engine 2", week, week, 20.0, clock).search(QUERY) == ()
    assert memory.find_web_answer("engine 2", QUERY) is None


def test_a_memory_that_cannot_be_used_costs_nothing_but_the_cache(
    cached: CachedSearch, engine: Engine, memory: MemoryStore
) -> None:
    memory.close()
    assert cached.search(QUERY) == (PAGE,)
    assert engine.asked == [QUERY]


def test_results_that_cannot_be_stored_are_still_returned(memory: MemoryStore, clock: Clock) -> None:
    odd = WebResult("NUL \0", "", "half a pair \ud800")

    class Odd(WebSearch):
        def search(self, query: str) -> tuple[WebResult, ...]:
            return (odd,)

    week = timedelta(days=7)
    assert CachedSearch(Odd(), memory, "odd", week, week, 20.0, clock).search(QUERY) == (odd,)
    assert memory.stats().web_answers == 0


def test_answers_are_kept_only_where_runs_may_write(engine: Engine, memory: MemoryStore) -> None:
    usual = {"search.engine": "searxng", "search.url": "http://localhost:1"}
    assert isinstance(with_cache(engine, load_settings(overrides=usual), memory), CachedSearch)
    assert with_cache(engine, load_settings(overrides=usual), None) is engine
    assert with_cache(None, load_settings(overrides=usual), memory) is None
    for off in ({"memory.continual_update": False}, {"search.cache_days": 0, "search.fallback_days": 0}):
        assert with_cache(engine, load_settings(overrides={**usual, **off}), memory) is engine


def test_forgetting_deletes_answers_by_age_text_or_all(cached: CachedSearch, clock: Clock, memory: MemoryStore) -> None:
    def fill() -> None:
        clock.now = START
        cached.search(QUERY)
        clock.now += timedelta(days=1)
        cached.search("Another question")

    for selection, left in (
        (Selection(app="mousepad"), 2),
        (Selection(run_id="r", text="line"), 2),
        (Selection(before=START + timedelta(hours=1)), 1),
        (Selection(text="LINE numbers in"), 1),
        (Selection(text="one.example"), 0),
        (Selection(everything=True), 0),
    ):
        fill()
        memory.forget(selection)
        assert memory.stats().web_answers == left, selection
        memory.forget(Selection(everything=True))


def test_vacuum_deletes_expired_answers(cached: CachedSearch, clock: Clock, memory: MemoryStore) -> None:
    cached.search(QUERY)
    assert memory.vacuum().web_answers == 0
    assert memory.vacuum(START).web_answers == 0
    assert memory.vacuum(START + timedelta(seconds=1)).web_answers == 1
    assert memory.stats().web_answers == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "less than a minute"), (59, "less than a minute"), (60, "1 minute"), (7199, "1 hour"), (172_800, "2 days")],
)
def test_an_age_is_shown_in_its_largest_unit(seconds: int, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words
