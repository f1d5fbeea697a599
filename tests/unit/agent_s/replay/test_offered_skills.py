"""Which skills a plan is offered, and which values they take."""

from __future__ import annotations

from aci.acting.actions import Click, Type
from agent_s.records import Subtask
from agent_s.replay.offered_skills import MAX_OFFERED, SkillOffers, learned_values
from memory_store import MemoryStore
from tests.unit.agent_s.fakes import EDITOR
from tests.unit.agent_s.replay.skills import PLATFORM, add, step


def offered(memory: MemoryStore, instruction: str) -> list[str]:
    return [offer.name for offer in SkillOffers(memory, PLATFORM).relevant_to(instruction, EDITOR)]


def test_skills_of_the_active_application_and_of_named_ones_are_offered(memory: MemoryStore) -> None:
    for name, app in (("turn on bold text", "editor"), ("add a sheet", "localc"), ("run a filter", "gimp")):
        add(memory, name, app=app)
    assert offered(memory, "make it bold") == ["turn on bold text"]
    assert set(offered(memory, "make it bold, then add a sheet in LibreOffice Calc")) == {
        "turn on bold text",
        "add a sheet",
    }


def test_each_part_of_a_task_gets_its_skills_among_many(memory: MemoryStore) -> None:
    wanted = ["turn on line numbers", "choose dark as the theme", "open the search bar"]
    for name in (*wanted, *(f"insert symbol {number}" for number in range(2 * MAX_OFFERED))):
        add(memory, name)
    found = offered(memory, "Show line numbers, choose the dark theme, and open the search bar")
    assert len(found) == MAX_OFFERED and set(wanted) <= set(found[:12])


def test_a_skill_takes_the_values_of_its_name_and_other_typed_texts() -> None:
    field = {"role": "entry", "name": "Find"}
    assert learned_values("find 'abc'", [step(Type(text="abc", element_id=1), **field)]) == ("abc",)
    assert learned_values("look for a word", [step(Type(text="sample", element_id=1), **field)]) == ("sample",)
    assert learned_values("turn on bold", [step(Click(element_id=1))]) == ()


def test_the_chosen_values_are_typed(memory: MemoryStore) -> None:
    skill = add(memory, "look for a word", step(Type(text="sample", element_id=1), role="entry", name="Find"))
    subtask = Subtask(name="Where does it say 'needle'?", skill=skill, values=("needle",))
    learned = SkillOffers(memory, PLATFORM).replayable(subtask, EDITOR)
    assert learned is not None and learned.opens == ""
    assert learned.steps[0].action == Type(text="needle", element_id=1)


def test_a_skill_of_another_application_brings_it_to_the_front(memory: MemoryStore) -> None:
    skill = add(memory, "add a sheet", app="localc")
    learned = SkillOffers(memory, PLATFORM).replayable(Subtask(name="One more sheet", skill=skill), EDITOR)
    assert learned is not None and learned.opens == "localc"


def test_ambiguous_values_are_left_to_the_worker(memory: MemoryStore) -> None:
    both = (step(Type(text="OK", element_id=1), role="entry", name="Name"), step(Click(element_id=2), "button", "OK"))
    skill = add(memory, "type 'OK' and confirm", *both)
    subtask = Subtask(name="Enter Ada and confirm", skill=skill, values=("Ada",))
    assert SkillOffers(memory, PLATFORM).replayable(subtask, EDITOR) is None


def test_a_deleted_skill_is_left_to_the_worker(memory: MemoryStore) -> None:
    assert SkillOffers(memory, PLATFORM).replayable(Subtask(name="x", skill="s-0000000000000000"), EDITOR) is None
