"""Names of unit skills that a model suggests."""

from __future__ import annotations

from agent_s.errors import ModelError
from agent_s.llm.protocol import FunctionNames, ModelRequest, NamingContext, NamingResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Change
from exploration.search.records import Attempt, Control
from exploration.skills.naming_by_model import AT_ONCE, ModelNamer


def found(count: int) -> list[Attempt]:
    """Return attempts that switched settings."""
    return [
        Attempt(
            key=f"check box:Wrap {number}",
            control=Control(role="check box", name=f"Wrap {number}", key=f"check box:Wrap {number}"),
            start="s",
            classification="terminal",
            effect=(Change(kind="setting", what=f"notes/wrap-{number}", before="false", after="true"),),
        )
        for number in range(count)
    ]


def test_names_are_returned_by_attempt() -> None:
    asked: list[NamingContext] = []

    def answer(request: ModelRequest) -> NamingResponse:
        assert isinstance(request.context, NamingContext)
        asked.append(request.context)
        return NamingResponse(
            functions=(FunctionNames(number=2, names=("fold lines",)), FunctionNames(number=AT_ONCE + 9, names=("x",)))
        )

    namer = ModelNamer(ScriptedModel({"name_skills": [answer, answer]}), "Notes")
    names = namer(found(AT_ONCE + 3))
    assert names == {"check box:Wrap 1": ("fold lines",), f"check box:Wrap {AT_ONCE + 1}": ("fold lines",)}
    assert [len(context.functions) for context in asked] == [AT_ONCE, 3]
    assert asked[0].functions[0].name == "turn on wrap 0"
    assert asked[0].functions[0].effect == ("setting notes/wrap-0: 'false' became 'true'",)


def test_failing_model_is_not_asked_again() -> None:
    namer = ModelNamer(ScriptedModel({"name_skills": [ModelError("The key is not valid."), NamingResponse()]}), "Notes")
    assert namer(found(AT_ONCE + 1)) == {}
    assert namer(found(1)) == {}
    assert namer.problem == "The key is not valid."
