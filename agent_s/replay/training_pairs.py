"""Instruction and plan, as conversations to fine-tune a small planner with (OSExpert, section 3.2).

The pairs come from memory: tasks that a check verified and that were done by skills, and each skill by each of its
names. A conversation has the prompt that a run would send, with the skills that it would offer, but of the screen only
the window in front; the answer is the plan as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from secrets import token_bytes

from aci.observation.geometry import Rect
from aci.observation.observation import Observation, Window
from agent_s.errors import AgentError
from agent_s.llm.conversation import Text
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import PlanContext, PlannedNode, PlanResponse
from agent_s.records import Subtask, Task
from agent_s.replay.offered_skills import SkillOffers, offer_of
from agent_s.replay.skill_matching import is_usable
from memory_store import MemoryStore, NarrativeExperience, SkillExperience

_SCREEN = Rect(0, 0, 1280, 800)


class TrainingFileError(AgentError):
    """A file of training pairs cannot be written."""


def write_training_pairs(memory: MemoryStore, path: Path) -> int:
    """Write all pairs to a file (mode 0600) as JSON lines, one conversation each, and return their number.

    A line is `{"messages": [{"role": "system", "content": ...}, {"role": "user", ...}, {"role": "assistant", ...}]}`.

    Raises:
        TrainingFileError: The file cannot be written.
        MemoryStoreError: Memory cannot be read.
    """
    lines = [json.dumps(pair, ensure_ascii=False) for pair in training_pairs(memory)]
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise TrainingFileError(f"{path} cannot be written: {error.strerror}. Choose another file.") from error
    return len(lines)


def training_pairs(memory: MemoryStore) -> Iterator[dict[str, list[dict[str, str]]]]:
    """Yield the conversations; a plan with a skill that a run would not be offered is left out.

    Raises:
        MemoryStoreError: Memory cannot be read.
    """
    # Text of an application could not know the secret of a run either.
    renderer = Renderer(token_bytes(16), max_pictures=0, form="tree")
    for instruction, app, platform, plan in _plans(memory):
        front = Window(id=1, title=app, app=app, rect=_SCREEN, active=True)
        skills = SkillOffers(memory, platform).bearing_on(instruction, front)
        numbers = {offer.id: number for number, offer in enumerate(skills, start=1)}
        if any(part.skill and part.skill not in numbers for part in plan):
            continue
        answer = PlanResponse(
            nodes=tuple(
                PlannedNode(name=part.name, info=part.info, skill=numbers.get(part.skill), values=part.values)
                for part in plan
            )
        )
        context = PlanContext(Task(instruction=instruction), _screen(front), skills=skills, wants_aims=True)
        asked = renderer.render(context)
        text = "\n\n".join(part.text for message in asked.messages for part in message.parts if isinstance(part, Text))
        turns = (("system", asked.system), ("user", text), ("assistant", json.dumps(answer.for_record())))
        yield {"messages": [{"role": role, "content": content} for role, content in turns]}


def _plans(memory: MemoryStore) -> Iterator[tuple[str, str, str, tuple[Subtask, ...]]]:
    """Yield instructions with their application, platform and plan."""
    for story in memory.list_experiences("narrative"):
        verified = isinstance(story, NarrativeExperience) and story.success and story.provenance.verified
        if isinstance(story, NarrativeExperience) and verified and is_usable(story):
            plan = tuple(Subtask(**part.model_dump()) for part in story.plan)
            if any(part.skill for part in plan):
                yield story.instruction, story.provenance.app, story.provenance.platform, plan
    for skill in memory.list_experiences("skill", state="active"):
        if isinstance(skill, SkillExperience) and is_usable(skill) and (offer := offer_of(skill)) is not None:
            plan = (Subtask(name=skill.name, skill=skill.id, values=offer.parameters),)
            for name in dict.fromkeys(skill.names):
                yield name, skill.provenance.app, skill.provenance.platform, plan


def _screen(front: Window) -> Observation:
    import numpy as np

    pixels = np.zeros((_SCREEN.height, _SCREEN.width, 3), np.uint8)
    return Observation(pixels, (), (front,), notes=("Only the window is known.",))
