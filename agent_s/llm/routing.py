"""Different models for different kinds of requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from agent_s.llm.protocol import CheckableModel, Kind, Model, ModelRequest, ModelResponse, model_name
from agent_s.settings import ModelRole

Asked = ModelRole | Literal["ground"]
"""What a model is asked for; `ground` is the grounding model's, which is not a role that another model can take."""

ROLES: dict[Kind, ModelRole] = {
    "query": "plan",
    "plan": "plan",
    "act": "act",
    "reflect": "reflect",
    "verify": "verify",
    "summarize": "summarize",
    "propose_tasks": "plan",
    "name_skills": "summarize",
    "find_errors": "verify",
    "compare": "verify",
    "same": "judge",
    "support": "verify",
    "ground": "act",
}


class ModelByRole:
    """Routes each request to the model of its role.

    All models are checked before the first request, so that a wrong key is found before the agent acts.

    Args:
        default: Model for all other roles.
        by_role: Models by role.
    """

    def __init__(self, default: Model, by_role: Mapping[Asked, Model]) -> None:
        self.name = " ".join([model_name(default), *(f"{role}={model_name(one)}" for role, one in by_role.items())])
        self._default = default
        self._by_role = by_role
        self._checked = False

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            ModelError: There is no usable answer, or one of the models is not available.
        """
        self.check(request.asked_to_stop)
        asked: Asked = "ground" if request.kind == "ground" else ROLES[request.kind]
        return self._by_role.get(asked, self._default).complete(request)

    def check(self, asked_to_stop: Callable[[], bool] = lambda: False) -> None:
        """Check all models once.

        Raises:
            ModelUnavailable: One is not available.
        """
        if self._checked:
            return
        for model in {id(model): model for model in (self._default, *self._by_role.values())}.values():
            if isinstance(model, CheckableModel):
                model.check(asked_to_stop)
        self._checked = True
