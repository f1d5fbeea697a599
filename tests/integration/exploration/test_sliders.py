"""An exploration finds that a slider can be set, and keeps it as a skill."""

from __future__ import annotations

from pathlib import Path

import pytest

from aci.acting.actions import Type
from agent_s.records import GroundedStep
from benchmarks.support.reference import SYSTEM_PYTHON
from exploration.search.dfs import search
from exploration.search.ledger import Ledger
from exploration.search.navigator import new_desktop
from exploration.search.records import SearchLimits
from exploration.skills.skill_keeper import SkillKeeper
from intents.intent import SetValue
from memory_store import HashingEmbedder, MemoryStore, SkillExperience

PROGRAM = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Mixer"), Gtk.Box()
scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 200, 1)
scale.get_accessible().set_name("Volume"); scale.set_size_request(300, -1); box.add(scale)
window.add(box); window.connect("destroy", Gtk.main_quit); window.show_all(); Gtk.main()
"""


@pytest.mark.desktop
@pytest.mark.slow
@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs the distribution's Python")
def test_setting_a_slider_becomes_a_skill(tmp_path: Path) -> None:
    program = tmp_path / "mixer.py"
    program.write_text(PROGRAM, encoding="utf-8")
    argv = (str(SYSTEM_PYTHON), str(program))
    with (
        MemoryStore.open(tmp_path / "memory.sqlite", HashingEmbedder()) as memory,
        new_desktop() as desktop,
        Ledger(tmp_path / "ledger.jsonl", "Mixer", argv) as ledger,
    ):
        keeper = SkillKeeper(memory, "explore Mixer")
        limits = SearchLimits(seconds=200)
        for _ in search(desktop, ledger, keeper, limits=limits, folder=tmp_path):
            pass
        hits = memory.search_skills("set the volume to 40%")
    skill = next(hit.experience for hit in hits if isinstance(hit.experience, SkillExperience))
    assert skill.intent == SetValue(object="volume", value="40%")
    assert skill.provenance.state == "active"
    [step] = [GroundedStep.model_validate(each) for each in skill.steps]
    assert isinstance(step.action, Type)
    assert step.action.text == "40%"
    assert [(change["kind"], change["after"]) for change in skill.effects] == [("value", "80")]
