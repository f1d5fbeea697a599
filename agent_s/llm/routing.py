"""Different models for different kinds of questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agent_s.llm.protocol import Kind, Model, ModelRequest, ModelResponse
from agent_s.settings import ModelRole

ROLES: dict[Kind, ModelRole] = {
    "query": "plan",
    "plan": "plan",
    "act": "act",
    "reflect": "reflect",
    "verify": "verify",
    "summarize_subtask": "summarize",
    "summarize_task": "summarize",
    "propose_tasks": "plan",
    "name_skills": "summarize",
}
"""The role that each kind of request belongs to."""


class ModelByRole:
    """Passes each request to the model of its role.

    Before the first request it asks every model whether it is there, so that a wrong key for the last one is found
    before anything is clicked.

    Args:
        default: Answers what no other model is named for.
        by_role: Models by role.
    """

    def __init__(self, default: Model, by_role: Mapping[ModelRole, Model]) -> None:
        named = [f"{role}={_name(model)}" for role, model in by_role.items()]
        self.name = " ".join([_name(default), *named])
        self._default = default
        self._by_role = by_role
        self._checked = False

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            ModelError: There is no usable answer, or one of the models is not there.
        """
        self.check()
        return self._by_role.get(ROLES[request.kind], self._default).complete(request)

    def check(self) -> None:
        """Ask every model once whether it is there.

        Raises:
            ModelUnavailable: One is not.
        """
        if self._checked:
            return
        for model in self._all():
            check = getattr(model, "check", None)
            if check is not None:
                check()
        self._checked = True

    def heed_stop(self, asked: Callable[[], bool]) -> None:
        """Let no model wait for its provider once this tells that the run is to stop."""
        for model in self._all():
            heed = getattr(model, "heed_stop", None)
            if heed is not None:
                heed(asked)

    def _all(self) -> Iterable[Model]:
        return {id(model): model for model in (self._default, *self._by_role.values())}.values()


def _name(model: Model) -> str:
    return str(getattr(model, "name", type(model).__name__))
