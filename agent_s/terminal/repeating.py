"""Validation of a recorded run for replay, and of the new values for its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from agent_s.events import ActionPerformed, Event, RunEnded, RunStarted


def repeatable(run: str, events: Sequence[Event]) -> RunStarted:
    """Return the start of a run that can be replayed.

    Raises:
        click.UsageError: The run failed, was cut off, or did nothing.
    """
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    ended = next((event for event in reversed(events) if isinstance(event, RunEnded)), None)
    if started is None:
        raise click.UsageError(f"The recording of {run} lacks its task, so it cannot be replayed.")
    problem = ""
    if ended is None:
        problem = "was cut off"
    elif ended.outcome.status != "done":
        problem = f"ended as {ended.outcome.status}"
    elif ended.outcome.verified is False:
        problem = "did not do its task"
    elif not any(isinstance(event, ActionPerformed) for event in events):
        problem = "did nothing on the screen"
    if problem:
        raise click.UsageError(
            f"Run {started.run_id} {problem}, so it cannot be replayed. `agent-s runs list` shows the runs that are "
            f"done; `agent-s run` carries out the task itself: {started.task.instruction}"
        )
    return started


def values_given(instruction: str, pairs: Sequence[str]) -> dict[str, str]:
    """Parse pairs OLD=NEW into new values by old ones; if OLD contains a "=", it is matched against the task.

    Raises:
        click.UsageError: A pair is malformed, or an old value has two new ones.
    """
    from intents.alignment import holds

    values: dict[str, str] = {}
    for pair in pairs:
        parts = pair.split("=")
        splits = [("=".join(parts[:end]), "=".join(parts[end:])) for end in range(1, len(parts))]
        if not splits or not splits[0][0].strip():
            raise click.UsageError(f"--set takes OLD=NEW, such as --set draft.txt=minutes.txt, not {pair!r}.")
        old, new = next((split for split in reversed(splits) if holds(instruction, split[0])), splits[0])
        if values.setdefault(old, new) != new:
            raise click.UsageError(f"{old!r} has two new values, {values[old]!r} and {new!r}.")
    return values


def with_values(instruction: str, values: Mapping[str, str]) -> str:
    """Return an instruction with values replaced.

    Args:
        instruction: The instruction.
        values: New values by old ones.

    Raises:
        click.UsageError: A new value is empty, or an old one is not in the instruction.
    """
    from intents.alignment import Parameters, holds
    from intents.text import tokens

    for old, new in values.items():
        if not new.strip():
            raise click.UsageError(f"The new value of {old!r} is empty.")
        if not holds(instruction, old):
            known = ", ".join(dict.fromkeys(repr(token.value) for token in tokens(instruction) if token.literal))
            names = f" Its values: {known}." if known else ""
            raise click.UsageError(f"{old!r} is not a value in the task: {instruction}{names}")
    changed = Parameters(dict(values)).replace_in_wording(instruction)
    if changed is None:
        raise click.UsageError("A value that contains every kind of quotation mark cannot be written into the task.")
    return changed
