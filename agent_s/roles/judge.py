"""The judge, which decides whether known requests mean the same as the current one; its decisions are cached."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from agent_s.errors import LimitReached, ModelError
from agent_s.llm.protocol import JudgedRequest, KnownRequest, Model, SameContext, SameResponse, ask, model_name
from agent_s.records import Task
from memory_store import MemoryStore, MemoryStoreError, WebAnswer, WebPage

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares requests in one small model call, and caches the judgements in memory.

    The cache key consists of the model and both wordings, so that another model judges anew.
    """

    model: Model
    task: Task  # the task of the run
    memory: MemoryStore  # stores the cached judgements

    def __call__(self, asked: str, known: Sequence[KnownRequest]) -> list[JudgedRequest]:
        """Return a judgement of each known request, in order; without an answer it is undecided (`same` is None)."""
        cached = [self._find_cached(asked, one) for one in known]
        fresh = iter(self._ask(asked, [one for one, judged in zip(known, cached, strict=True) if judged is None]))
        judged = (one or next(fresh) for one in cached)
        return [one.model_copy(update={"number": number}) for number, one in enumerate(judged, start=1)]

    def _ask(self, asked: str, known: Sequence[KnownRequest]) -> list[JudgedRequest]:
        if not known:
            return []
        try:
            answer = ask(self.model, SameContext(self.task, asked, tuple(known)), SameResponse)
        except (ModelError, LimitReached) as error:
            logger.warning("Similar experience could not be judged: %s", error)
            answer = SameResponse()
        by_number = {one.number: one for one in answer.judgements}
        judged = [by_number.get(number, JudgedRequest(number=number)) for number in range(1, len(known) + 1)]
        for one, judgement in zip(known, judged, strict=True):
            if judgement.same is not None:
                self._cache(asked, one, judgement)
        return judged

    @property
    def _engine(self) -> str:
        """Name under which judgements of this model are cached, as answers of a search engine."""
        return f"judge {model_name(self.model)}"

    def _find_cached(self, asked: str, known: KnownRequest) -> JudgedRequest | None:
        try:
            cached = self.memory.find_web_answer(self._engine, _key(asked, known))
            return JudgedRequest.model_validate_json(cached.pages[0].content) if cached is not None else None
        except (MemoryStoreError, ValidationError) as error:  # a cache miss
            logger.warning("A cached judgement cannot be read: %s", error)
            return None

    def _cache(self, asked: str, known: KnownRequest, judged: JudgedRequest) -> None:
        page = WebPage(title="same" if judged.same else "different", url="", content=judged.model_dump_json())
        answer = WebAnswer(engine=self._engine, query=_key(asked, known), pages=(page,), asked_at=datetime.now(UTC))
        try:
            self.memory.save_web_answer(answer)
        except MemoryStoreError as error:
            logger.warning("A judgement cannot be cached: %s", error)


def _key(asked: str, known: KnownRequest) -> str:
    return json.dumps([asked, known.wording, known.application], ensure_ascii=False)
