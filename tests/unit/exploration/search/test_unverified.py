"""What a search hands on of what it could not verify: controls that it only saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aci.acting.actions import Click
from aci.observation.identity import ElementDescription
from agent_s.records import ElementState, GroundedStep
from agent_s.replay.skill_matching import UNVERIFIED
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Attempted, Control, Offer, SearchLimits
from exploration.search.unverified import unverified as seen_only
from memory_store import HashingEmbedder, MemoryStore, SkillExperience
from tests.unit.exploration.an_app import APP, FakeEditor
from tests.unit.exploration.search.test_dfs import ARGV, explored


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        yield store


class CountingEmbedder(HashingEmbedder):
    """Counts the texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.counts.append(len(texts))
        return super().embed(texts)


def unverified(memory: MemoryStore) -> dict[str, SkillExperience]:
    found = memory.list_experiences("skill", state="candidate")
    return {one.name: one for one in found if isinstance(one, SkillExperience) and one.provenance.outcome == UNVERIFIED}


def last_step(skill: SkillExperience) -> GroundedStep:
    return GroundedStep.model_validate(skill.steps[-1])


def test_controls_that_were_only_seen_are_kept_with_the_way_to_them(tmp_path: Path, memory: MemoryStore) -> None:
    (home := tmp_path / "home").mkdir()
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, limits=SearchLimits(max_states=4), memory=memory)  # the first screen and its menus
        tried = set(ledger.attempts)
    assert "menu:Edit" in tried and not any("Preferences" in key for key in tried)
    kept = unverified(memory)
    opened = kept["open preferences"]
    assert [step.intent for step in map(GroundedStep.model_validate, opened.steps)] == [
        "click the Edit menu", "click the Preferences... menu item",
    ]  # fmt: skip
    assert last_step(opened).untried
    assert "show line numbers" in kept  # a menu "View" shows things, as far as anybody knows
    assert {"save", "upper case"} <= kept.keys()  # greyed out as yet
    assert not {"quit", "print"} & kept.keys()  # left alone


def test_switches_that_were_only_seen_are_named_after_what_they_do(tmp_path: Path, memory: MemoryStore) -> None:
    (home := tmp_path / "home").mkdir()
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, limits=SearchLimits(max_states=5), memory=memory)  # the dialog was opened as well
    step = last_step(unverified(memory)["turn on wrap lines"])
    assert step.state_before is not None and step.state_after is not None
    assert (step.state_before.states, step.state_after.states) == ((), ("checked",))


@pytest.mark.parametrize(("role", "kept"), [("combo box", ["list item:Fancy"]), ("menu item", [])])
def test_values_of_a_combo_box_can_be_chosen_and_rows_of_a_dialog_are_data(
    tmp_path: Path, role: str, kept: list[str]
) -> None:
    value = Control(role="list item", name="Fancy", key="list item:Fancy")
    step = GroundedStep(action=Click(element_id=1))
    opened = Attempt(
        key="k", control=Control(role=role, name="Style", key="k"), start="s", classification="continue", depth=2,
        offers=(Offer(control=value, step=step),),
    )  # fmt: skip
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        ledger.write(Attempted(seconds=0.0, attempt=opened, left=0))
        assert [each.control.key for each in seen_only(ledger)] == kept


@pytest.mark.parametrize(("path", "seen"), [(("frame:a", "popup menu:"), False), (("dialog:a",), True)])
def test_state_of_a_box_is_expected_where_it_stays_in_sight(tmp_path: Path, path: tuple[str, ...], seen: bool) -> None:
    target = ElementDescription(role="check box", name="Wrap", path=path)
    step = GroundedStep(action=Click(element_id=1), targets={"element_id": target}, state_before=ElementState())
    box = Offer(control=Control(role="check box", name="Wrap", key="check box:Wrap"), step=step)
    menu = Control(role="menu", name="View", key="k")
    opened = Attempt(key="k", control=menu, start="s", classification="continue", offers=(box,))
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        ledger.write(Attempted(seconds=0.0, attempt=opened, left=0))
        (kept,) = seen_only(ledger)
        assert (kept.path[-1].state_after is not None) is seen


def test_submenu_is_no_function(tmp_path: Path) -> None:
    step = GroundedStep(action=Click(element_id=1))
    offers = tuple(
        Offer(control=Control(role="menu item", name=name, key=name), step=step, opens_menu=name == "Toolbars")
        for name in ("Toolbars", "Reload")
    )
    menu = Control(role="menu item", name="View", key="k")
    opened = Attempt(key="k", control=menu, start="s", classification="continue", offers=offers)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        ledger.write(Attempted(seconds=0.0, attempt=opened, left=0))
        assert [each.control.name for each in seen_only(ledger)] == ["Reload"]


def test_choice_without_a_visible_effect_is_kept(tmp_path: Path, memory: MemoryStore) -> None:
    (home := tmp_path / "home").mkdir()
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, memory=memory, editor=FakeEditor(home, lucky=("",)))
        assert ledger.attempts["menu:Edit > menu item:Unlucky"].why == "nothing changed"
        verified = {skill.name for skill in ledger.skills.values()}
    assert last_step(unverified(memory)["use unlucky"]).untried
    assert not unverified(memory).keys() & verified


def test_what_is_kept_is_embedded_together(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    embedder = CountingEmbedder()
    with (
        MemoryStore.open(tmp_path / "memory.sqlite", embedder=embedder) as memory,
        Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger,
    ):
        explored(home, ledger, limits=SearchLimits(max_states=4), memory=memory)
        kept = len(unverified(memory))
        embedded = sum(embedder.counts)
        assert kept > 4 and embedder.counts.count(kept) == 1
        explored(home, ledger, limits=SearchLimits(max_states=4), memory=memory)
        assert (len(unverified(memory)), sum(embedder.counts)) == (kept, embedded), "what is known stays"
