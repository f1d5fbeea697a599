"""Unit skills in memory: stored with what verified them, and boundaries beside them.

The form is described in `exploration.search.records`.
"""

from __future__ import annotations

from agent_s.loop.learner import PLATFORM
from agent_s.version import program_version
from exploration.search.records import BOUNDARY_OUTCOME, VERIFIED_BY, Boundary, UnitSkill
from memory_store import MemoryStore, Provenance


class SkillKeeper:
    """Writes what a search found to memory.

    Args:
        memory: Where; None to keep nothing.
        run_id: Identifies the exploration in the provenance.
    """

    def __init__(self, memory: MemoryStore | None, run_id: str) -> None:
        self._memory = memory
        self._run_id = run_id

    def keep(self, skill: UnitSkill) -> UnitSkill:
        """Store a verified skill as an active one and return it with its id; one that is there already stays.

        Steps that only prepared what must hold before are left out: who asks to cut has selected what, and the steps
        that follow find their control greyed out where nothing is selected.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is None:
            return skill
        known = self._memory.find_skill(skill.name, skill.description, platform=PLATFORM)
        if known is None or known.provenance.app != skill.app:
            known = self._memory.add_skill(
                name=skill.name,
                description=skill.description,
                preconditions=skill.preconditions,
                steps=[step.model_dump(mode="json") for step in skill.steps[skill.prepared :]],
                provenance=self._provenance(skill.app, skill.key, "done"),
            )
            self._memory.record_skill_run(known.id, True, checked_by=VERIFIED_BY, clean_start=True)
        return skill.model_copy(update={"experience_id": known.id})

    def keep_boundary(self, boundary: Boundary) -> Boundary:
        """Store what could not be done, where steps of it are known, and return it with its id.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is None or not boundary.steps:
            return boundary
        known = self._memory.find_skill(
            boundary.name, boundary.description, platform=PLATFORM, states=("active", "candidate")
        )
        if known is None or known.provenance.app != boundary.app:
            known = self._memory.add_skill(
                name=boundary.name,
                description=boundary.description,
                steps=[step.model_dump(mode="json") for step in boundary.steps],
                provenance=self._provenance(boundary.app, boundary.key, BOUNDARY_OUTCOME, boundary.why),
            )
            self._memory.mark_verified(verified=False, by=VERIFIED_BY, run_id=self._run_id, ids=[known.id])
        return boundary.model_copy(update={"experience_id": known.id})

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
