"""Conversion of a run's events to JSON values for a page, with actions and results in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from aci.acting.wording import describe_action, describe_effect, describe_result
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    ActionsDropped,
    Concluded,
    EffectSeen,
    Event,
    ModelCalled,
    RunEnded,
    RunStarted,
    SentPicture,
)
from agent_s.records import Outcome
from agent_s.trajectory.prompts import CallList, Part, describe_cost

WORDS = {
    "done": "Done",
    "failed": "Failed",
    "infeasible": "Not possible",
    "out_of_budget": "Out of budget",
    "stopped": "Stopped",
    "error": "Error",
}


class Presenter:
    """Turns the events of one run, in order, into values for a page."""

    def __init__(self) -> None:
        self._calls = CallList()
        self._start: datetime | None = None

    def __call__(self, event: Event) -> dict[str, Any]:
        """Convert an event to JSON values; `at` is in seconds since the first event."""
        self._start = self._start or event.at
        fields = self._fields(event)
        return {"kind": event.kind, "at": round((event.at - self._start).total_seconds(), 3), **fields}

    def _fields(self, event: Event) -> Mapping[str, Any]:
        match event:
            case RunStarted():
                started = f"{event.at.astimezone():%Y-%m-%d %H:%M:%S %Z}"
                values = event.model_dump(mode="json", include={"run_id", "model", "desktop", "resumes"})
                return {**values, "instruction": event.task.instruction, "started": started}
            case ModelCalled():
                return self._call(event)
            case ActionChosen():
                words = describe_action(event.action, event.target)
                action = event.action.model_dump(mode="json", exclude_defaults=True)
                return {**event.model_dump(mode="json", exclude={"at", "kind", "target"}), "words": words} | {
                    "action": {"action": event.action.action, **action}
                }
            case ActionPerformed() | EffectSeen():
                result = event.result
                said = result.error or describe_result(result.model_copy(update={"effect": None}))
                values = {"ok": result.ok, "words": said, "effect": describe_effect(result)}
                return {"step": event.step, "settled": result.settled_after_s, **values} | (
                    {"seconds": event.seconds} if isinstance(event, ActionPerformed) else {}
                )
            case ActionsDropped():
                dropped = [describe_action(action, "") for action in event.dropped.actions]
                return {"step": event.step, "reason": event.dropped.reason, "actions": dropped}
            case RunEnded() | Concluded():
                outcome = event.outcome
                return {**outcome.model_dump(mode="json"), "heading": heading(outcome), "tone": tone(outcome)}
        return event.model_dump(mode="json", exclude={"at", "kind"})

    def _call(self, event: ModelCalled) -> Mapping[str, Any]:
        call = self._calls.add(event)
        prompts = [{**asdict(prompt), "parts": [_part(part) for part in prompt.parts]} for prompt in call.prompts]
        values = event.model_dump(mode="json", include={"call", "model", "seconds", "usage", "error"})
        answer = "" if prompts or not event.answer else json.dumps(event.answer, ensure_ascii=False, indent=2)
        cost = describe_cost(event.usage).removeprefix(", ")
        return {"number": call.number, **values, "cost": cost, "prompts": prompts, "answer": answer}


def tone(outcome: Outcome | None) -> str:
    """Return the color of an outcome: good, bad or plain."""
    if outcome is None:
        return "bad"
    if outcome.status == "done":
        return {True: "good", False: "bad", None: "plain"}[outcome.verified]
    return "plain" if outcome.verified or outcome.status in ("infeasible", "stopped") else "bad"


def heading(outcome: Outcome | None) -> str:
    """Return a short heading for an outcome."""
    if outcome is None:
        return "Cut off"
    if outcome.status != "done":
        return f"{WORDS[outcome.status]}, rightly so" if outcome.verified else WORDS[outcome.status]
    return {True: "Done and verified", False: "Not done, although the agent said so", None: "Done, not verified"}[
        outcome.verified
    ]


def _part(part: Part) -> dict[str, Any]:
    role, content = part
    if isinstance(content, SentPicture):
        return {"role": role, "picture": content.file, "size": [content.width, content.height]}
    return {"role": role, "text": content}
