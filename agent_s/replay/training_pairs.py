"""Training data for fine-tuning a small planner: pairs of instruction and plan, as conversations.

The pairs come from memory: verified tasks that were done by skills, and each skill under each of its names, alone, with
other values, and combined with other skills, of which one may be missing. A conversation has the prompt that a run
would send, with nothing of the screen but the active window; the answer is the plan as JSON. The offered skills are a
random number of the best ones in random order, so that a model reads them instead of learning their positions
(OSExpert, section 3.2).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes

from aci.observation.geometry import Rect
from aci.observation.observation import Observation, Window
from agent_s.llm.conversation import Text
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import OfferedSkill, PlanContext, PlannedNode, PlanResponse
from agent_s.records import Subtask, Task
from agent_s.replay.offered_skills import SkillOffers, make_offer
from agent_s.replay.skill_matching import is_usable
from intents.alignment import Parameters
from intents.reader import parts_of
from memory_store import MemoryStore, NarrativeExperience, SkillExperience
from memory_store.transfer import write_lines

_SCREEN = Rect(0, 0, 1280, 800)
_SEED = 0
_JOINTS = (", then ", ", ", " and ")  # conjunctions between the parts of a task
_JOINED = (1, 2, 3)  # numbers of skills that are combined; a single one is missing
_MISSING = 0.25  # share of combinations in which one skill is missing


def write_training_pairs(memory: MemoryStore, path: Path) -> int:
    """Write all pairs to a file as JSON lines, one conversation each, and return their number.

    A line is `{"messages": [{"role": "system", "content": ...}, {"role": "user", ...}, {"role": "assistant", ...}]}`.
    The file is readable by its owner only, and an earlier one is replaced once it is complete.

    Raises:
        MemoryStoreError: The file cannot be written, or memory cannot be read.
    """
    return write_lines(path, training_pairs(memory))


@dataclass(frozen=True, slots=True)
class _Example:
    """A task and its plan."""

    instruction: str
    app: str
    platform: str
    plan: tuple[Subtask, ...]
    missing: str = ""  # a skill that does part of it and is not offered


def training_pairs(memory: MemoryStore) -> Iterator[dict[str, list[dict[str, str]]]]:
    """Yield the conversations, which are reproducible except for the marks around untrusted text.

    Duplicate instructions are skipped, and so are plans with a skill that a run would not be offered.

    Raises:
        MemoryStoreError: Memory cannot be read.
    """
    # Text of an application could not know the secret of a run either.
    renderer = Renderer(token_bytes(16), max_pictures=0, form="tree")
    chance = random.Random(_SEED)
    seen = set()
    for task in _examples(memory, chance):
        key = (task.instruction.casefold(), task.app, task.missing)
        front = Window(id=1, title=task.app, app=task.app, rect=_SCREEN, active=True)
        known = SkillOffers(memory, task.platform).relevant_to(task.instruction, front)
        offers = [offer for offer in known if offer.id != task.missing]
        used = {part.skill for part in task.plan if part.skill}
        if key in seen or not used <= {offer.id for offer in offers}:
            continue
        seen.add(key)
        skills = _some(offers, used, chance)
        context = PlanContext(Task(instruction=task.instruction), _screen(front), skills=skills, wants_aims=True)
        asked = renderer.render(context)
        text = "\n\n".join(part.text for message in asked.messages for part in message.parts if isinstance(part, Text))
        answer = json.dumps(_answer(task.plan, skills).for_record(), ensure_ascii=False)
        turns = (("system", asked.system), ("user", text), ("assistant", answer))
        yield {"messages": [{"role": role, "content": content} for role, content in turns]}


def _some(offers: Sequence[OfferedSkill], used: set[str], chance: random.Random) -> tuple[OfferedSkill, ...]:
    """Return the best of the skills and those that are used, in a random order."""
    best = chance.randint(1, len(offers)) if offers else 0
    some = [offer for place, offer in enumerate(offers) if place < best or offer.id in used]
    chance.shuffle(some)
    return tuple(some)


def _answer(plan: Sequence[Subtask], skills: Sequence[OfferedSkill]) -> PlanResponse:
    numbers = {offer.id: number for number, offer in enumerate(skills, start=1)}
    nodes = (
        PlannedNode(name=part.name, info=part.info, skill=numbers.get(part.skill), values=part.values) for part in plan
    )
    return PlanResponse(nodes=tuple(nodes))


def _examples(memory: MemoryStore, chance: random.Random) -> Iterator[_Example]:
    for story in memory.list_experiences("narrative"):
        verified = isinstance(story, NarrativeExperience) and story.success and story.provenance.verified
        if isinstance(story, NarrativeExperience) and verified and is_usable(story):
            plan = tuple(Subtask(**part.model_dump()) for part in story.plan)
            if any(part.skill for part in plan):
                yield _Example(story.instruction, story.provenance.app, story.provenance.platform, plan)
    named = list(_skill_examples(memory))
    yield from named
    words = [task.instruction for task in named]
    valued = [other for task in named if (other := _with_other_values(task, words, chance)) is not None]
    yield from valued
    yield from _combine([*named, *valued], chance)


def _skill_examples(memory: MemoryStore) -> Iterator[_Example]:
    """Yield each skill under each of its names."""
    for skill in memory.list_experiences("skill", state="active"):
        if isinstance(skill, SkillExperience) and is_usable(skill) and (offer := make_offer(skill)) is not None:
            plan = (Subtask(name=skill.name, skill=skill.id, values=offer.parameters),)
            for name in dict.fromkeys(skill.names):
                yield _Example(name, skill.provenance.app, skill.provenance.platform, plan)


def _with_other_values(task: _Example, words: Sequence[str], chance: random.Random) -> _Example | None:
    """Return a task of one skill with other random values; None if its wording does not contain all of them."""
    (part,) = task.plan
    values = {old: str(chance.randint(1, 99)) if old.isdecimal() else chance.choice(words) for old in part.values}
    changed = Parameters({old: new for old, new in values.items() if old != new})
    instruction, name = (changed.replace_in_wording(text) for text in (task.instruction, part.name))
    if not changed or instruction is None or not name or any(new not in instruction for new in values.values()):
        return None
    plan = (Subtask(name=name, skill=part.skill, values=tuple(values.values())),)
    return _Example(instruction, task.app, task.platform, plan)


def _combine(named: Sequence[_Example], chance: random.Random) -> Iterator[_Example]:
    """Yield tasks that combine several requests; each request is used once."""
    for app, platform in dict.fromkeys((task.app, task.platform) for task in named):
        single = [task for task in named if (task.app, task.platform) == (app, platform) and _is_single_request(task)]
        chance.shuffle(single)
        while single:
            taken = [single.pop() for _ in range(min(chance.choice(_JOINED), len(single)))]
            plan = [part for task in taken for part in task.plan]
            missing = ""
            if len(taken) == 1 or chance.random() < _MISSING:
                place = chance.randrange(len(taken))
                missing, plan[place] = plan[place].skill, Subtask(name=taken[place].instruction)
            if len({part.name for part in plan}) == len(plan):
                instruction = chance.choice(_JOINTS).join(task.instruction for task in taken)
                yield _Example(instruction, app, platform, tuple(plan), missing)


def _is_single_request(task: _Example) -> bool:
    """Return whether a task asks for one thing."""
    return len(parts_of(task.instruction)) == 1


def _screen(front: Window) -> Observation:
    import numpy as np

    pixels = np.zeros((_SCREEN.height, _SCREEN.width, 3), np.uint8)
    return Observation(pixels, (), (front,), notes=("Only the window is known.",))
