"""Verification of a finished task by the screens that were seen."""

from __future__ import annotations

from agent_s.llm.protocol import VerifyContext, VerifyResponse
from agent_s.offline.commands.base import Seen
from agent_s.offline.finding.screen import Screen
from agent_s.offline.planning import commands_of


def verify(context: VerifyContext) -> VerifyResponse:
    """Judge a finished task by the screens that were seen while it was done.

    It is verified where something that can be seen proves its lasting effects, refuted where something contradicts one,
    and undecided otherwise.
    """
    last = Screen(context.observation)
    proofs: list[str] = []
    refuted: list[str] = []
    undecided: list[str] = []
    proves_lasting = False
    for number, (subtask, steps) in enumerate(context.done):
        later = next((steps[0].observation for _, steps in context.done[number + 1 :] if steps), context.observation)
        commands = commands_of(subtask, context.task.instruction)
        undecided += [] if commands else [subtask.name]
        for command in commands:
            verdict, evidence = command.judge(Seen(steps, Screen(later), last))
            proofs += [evidence] if verdict else []
            refuted += [evidence] if verdict is False else []
            undecided += [subtask.name] if verdict is None and command.lasting else []
            proves_lasting = proves_lasting or bool(verdict and command.lasting)
    if refuted:
        return VerifyResponse(verified=False, reason=refuted[0], evidence=tuple(refuted))
    if proves_lasting and not undecided:
        return VerifyResponse(verified=True, reason="what was asked can be seen to hold", evidence=tuple(proofs))
    reason = f"nothing seen decides {undecided[0]!r}" if undecided else "nothing seen decides it"
    return VerifyResponse(verified=None, reason=reason, evidence=tuple(proofs))
