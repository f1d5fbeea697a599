"""Draft summaries: step-by-step lists of what was done, stored until a model summarizes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aci.observation.observation import Observation
from aci.observation.quoting import quote
from agent_s.records import Status, Step, Subtask, Verdict

TRIVIAL_STEPS = 4  # maximum number of steps, all successful, for which the draft serves as the summary

_MAX_STEPS = 30
_MAX_LINE = 200  # characters
_MAX_TEXT = 8000  # characters


def is_trivial(steps: Sequence[Step]) -> bool:
    """Return whether a subtask is so simple that a list of its steps is as good as a summary."""
    return len(steps) <= TRIVIAL_STEPS and all(step.worked and step.dropped is None for step in steps)


def draft_subtask(steps: Iterable[Step]) -> str:
    """Return the steps of a subtask with their purpose and effect, one per line.

    Steps that the policy or the person did not allow are omitted: a text on the screen may have prompted them.
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
    """Return a description of how a task ended and what was done for it.

    Args:
        done: The finished subtasks with their steps.
        current: The subtask that was in progress, with its steps; None if all were finished.
        ending: The status, and the reason for it.
        verdict: The result of verification.
        end: The last screen; None if it is not known.
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
    return text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}..."
