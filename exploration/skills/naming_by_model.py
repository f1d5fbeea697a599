"""Suggests names of unit functions by a language model, in addition to those by rules (`exploration.skills.naming`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from agent_s.errors import LimitReached, ModelError
from agent_s.llm.protocol import FoundFunction, Model, ModelRequest, NamingContext, NamingResponse
from agent_s.records import Change, Task
from exploration.search.records import Attempt
from exploration.skills.naming import name_unit, where_found

AT_ONCE = 40  # maximum number of functions in one call
_MOST_CHANGES, _LONGEST = 4, 120


class ModelNamer:
    """Asks a model what people call the functions that a search found; stops asking after a call that fails.

    Args:
        model: The model.
        application: Name of the application.
    """

    def __init__(self, model: Model, application: str) -> None:
        self._model = model
        self._application = application
        self.problem = ""  # why the model gives no more names; empty while it does

    def __call__(self, attempts: Sequence[Attempt]) -> Mapping[str, tuple[str, ...]]:
        """Return names by the key of the attempt; functions that the model leaves out have none."""
        found: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(attempts), AT_ONCE):
            found |= self._ask(attempts[start : start + AT_ONCE])
        return found

    def _ask(self, attempts: Sequence[Attempt]) -> dict[str, tuple[str, ...]]:
        if self.problem:
            return {}
        task = Task(instruction=f"Name what {self._application} can do")
        functions = tuple(
            FoundFunction(
                name_unit(attempt, self._application).name,
                where_found(attempt),
                tuple(_in_words(change) for change in attempt.effect[:_MOST_CHANGES]),
            )
            for attempt in attempts
        )
        try:
            response = self._model.complete(ModelRequest(NamingContext(task, self._application, functions)))
        except (ModelError, LimitReached) as error:
            self.problem = str(error)
            return {}
        named = cast(NamingResponse, response.output).functions
        return {attempts[each.number - 1].key: each.names for each in named if each.number <= len(attempts)}


def _in_words(change: Change) -> str:
    what = f"{change.kind} {change.what}"
    before, after = (" ".join(text.split())[:_LONGEST] for text in (change.before, change.after))
    return f"{what}: {before!r} became {after!r}" if before or after else what
