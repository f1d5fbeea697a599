"""Names what a search found and writes it to memory: unit skills, composite skills and boundaries.

`exploration.search.records` describes how memory holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent_s.loop.learner import PLATFORM
from agent_s.records import Change
from agent_s.replay.first_dialogs import FIRST_DIALOGS
from agent_s.replay.skill_matching import UNVERIFIED
from agent_s.version import program_version
from exploration.search.places import Path
from exploration.search.records import BOUNDARY_OUTCOME, VERIFIED_BY, Attempt, Boundary, UnitSkill
from exploration.skills.naming import Naming, name_unit
from memory_store import MemoryStore, Provenance, SkillDraft, SkillExperience
from memory_store.records.experience import State

Namer = Callable[[Sequence[Attempt]], Mapping[str, tuple[str, ...]]]
"""Returns names for attempts by their keys; `exploration.skills.naming_by_model.ModelNamer` asks a model."""

_AT_ONCE = 32  # number of skills that are embedded together and stored in one transaction, for which others wait


class SkillKeeper:
    """Names unit skills and boundaries and stores them; a `exploration.search.dfs.Keeper`.

    Args:
        memory: The store; None to store nothing.
        run_id: Identifies the exploration in the provenance.
        namer: Suggests aliases; without it, rules alone name what was found.
    """

    def __init__(self, memory: MemoryStore | None, run_id: str, namer: Namer | None = None) -> None:
        self._memory = memory
        self._run_id = run_id
        self._namer = namer
        self._suggested: dict[str, tuple[str, ...]] = {}

    def announce(self, attempts: Sequence[Attempt]) -> None:
        """Have attempts named together before they are verified one by one."""
        if self._namer is not None and attempts:
            self._suggested |= self._namer(attempts)

    def keep_unit(self, attempt: Attempt, app: str, steps: Path) -> UnitSkill:
        """Name and store a verified attempt.

        Args:
            attempt: What was found.
            app: The application.
            steps: Its steps, as verified.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        naming = name_unit(attempt, app, self._suggested.get(attempt.key, ()))
        return self.keep(
            UnitSkill(
                key=attempt.key,
                app=app,
                steps=steps,
                prepared=1 if attempt.precondition else 0,
                effect=attempt.effect,
                state=attempt.end,
                **naming.fields(),
            )
        )

    def keep(self, skill: UnitSkill) -> UnitSkill:
        """Store a verified skill as active and return it with its id; an equal one that is stored already stays.

        Steps that only prepare a precondition are not stored: a user who asks to cut has selected something, and the
        other steps find their control greyed out if not.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is None:
            return skill
        known = self._stored(skill.name, skill.description, skill.app, ("active",))
        if known is None:
            known = self._memory.add_skill(
                name=skill.name,
                intent=skill.intent,
                aliases=skill.aliases,
                description=skill.description,
                preconditions=skill.preconditions,
                steps=[step.model_dump(mode="json") for step in skill.steps[skill.prepared :]],
                effects=[change.model_dump(mode="json") for change in skill.effect],
                provenance=self._provenance(skill.app, skill.key, "done"),
            )
            self._memory.record_uses([known.id], True, checked_by=VERIFIED_BY, clean_start=True)
        return skill.model_copy(update={"experience_id": known.id})

    def keep_boundary(self, attempt: Attempt, app: str, why: str, steps: Path, retries: int) -> Boundary:
        """Name what could not be done and store it, unless not even its first step is known.

        Args:
            attempt: What was tried.
            app: The application.
            why: Why it failed.
            steps: The steps up to the failure.
            retries: Number of retries.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        naming = name_unit(attempt, app)
        name, description = naming.name, naming.description
        boundary = Boundary(
            key=attempt.key, app=app, name=name, description=description, why=why, steps=steps, retries=retries
        )
        if self._memory is None or not steps:
            return boundary
        known = self._candidate(
            self._memory, naming, steps, (), self._provenance(app, attempt.key, BOUNDARY_OUTCOME, why)
        )
        if known.provenance.state == "candidate":
            self._memory.mark_verified(verified=False, by=VERIFIED_BY, run_id=self._run_id, ids=[known.id])
        return boundary.model_copy(update={"experience_id": known.id})

    def keep_first_answers(self, steps: Path, app: str) -> None:
        """Store the steps that answer what an application shows at its start, unless they are known.

        Args:
            steps: One for each dialog; none if there is nothing to answer.
            app: The application.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is None or not steps:
            return
        name, stored = FIRST_DIALOGS.format(app=app), [step.model_dump(mode="json") for step in steps]
        known = self._stored(name, "", app, ("active",))
        if known is None or _answered(known.steps) != _answered(stored):
            skill = self._memory.add_skill(name=name, steps=stored, provenance=self._provenance(app, "start", "done"))
            self._memory.record_uses([skill.id], True, checked_by=VERIFIED_BY, clean_start=True)

    def keep_unverified(self, attempts: Iterable[Attempt], app: str) -> None:
        """Name and store what was seen or found and not verified, many at once.

        Args:
            attempts: Those that were made once, or that would be made on controls that were only seen.
            app: The application.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is None:
            return
        drafts = dict[tuple[str, str], SkillDraft]()  # of each name and description, the first
        for attempt in attempts:
            naming = name_unit(attempt, app)
            key = naming.name, naming.description
            if key not in drafts and self._stored(*key, app, ("active", "candidate")) is None:
                steps = attempt.path[1 if attempt.precondition else 0 :]
                provenance = self._provenance(app, attempt.key, UNVERIFIED, attempt.why)
                drafts[key] = _draft(naming, steps, attempt.effect, provenance)
        rest = list(drafts.values())
        while rest:
            self._memory.add_skills(rest[:_AT_ONCE])
            del rest[:_AT_ONCE]

    def _candidate(
        self, memory: MemoryStore, naming: Naming, steps: Path, effect: tuple[Change, ...], provenance: Provenance
    ) -> SkillExperience:
        """Store a candidate, and return it or what of the same name and description memory holds already."""
        known = self._stored(naming.name, naming.description, provenance.app, ("active", "candidate"))
        return known or memory.add_skill(**_draft(naming, steps, effect, provenance))

    def _stored(self, name: str, description: str, app: str, states: tuple[State, ...]) -> SkillExperience | None:
        """Return the skill of the same application, name and description that memory holds already."""
        if self._memory is None:
            return None
        known = self._memory.find_skill(name, description, platform=PLATFORM, states=states)
        return known if known is not None and known.provenance.app == app else None

    def _provenance(self, app: str, key: str, outcome: str, why: str = "") -> Provenance:
        return Provenance(
            run_id=self._run_id,
            task_id=key[:200],
            app=app,
            platform=PLATFORM,
            outcome=outcome,
            state_reason=why,
            version=program_version(),
            from_screen=True,
        )


def _answered(steps: Sequence[Mapping[str, Any]]) -> list[tuple[Any, Any]]:
    return [(step["targets"], step.get("window_says")) for step in steps]


def _draft(naming: Naming, steps: Path, effect: tuple[Change, ...], provenance: Provenance) -> SkillDraft:
    return SkillDraft(
        name=naming.name,
        intent=naming.intent,
        aliases=naming.aliases,
        description=naming.description,
        preconditions=naming.preconditions,
        steps=[step.model_dump(mode="json") for step in steps],
        effects=[change.model_dump(mode="json") for change in effect],
        provenance=provenance,
    )
