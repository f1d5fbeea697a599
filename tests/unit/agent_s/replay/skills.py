"""Skills of a pretended editor for tests."""

from __future__ import annotations

from aci.acting.actions import Action, Click
from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from memory_store import MemoryStore, Provenance

PLATFORM = "linux/x11"


def step(action: Action, role: str = "menu item", name: str = "Bold") -> GroundedStep:
    return GroundedStep(action=action, targets={"element_id": ElementDescription(role=role, name=name, app="editor")})


def add(memory: MemoryStore, name: str, *steps: GroundedStep, app: str = "editor") -> str:
    stored = memory.add_skill(
        name=name,
        description=f"{name}.",
        steps=[one.model_dump(mode="json") for one in steps or (step(Click(element_id=1), name=name),)],
        provenance=Provenance(run_id="explore", app=app, platform=PLATFORM),
    )
    memory.record_uses([stored.id], True, checked_by="a fresh desktop", clean_start=True)
    return stored.id
