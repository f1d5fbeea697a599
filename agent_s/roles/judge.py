"""Judges whether known requests ask for the same as the current one; each is judged once."""

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
    """Compares requests by one small call, and keeps the judgements in memory.

    A judgement is kept by the model and both wordings, so another model judges again.
    """

    model: Model
    task: Task  # the task of the run
    memory: MemoryStore  # keeps the judgements

    def __call__(self, asked: str, known: Sequence[KnownRequest]) -> list[JudgedRequest]:
        """Return a judgement of each known request, in their order; undecided (`same` is None) without an answer."""
        kept = [self._find(asked, one) for one in known]
        fresh = iter(self._ask(asked, [one for one, judged in zip(known, kept, strict=True) if judged is None]))
        judged = (one or next(fresh) for one in kept)
        return [one.model_copy(update={"number": number}) for number, one in enumerate(judged, start=1)]

    def _ask(self, asked: str, known: Sequence[KnownRequest]) -> list[JudgedRequest]:
        if not known:
            return []
        try:
            answer = ask(self.model, SameContext(self.task, asked, tuple(known)), SameResponse)
        except (ModelError, LimitReached) as error:
            logger.warning("Doubtful experience is not judged: %s", error)
            answer = SameResponse()
        by_number = {one.number: one for one in answer.judgements}
        judged = [by_number.get(number, JudgedRequest(number=number)) for number in range(1, len(known) + 1)]
        for one, judgement in zip(known, judged, strict=True):
            if judgement.same is not None:
                self._keep(asked, one, judgement)
        return judged

    @property
    def _name(self) -> str:
        return f"judge {model_name(self.model)}"

    def _find(self, asked: str, known: KnownRequest) -> JudgedRequest | None:
        try:
            kept = self.memory.find_web_answer(self._name, _pair(asked, known))
            return JudgedRequest.model_validate_json(kept.pages[0].content) if kept is not None else None
        except (MemoryStoreError, ValidationError) as error:  # costs nothing but the next call
            logger.warning("A judgement that was kept cannot be read: %s", error)
            return None

    def _keep(self, asked: str, known: KnownRequest, judged: JudgedRequest) -> None:
        page = WebPage(title="same" if judged.same else "different", url="", content=judged.model_dump_json())
        answer = WebAnswer(engine=self._name, query=_pair(asked, known), pages=(page,), asked_at=datetime.now(UTC))
        try:
            self.memory.save_web_answer(answer)
        except MemoryStoreError as error:
            logger.warning("A judgement cannot be kept: %s", error)


def _pair(asked: str, known: KnownRequest) -> str:
    return json.dumps([asked, known.wording, known.application], ensure_ascii=False)
