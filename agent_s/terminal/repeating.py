"""A recorded run that is to be done again, maybe with other values."""

from __future__ import annotations

from collections.abc import Sequence

import click

from agent_s.events import ActionPerformed, Event, RunEnded, RunStarted


def repeatable(run: str, events: Sequence[Event]) -> RunStarted:
    """Return the start of a run that can be replayed.

    Raises:
        click.UsageError: The run failed, or did nothing.
    """
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    ended = next((event for event in reversed(events) if isinstance(event, RunEnded)), None)
    if started is None:
        raise click.UsageError(f"The record of {run} does not hold its task.")
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


def with_values(instruction: str, values: Sequence[str]) -> str:
    """Return an instruction with values replaced, each given as OLD=NEW.

    Raises:
        click.UsageError: One is malformed, or its old value is not in the instruction.
    """
    from intents.alignment import Parameters, holds
    from intents.text import tokens

    pairs: dict[str, str] = {}
    for value in values:
        old, sign, new = value.partition("=")
        if not sign or not old.strip():
            raise click.UsageError(f"--set takes OLD=NEW, such as --set draft.txt=minutes.txt, not {value!r}.")
        if not new.strip():
            raise click.UsageError(f"--set: the new value of {old!r} is empty.")
        if not holds(instruction, old):
            known = ", ".join(dict.fromkeys(repr(token.value) for token in tokens(instruction) if token.literal))
            names = f" Its values: {known}." if known else ""
            raise click.UsageError(f"--set: {old!r} is not a value in the task: {instruction}{names}")
        if pairs.setdefault(old, new) != new:
            raise click.UsageError(f"--set: {old!r} has two new values, {pairs[old]!r} and {new!r}.")
    changed = Parameters(pairs).replace_in_wording(instruction)
    if changed is None:
        raise click.UsageError("--set: a value with every kind of quote in it cannot be written into the task.")
    return changed
