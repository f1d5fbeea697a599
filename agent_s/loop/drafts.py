"""Drafts of summaries: what was done, step by step, as it is stored until a model has summed it up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aci.observation.observation import Observation
from aci.observation.quoting import quote
from agent_s.records import Status, Step, Subtask, Verdict

TRIVIAL_STEPS = 4  # a subtask of at most this many steps that all worked is its own summary

_MAX_STEPS = 30
_MAX_STEP = 200
_MAX_TEXT = 8000


def is_trivial(steps: Sequence[Step]) -> bool:
    """Return whether the steps of a subtask say as much about it as a summary would."""
    return len(steps) <= TRIVIAL_STEPS and all(step.worked and step.dropped is None for step in steps)


def draft_subtask(steps: Iterable[Step]) -> str:
    """Return the steps with their purpose and effect, one on each line.

    Those that the policy or the person did not allow are left out: a text on the screen may have demanded them.
    """
    allowed = [step for step in steps if step.result.refusal != "not_allowed"]
    lines = [f"{number}. {_line(step)}" for number, step in enumerate(allowed, start=1)]
    if len(lines) > _MAX_STEPS:
        half = _MAX_STEPS // 2
        lines[half:-half] = [f"({len(lines) - 2 * half} more steps)"]
    return "\n".join(lines) or "Nothing had to be done."


def draft_task(
    done: Sequence[tuple[Subtask, Sequence[Step]]],
    current: tuple[Subtask, Sequence[Step]] | None,
    ending: tuple[Status, str],
    verdict: Verdict,
    end: Observation | None,
) -> str:
    """Return how a task ended, and what was done for it.

    Args:
        done: The finished subtasks with their steps.
        current: The subtask that was worked on last, with its steps, if it did not finish.
        ending: The status, and the reason for it.
        verdict: What the check says.
        end: The last screen, if it is known.
    """
    status, reason = ending
    checked = {True: "a check confirms it", False: "a check contradicts it", None: "not checked"}[verdict.verified]
    why = "; ".join(dict.fromkeys(text.rstrip(".") for text in (reason, verdict.reason) if text))
    parts = [f"Ended as {status}, {checked}{f': {why}' if why else ''}."]
    for subtask, taken in done:
        parts.append(f"{subtask.name}:\n{draft_subtask(taken)}")
    if current is not None:
        parts.append(f"Not finished: {current[0].name}:\n{draft_subtask(current[1])}")
    if end is not None and end.windows:
        parts.append(f"Windows at the end: {', '.join(quote(one.title or one.app) for one in end.windows)}")
    text = "\n".join(parts)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT // 2]}\n(...)\n{text[-_MAX_TEXT // 2 :]}"


def _line(step: Step) -> str:
    purpose = f"{step.response.next_action}: " if step.response.next_action else ""
    text = " ".join(f"{purpose}{step}".split())
    return text if len(text) <= _MAX_STEP else f"{text[:_MAX_STEP]}..."
