"""A model's turn of tool calls, and the result of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from aci.acting.actions import PRIMITIVES, Action, Wait
from aci.acting.wording import describe_result
from aci.observation.observation import Observation
from agent_s.llm.computer_use.inputs import explain
from agent_s.llm.conversation import Reply
from agent_s.llm.prompting.fencing import escape_fences, sendable
from agent_s.records import Step

NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."
"""Anthropic prescribes these words for what follows a failed action."""
LEFT_OUT = "Not executed: {reason}. Look at the screen first."

OWN_TOOLS = ("done", "fail", "call_user", "switch_applications", "save_to_buffer")
"""Primitives that computer tools lack, which are offered as functions."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a model's turn."""

    id: str
    name: str  # as the model calls it
    actions: tuple[Action, ...] = ()  # the primitives that carry it out; none for a look at the screen
    problem: str = ""  # why it cannot be carried out; then nothing after it is
    answer: str = ""  # its result, for one that only asks
    shows: bool = False  # whether its result is the screen


@dataclass(frozen=True, slots=True)
class Turn:
    """A model's turn."""

    calls: tuple[Call, ...]
    reply: Reply  # its text, and how the answer ended
    said: str  # the answer as it came
    checks: tuple[str, ...] = ()  # what the provider wants a person to confirm before it is carried out

    @property
    def actions(self) -> tuple[Action, ...]:
        """The primitives to perform; a wait of no time for a turn that only looks; none if nothing can be done."""
        if not self.calls or self.calls[0].problem:
            return ()
        found: list[Action] = []
        for call in self.calls:
            if call.problem:
                break
            found += call.actions
        return tuple(found) or (Wait(time=0),)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call."""

    call: Call
    ok: bool
    text: str  # never empty
    after: Observation  # the screen after it


def results(turn: Turn, steps: Sequence[Step], now: Observation) -> Iterator[Result]:
    """Yield the result of each call of a turn.

    Args:
        turn: The turn.
        steps: What was performed of its primitives, in order; it may have ended early.
        now: The screen after the last step.
    """
    screens = [*(step.observation for step in steps), now]
    done, total, failed = 0, sum(len(call.actions) for call in turn.calls), False
    for call in turn.calls:
        own = steps[done : done + len(call.actions)]
        done += len(own)
        bad = next((step for step in own if not step.result.ok), None)
        if failed:
            ok, text = False, NOT_EXECUTED
        elif call.problem:
            ok, text = False, call.problem
        elif bad is not None:
            ok, text = False, describe_result(bad.result)
        elif len(own) < len(call.actions):
            dropped = steps[-1].dropped if steps else None
            ok, text = False, LEFT_OUT.format(reason=dropped.reason if dropped else "the run was interrupted")
        else:
            ok, text = True, call.answer or "; ".join(describe_result(step.result) for step in own) or "OK"
        failed = not ok
        yield Result(call, ok, sendable(escape_fences(text)), screens[done] if done < total else now)


def carried_out(results: Sequence[Result]) -> Iterator[Action]:
    """Yield the primitives of the calls that succeeded."""
    return (action for result in results if result.ok for action in result.call.actions)


def own_call(identity: str, name: str, fields: Mapping[str, Any]) -> Call:
    """Return the call of a function of `OWN_TOOLS`."""
    if name not in OWN_TOOLS:
        return Call(identity, name, problem=f"there is no tool {name!r}")
    try:
        action = PRIMITIVES[name].model_validate(dict(fields))
    except ValidationError as error:
        return Call(identity, name, problem=explain(error))
    return Call(identity, name, (action,))  # type: ignore[arg-type]


def own_tool_schema(name: str) -> dict[str, Any]:
    """Return the strict JSON schema of the arguments of a function of `OWN_TOOLS`."""
    primitive = PRIMITIVES[name]
    fields = [field for field in primitive.model_fields if field != "action"]
    return {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": fields,
        "additionalProperties": False,
    }
