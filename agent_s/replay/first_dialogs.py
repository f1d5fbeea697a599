"""What answers the dialogs that an application shows at its start: a skill that an exploration has stored.

An exploration starts an application on an empty home, so that it never learns to answer a dialog about a person's
documents, such as one that offers to recover them. An answer belongs to a dialog that says the same, word for word.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_s.records import GroundedStep
from agent_s.replay.template import Mismatch, read_steps
from memory_store import Experience, MemoryStore

FIRST_DIALOGS = "answer the first dialogs of {app}"
"""Name of the skill."""


def no_answers(app: str) -> tuple[GroundedStep, ...]:
    """Return no steps, where there is no memory."""
    return ()


def first_answers(
    memory: MemoryStore, app: str, platform: str, may_replay: Callable[[Experience], bool]
) -> tuple[GroundedStep, ...]:
    """Return the steps that answer the first dialogs of an application, one for each; empty if none are known.

    Raises:
        MemoryStoreError: Memory cannot be read.
    """
    skill = memory.find_skill(FIRST_DIALOGS.format(app=app), platform=platform)
    steps = read_steps(skill) if skill is not None and may_replay(skill) else ()
    return () if isinstance(steps, Mismatch) else steps
