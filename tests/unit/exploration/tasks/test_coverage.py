"""The controls that a run used, and the check of tasks by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Element, Observation
from agent_s.events import ActionChosen, ActionPerformed, ExperienceStored, Observed
from agent_s.llm.protocol import Affordance
from exploration.tasks.completion import TaskCheck
from exploration.tasks.coverage import UsageListener, find_used, key_of
from exploration.tasks.proposals import ExplorationTask
from tests.unit.agent_s.fakes import button, screen

SMALL = Affordance("menu item", "Small", ("Text",))
SMALL_ICONS = Affordance("menu item", "Small", ("Icons",))
UNDO = Affordance("push button", "Undo")
OFFERED = (SMALL, SMALL_ICONS, UNDO)


def in_menu(number: int, name: str, menu: str) -> Element:
    return replace(button(number, name, "menu item"), path=("frame:Editor", "menu bar:", f"menu:{menu}"))


SCREEN = screen(button(1, "Undo"), in_menu(2, "Small", "Icons"), button(3, "Popover"), button(4, "Small"))


def clicked(watch: UsageListener, number: int, ok: bool = True) -> None:
    watch(Observed(observation=SCREEN))
    watch(ActionChosen(step=1, action=Click(element_id=number)))
    watch(ActionPerformed(step=1, action=Click(element_id=number), result=ActionResult(ok=ok)))


def test_only_successful_clicks_count_as_use() -> None:
    watch = UsageListener(OFFERED)
    clicked(watch, 1, ok=False)
    assert not watch.used
    clicked(watch, 1)
    clicked(watch, 2)
    watch(ExperienceStored(memory="episodic", experience_id="e-1", summary=""))
    assert list(watch.used) == [key_of(UNDO), key_of(SMALL_ICONS)]
    assert watch.stored == 1


def test_controls_of_one_name_are_distinguished_by_their_menu() -> None:
    assert find_used(OFFERED, "Small", ("frame:Editor", "menu:Text")) == key_of(SMALL)
    assert find_used(OFFERED, "Small", ("frame:Editor",)) is None
    assert find_used(OFFERED, "Redo", ()) is None


def test_entry_without_a_menu_belongs_to_the_control_pressed_before() -> None:
    popover = Affordance("menu item", "Small", ("Popover",))
    watch = UsageListener((*OFFERED, popover))
    clicked(watch, 3)
    clicked(watch, 4)
    assert list(watch.used) == [key_of(popover)]


class Desk:
    def __init__(self, home: Path, seen: Observation = SCREEN) -> None:
        self.home = home
        self._seen = seen

    def observe(self) -> Observation:
        return self._seen


def task(uses: tuple[str, ...] = (), shows: str = "", file: str = "") -> ExplorationTask:
    return ExplorationTask(id="1", app="n", instruction="Do it", uses=uses, shows=shows, file=file)


def test_task_is_done_when_its_controls_were_used(tmp_path: Path) -> None:
    watch = UsageListener(OFFERED)
    check = TaskCheck(task(uses=("Undo", "Icons > Small")), OFFERED, watch, Desk(tmp_path))
    clicked(watch, 1)
    assert check("done").verified is False
    assert "Icons > Small was not used" in check("done").reason
    clicked(watch, 2)
    assert check("done").verified is True
    assert check("failed").verified is False


@pytest.mark.parametrize(("shown", "verified"), [("Meeting at ten", True), ("Meeting", False)])
def test_text_must_be_on_the_screen(tmp_path: Path, shown: str, verified: bool) -> None:
    desk = Desk(tmp_path, screen(replace(button(1, "", "text"), text=shown)))
    assert TaskCheck(task(shows="Meeting at ten"), (), UsageListener(()), desk)("done").verified is verified


@pytest.mark.parametrize(("content", "verified"), [("x\nMeeting", True), ("", False), (None, False)])
def test_file_must_exist_and_contain_the_text(tmp_path: Path, content: str | None, verified: bool) -> None:
    (tmp_path / "Documents").mkdir()
    if content is not None:
        (tmp_path / "Documents" / "a.txt").write_text(content)
    check = TaskCheck(task(shows="Meeting", file="a.txt"), (), UsageListener(()), Desk(tmp_path))
    assert check("done").verified is verified
