"""The search, on a made-up application."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest

from aci.observation.observation import Element
from aci.processes import MARK, read_stat
from exploration.search.dfs import SHARED_POLL_S, search
from exploration.search.frontier import START
from exploration.search.ledger import Ledger
from exploration.search.records import (
    Attempt,
    Attempted,
    SearchEnded,
    SearchEvent,
    SearchLimits,
    SearchStarted,
    SkillVerified,
)
from exploration.skills.skill_keeper import Namer, SkillKeeper
from intents.intent import Switch
from memory_store import MemoryStore, SkillExperience
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.exploration.an_app import APP, MAIN, FakeEditor

ARGV = ("editor",)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


class WithEmptyMenu(FakeEditor):
    """Has a menu "Macros" without entries, which stays selected and takes the next click for its end, as in Java."""

    selected = False

    def _in_main(self) -> list[Element]:
        macros = self._element("menu", "Macros", MAIN, path=("frame:note - Editor", "menu bar:"))
        return [macros, *super()._in_main()]

    def _click(self, element: Element) -> None:
        if element.name == "Macros" or self.selected:
            self.selected = not self.selected
            return
        super()._click(element)

    def _press(self, keys: tuple[str, ...]) -> None:
        self.selected = False
        super()._press(keys)


def explored(
    home: Path, ledger: Ledger, *, limits: SearchLimits | None = None, memory: MemoryStore | None = None,
    editor: FakeEditor | None = None, stop_after: int | None = None, namer: Namer | None = None,
) -> list[SearchEvent]:  # fmt: skip
    """Search, and stop after some events as a kill would."""
    events: list[SearchEvent] = []
    running = quick(editor or FakeEditor(home), ledger, limits=limits, memory=memory, namer=namer)
    for event in running:
        events.append(event)
        if len(events) == stop_after:
            break
    return events


def quick(
    editor: FakeEditor,
    ledger: Ledger,
    *,
    limits: SearchLimits | None = None,
    memory: MemoryStore | None = None,
    namer: Namer | None = None,
) -> Iterator[SearchEvent]:
    """Search with a clock that runs fast, so that nothing is waited for."""
    ticks = count()
    return search(
        editor, ledger, SkillKeeper(memory, "explore", namer), limits=limits,
        clock=lambda: next(ticks) * 0.05, pause=lambda seconds: None,
    )  # fmt: skip


def names(ledger: Ledger) -> list[str]:
    return sorted(skill.name for skill in ledger.skills.values())


def test_found_functions_become_skills(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        events = explored(home, ledger)
    assert isinstance(events[0], SearchStarted)
    assert isinstance(events[-1], SearchEnded)
    assert events[-1].complete
    found = names(ledger)
    assert {"turn on line numbers", "open preferences", "turn on wrap lines", "set zoom to 200%"} <= set(found)
    assert "upper case" in found  # greyed out until everything is selected
    upper = next(skill for skill in ledger.skills.values() if skill.name == "upper case")
    assert "everything is selected" in upper.preconditions
    assert [change.after for change in upper.effect if change.kind == "text"] == ["ALPHA BETA"]


def test_settings_dialogs_come_before_greyed_out_controls(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        found = [event.skill.name for event in explored(home, ledger) if isinstance(event, SkillVerified)]
    assert found.index("turn on wrap lines") < found.index("upper case")


@pytest.mark.parametrize(("selects", "tried"), [(True, 3), (False, 1)])
def test_greyed_out_controls_are_passed_over_where_the_setup_changes_nothing(
    home: Path, tmp_path: Path, selects: bool, tried: int
) -> None:
    class Editor(FakeEditor):
        def _press(self, keys: tuple[str, ...]) -> None:
            if selects or keys != ("ctrl", "a"):
                super()._press(keys)

    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=Editor(home))
        selected = [each for key, each in ledger.attempts.items() if key.startswith("everything selected > ")]
    assert len(selected) == 3
    assert sum(each.classification != "skipped" for each in selected) == tried


def test_names_by_a_model_become_aliases_unless_they_say_the_opposite(home: Path, tmp_path: Path) -> None:
    asked: list[str] = []
    suggestions = {"Line Numbers": ("number the lines",), "Wrap lines": ("turn off wrapping", "fold long lines")}

    def namer(attempts: Sequence[Attempt]) -> Mapping[str, tuple[str, ...]]:
        asked.extend(attempt.key for attempt in attempts)
        return {attempt.key: suggestions.get(attempt.control.name, ()) for attempt in attempts}

    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, namer=namer)
    found = {skill.name: skill for skill in ledger.skills.values()}
    assert "number the lines" in found["turn on line numbers"].aliases
    assert "fold long lines" in found["turn on wrap lines"].aliases
    assert not any("turn off wrapping" in skill.aliases for skill in found.values())
    assert not any("number the lines" in skill.description for skill in found.values())
    assert len(asked) == len(set(asked)), "each is named once"


def test_nothing_harmful_is_done(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=editor)
        assert not {"Quit", "Print", "Close", "Save"} & set(editor.clicked)
        reasons = {each.control.name: each.why for each in ledger.attempts.values() if each.classification == "skipped"}
        assert reasons["Quit"] == "it only closes"
        assert reasons["Print"] == "it prints"
        assert "another program" in reasons["Web"]


def test_function_that_fails_verification_is_a_boundary(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=FakeEditor(home, lucky=("lucky", "")))
        why = {boundary.name: boundary.why for boundary in ledger.boundaries.values()}
        assert sorted(why) == ["show stuck", "use unlucky"]
        assert "did not become" in why["use unlucky"]


def test_function_with_varying_effect_is_a_boundary(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=FakeEditor(home, lucky=tuple(f"luck {number}" for number in range(99))))
        assert "use unlucky" in [boundary.name for boundary in ledger.boundaries.values()]


def test_effect_on_which_two_fresh_desktops_agree_counts(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=FakeEditor(home, lucky=("by chance", "lucky")))
        assert "use unlucky" not in [boundary.name for boundary in ledger.boundaries.values()]
        key = next(key for key, skill in ledger.skills.items() if skill.name == "use unlucky")
        for effect in (ledger.skills[key].effect, ledger.attempts[key].effect):
            assert [change.after for change in effect if change.kind == "text"] == ["lucky"]


def starts_by_control(editor: FakeEditor, ledger: Ledger) -> dict[str, int]:
    """Search, and return how often the editor had been started when each control had been tried."""
    starts: dict[str, int] = {}
    for event in quick(editor, ledger):
        if isinstance(event, Attempted) and not event.attempt.precondition:
            starts.setdefault(event.attempt.control.name, editor.starts)
    return starts


def test_switches_are_switched_back_without_a_restart(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(FakeEditor(home), ledger)
    assert starts["Web"] == starts["Line Numbers"]
    assert starts["200%"] > starts["50%"], "a choice cannot be switched back"


def test_choices_are_undone_by_the_initial_choice(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(FakeEditor(home, zooms=("100%", "page", "width", "double")), ledger)
        assert starts["double"] == starts["width"] == starts["page"]
        assert {"set zoom to page", "set zoom to width", "set zoom to double"} <= set(names(ledger))


def test_the_tab_that_was_in_front_is_chosen_again(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(FakeEditor(home, tabs=("World", "Alarms", "Timer", "Records")), ledger)
        assert starts["Alarms"] == starts["Timer"] == starts["Records"]
        assert {"open alarms", "open timer", "open records"} <= set(names(ledger))


def test_the_button_that_was_checked_is_chosen_again(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(FakeEditor(home, modes=("Look", "Paint", "Crop")), ledger)
    assert starts["Paint"] == starts["Crop"]
    assert {"turn on paint", "turn on crop"} <= set(names(ledger))


def test_of_controls_that_differ_in_a_number_the_first_comes_early(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, buttons=("1 m", "2 m", "3 m", "Start", "Menu", "Menu"))
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        tried = [
            event.attempt.control.name
            for event in explored(home, ledger, editor=editor)
            if isinstance(event, Attempted)
        ]
    assert tried.index("1 m") < tried.index("Start") < tried.index("2 m") < tried.index("3 m")
    assert [name for name in tried[: tried.index("2 m")] if name == "Menu"] == ["Menu", "Menu"], "both have that name"
    assert tried.index("Wrap lines") < tried.index("Start"), "the application's settings come first"


@pytest.mark.parametrize("undoes", (True, False))
def test_text_changes_are_undone(home: Path, tmp_path: Path, undoes: bool) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(FakeEditor(home, undoes=undoes), ledger)
        assert "use unlucky" in names(ledger)
    assert (starts["Line Numbers"] == starts["Unlucky"]) == undoes


def test_many_skills_are_verified_on_one_fresh_desktop(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, zooms=("100%", *(f"{number}%" for number in range(10, 90, 10))))
    verified: dict[int, int] = {}
    found: dict[str, int] = {}
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger):
            if isinstance(event, Attempted):
                found[event.attempt.key] = editor.starts
            if isinstance(event, SkillVerified):
                assert found[event.skill.key] < editor.starts, "it was verified where it had been found"
                verified[editor.starts] = verified.get(editor.starts, 0) + 1
    assert max(verified.values()) >= 6


@pytest.mark.parametrize(("button", "stays"), (("Redo", True), ("Paste", False)))
def test_a_start_is_proven_if_only_what_was_undone_can_be_done_again(
    home: Path, tmp_path: Path, button: str, stays: bool
) -> None:
    editor = FakeEditor(home, undoes=True, after_undo=(button,), buttons=("One", "Two", "Three"))
    verified: dict[str, int] = {}
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger, limits=SearchLimits(max_depth=1)):
            if isinstance(event, SkillVerified):
                verified[event.skill.key] = editor.starts
    assert verified.keys() == {"push button:One", "push button:Two", "push button:Three"}
    assert (len(set(verified.values())) == 1) == stays


def test_attempts_come_before_most_verifications(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, buttons=tuple(f"Press {letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 2))
    tried = verified = 0
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger, limits=SearchLimits(seconds=1e6, max_depth=1)):
            tried += isinstance(event, Attempted) and event.attempt.classification != "skipped"
            verified += isinstance(event, SkillVerified)
            if isinstance(event, SkillVerified) and tried < 40:
                assert verified <= tried / 3
    assert verified > 40


@pytest.mark.parametrize("many", (True, False))
def test_of_very_many_controls_all_are_tried_before_anything_is_verified(
    home: Path, tmp_path: Path, many: bool
) -> None:
    presses = tuple(f"Press {letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    greyed = tuple(f"Paste {one}{other}" for one in "abcdefghijkl" for other in "abcdefghijklmn")
    editor = FakeEditor(home, buttons=presses, after_undo=greyed if many else (), dialogs=("Details...",))
    happened = []
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger, limits=SearchLimits(seconds=1e6, max_depth=2)):
            if isinstance(event, Attempted) and event.attempt.classification != "skipped":
                happened.append(event.attempt.control.name)
            elif isinstance(event, SkillVerified):
                happened.append("verified")
            if {"verified", "Option of Details...", *presses} <= {*happened}:
                break
    last = max(happened.index(name) for name in presses)
    assert (last < happened.index("verified")) == many
    assert (last < happened.index("Option of Details...")) == many, "what is in a dialog waits"


def test_cell_that_is_left_selected_is_no_reason_to_start_anew(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, cells=True, undoes=True)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(editor, ledger)
        assert "open preferences" in names(ledger)
    assert starts["Preferences..."] == starts["Line Numbers"]
    assert "A1" in editor.clicked


def test_changed_selection_is_restored_by_a_click_on_the_cell_that_had_the_focus(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, cells=True)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(editor, ledger)
        assert ledger.attempts["push button:Select All"].effect
    after = list(starts)[list(starts).index("Select All") + 1]
    assert starts[after] == starts["Select All"]


def test_what_a_dialog_left_behind_is_undone_without_a_new_start(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, inserts=("Insert Chart...", "Insert Note..."))
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(editor, ledger)
        assert {"Option of Insert Chart...", "Option of Insert Note..."} <= starts.keys()
    assert starts["Insert Chart..."] == starts["Insert Note..."] == starts["Undo"]
    assert starts["Option of Insert Chart..."] == starts["Option of Insert Note..."]


def test_window_that_escape_does_not_close_is_closed_by_its_switch(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, palette="Drawing")
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = starts_by_control(editor, ledger)
        assert ledger.attempts["toggle button:Drawing"].classification == "continue"
        assert "Tool of Drawing" in starts
    after = list(starts)[list(starts).index("Drawing") + 1]
    assert starts[after] == starts["Drawing"]


@pytest.mark.parametrize("works", (True, False))
def test_dialog_that_does_not_come_is_waited_for_while_the_application_works(
    home: Path, tmp_path: Path, works: bool
) -> None:
    editor, waited = FakeEditor(home, buttons=("Promise...",), works=works), 0
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger):
            if isinstance(event, Attempted) and event.attempt.control.name == "Promise...":
                break
            waited = editor.waited
    assert (editor.waited - waited >= 20) == works


def test_only_what_changes_something_is_looked_at_closely(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=editor)
    assert {"Line Numbers", "Unlucky"} <= set(editor.checked)
    assert {"View", "Edit", "Preferences..."} <= set(editor.clicked) - set(editor.checked)


@pytest.mark.parametrize("many", (True, False))
def test_in_a_large_application_switches_like_others_are_put_back_at_once(
    home: Path, tmp_path: Path, many: bool
) -> None:
    greyed = tuple(f"Paste {one}{other}" for one in "abcdefghijklm" for other in "abcdefghijklmn")
    presses = tuple(f"Press {letter}" for letter in "abcdefghijkl")
    switches = ("Ruler", "Grid", "Margins")
    editor = FakeEditor(home, buttons=presses, after_undo=greyed if many else (), switches=switches)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        starts = {}
        for event in quick(editor, ledger, limits=SearchLimits(seconds=1e6, max_depth=2)):
            if isinstance(event, Attempted) and event.attempt.control.name in switches:
                starts[event.attempt.control.name] = editor.starts
                assert event.attempt.why == f"{event.attempt.control.name} is checked"
            if starts.keys() == set(switches):
                break
    looked_at = set(switches) & set(editor.checked)
    assert looked_at == ({"Ruler"} if many else set(switches)), "the first of them shows that they can be put back"
    assert len(set(starts.values())) == 1, "none took a new start"


@pytest.mark.parametrize("many", (True, False))
def test_in_a_large_application_buttons_like_others_are_undone_at_once(home: Path, tmp_path: Path, many: bool) -> None:
    greyed = tuple(f"Paste {one}{other}" for one in "abcdefghijklm" for other in "abcdefghijklmn")
    presses = tuple(f"Press {letter}" for letter in "abcdefghijkl")
    editor = FakeEditor(home, undoes=True, buttons=presses, after_undo=greyed if many else ())
    left = set(presses)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        for event in quick(editor, ledger, limits=SearchLimits(seconds=1e6, max_depth=1)):
            if isinstance(event, Attempted) and event.attempt.effect:
                left.discard(event.attempt.control.name)
            if not left:
                break
    assert len(set(presses) & set(editor.checked)) == (1 if many else len(presses))


def test_in_a_large_application_what_a_switch_shows_comes_after_all_menus(home: Path, tmp_path: Path) -> None:
    greyed = tuple(f"Paste {one}{other}" for one in "abcdefghijklm" for other in "abcdefghijklmn")
    editor = FakeEditor(home, after_undo=greyed, palette="Drawing")
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        tried = list(starts_by_control(editor, ledger))
    assert tried.index("Tool of Drawing") > max(map(tried.index, ("Web", "50%", "Unlucky", "Drawing")))


def test_menus_and_buttons_take_turns(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home, buttons=("One", "Two", "Three", "Four"))
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        events = explored(home, ledger, editor=editor, limits=SearchLimits(max_depth=3))
    tried = [event.attempt.key for event in events if isinstance(event, Attempted)]
    menus = ["menu:File", "menu:Edit", "menu:View"]
    assert tried[1:4] == menus, "all menus are opened first"
    assert tried[4:6] == ["menu:Edit > menu item:Preferences...", "menu:View > menu:Zoom"], "then what leads on"
    first = [
        tried.index(f"{menu} > menu item:{item}")
        for menu, item in zip(menus, ("Open...", "Unlucky", "Line Numbers"), strict=True)
    ]
    assert max(first) < tried.index("push button:Four"), "the buttons were tried before some menu"
    choice = tried.index("menu:View > menu:Zoom > radio menu item:50%")
    assert tried.index("push button:Three") < choice < tried.index("push button:Four"), "all take turns"


@pytest.mark.parametrize("seconds", [8.5, 9.5, 10.5])  # of which the start takes 0.5 s
def test_what_was_found_is_verified_before_the_time_is_used_up(home: Path, tmp_path: Path, seconds: float) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        events = explored(home, ledger, limits=SearchLimits(seconds=seconds))
        last = events[-1]
        assert isinstance(last, SearchEnded) and not last.complete
        worked = {key for key, each in ledger.attempts.items() if each.effect}
        assert len(worked) > 2
        assert len(worked - ledger.skills.keys() - ledger.boundaries.keys()) <= 1
        tried = max(event.seconds for event in events if isinstance(event, Attempted))
        assert any(isinstance(event, SkillVerified) and event.seconds > tried for event in events)


@pytest.mark.parametrize("many", [False, True])
def test_a_large_application_is_searched_for_longer(home: Path, tmp_path: Path, many: bool) -> None:
    greyed = tuple(f"Paste {one}{other}" for one in "abcdefghijklm" for other in "abcdefghijklmn")
    editor = FakeEditor(home, after_undo=greyed if many else ())
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        last = explored(home, ledger, editor=editor, limits=SearchLimits(seconds=5, more_seconds=3))[-1]
    assert isinstance(last, SearchEnded) and not last.complete
    assert last.reason == f"the time of {8 if many else 5} s is used up"


@pytest.mark.slow
def test_killed_search_resumes_with_the_same_result(home: Path, tmp_path: Path) -> None:
    def found(ledger: Ledger) -> object:
        skills = {key: (skill.name, skill.effect) for key, skill in ledger.skills.items()}
        return skills, set(ledger.boundaries), set(ledger.attempts), set(ledger.states)

    with Ledger(tmp_path / "undisturbed.jsonl", APP, ARGV) as ledger:
        events = explored(home, ledger)
        expected = found(ledger)
    for after in range(1, len(events)):
        path = tmp_path / f"killed{after}.jsonl"
        with Ledger(path, APP, ARGV) as ledger:
            explored(home, ledger, stop_after=after)
        if after % 2:
            path.write_bytes(path.read_bytes()[:-5])  # the last line was not whole on the disk
        with Ledger(path, APP, ARGV) as ledger:
            last = explored(home, ledger)[-1]
            assert isinstance(last, SearchEnded) and last.complete
            assert found(ledger) == expected, f"killed after {after} events"


def test_finished_search_does_nothing_more(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger)
    editor = FakeEditor(home)
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        events = explored(home, ledger, editor=editor)
    assert [event.kind for event in events] == ["search_started", "search_ended"]
    assert editor.starts == 0


def test_search_resumes_after_a_limit(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        last = explored(home, ledger, limits=SearchLimits(max_states=2))[-1]
        assert isinstance(last, SearchEnded) and not last.complete and "2 screens" in last.reason
        last = explored(home, ledger)[-1]
        assert isinstance(last, SearchEnded) and last.complete


def test_application_starts_while_another_desktop_lists_its_controls(home: Path, tmp_path: Path) -> None:
    editor, starts, ticks = FakeEditor(home), list[int](), count()

    def pause(seconds: float) -> None:
        if seconds == SHARED_POLL_S and not starts:
            starts.append(editor.starts)
            other.release(START)

    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as other, Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        assert other.claim(START)
        limits, keeper = SearchLimits(max_depth=1), SkillKeeper(None, "explore")
        events = list(search(editor, ledger, keeper, limits=limits, clock=lambda: next(ticks) * 0.05, pause=pause))
        assert starts == [1] and START in ledger.attempts
    assert isinstance(events[-1], SearchEnded) and events[-1].complete


def test_depth_is_bounded(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, limits=SearchLimits(max_depth=1))
        assert {attempt.depth for attempt in ledger.attempts.values()} == {0, 1}


def test_a_crash_at_a_later_start_does_not_end_it(home: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        last = explored(home, ledger, editor=FakeEditor(home, crashes=1))[-1]
    assert isinstance(last, SearchEnded) and last.complete
    with Ledger(tmp_path / "broken.jsonl", APP, ARGV) as ledger:
        last = explored(home, ledger, editor=FakeEditor(home, crashes=5))[-1]
    assert isinstance(last, SearchEnded) and "cannot be started" in last.reason


@pytest.mark.parametrize(("shows", "reason"), [("nothing", "cannot be started"), ("password", "asks for a password")])
def test_unusable_application_ends_the_search(home: Path, tmp_path: Path, shows: str, reason: str) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        last = explored(home, ledger, editor=FakeEditor(home, shows=shows))[-1]
    assert isinstance(last, SearchEnded)
    assert not last.complete
    assert reason in last.reason


def test_memory_gets_active_skills_and_boundaries_that_nothing_replays(home: Path, tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "memory.sqlite", HashingEmbedder()) as memory:
        with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
            events = explored(home, ledger, memory=memory, editor=FakeEditor(home, lucky=("lucky", "")))
        ids = [event.skill.experience_id for event in events if isinstance(event, SkillVerified)]
        stored = [memory.get(each) for each in ids]
        assert all(each.provenance.state == "active" and each.provenance.verified for each in stored)
        numbers = next(each for each in stored if isinstance(each, SkillExperience) and "line numbers" in each.name)
        assert numbers.intent == Switch(object="line numbers", state="on")
        assert {"kind": "setting", "what": "org/editor/line-numbers", "before": "", "after": "true"} in numbers.effects
        found = memory.search_skills("turn on line numbers", app=APP)
        assert found[0].experience.name == "turn on line numbers"
        assert not [hit for hit in memory.search_skills("use unlucky") if hit.experience.name == "use unlucky"]
        boundary = memory.search_skills("use unlucky", candidates=True)[0].experience
        assert isinstance(boundary, SkillExperience)
        assert (boundary.provenance.outcome, boundary.provenance.verified) == ("boundary", False)


def test_control_that_starts_another_program_is_left_alone(home: Path, tmp_path: Path) -> None:
    applications = tmp_path / "share/applications"
    applications.mkdir(parents=True)
    (applications / "sleep.desktop").write_text("[Desktop Entry]\nType=Application\nName=Sleep\nExec=sleep %u\n")
    environment = {"PATH": os.environ["PATH"], "XDG_DATA_DIRS": str(tmp_path / "share"), MARK: f"test-{tmp_path.name}"}
    started: list[subprocess.Popen[bytes]] = []

    def link() -> None:
        started.append(subprocess.Popen(["sleep", "60"], env=environment))
        while read_stat(started[-1].pid).program != "sleep":  # type: ignore[union-attr]  # it lives
            time.sleep(0.01)

    editor = FakeEditor(home, buttons=("Link",), link=link, environment=environment)
    try:
        with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
            explored(home, ledger, editor=editor)
            attempt = ledger.attempts["push button:Link"]
    finally:
        for each in started:
            each.kill()
            each.wait()
    assert (attempt.classification, attempt.why) == ("skipped", "it opens another program, sleep")


def test_a_menu_without_entries_does_not_take_the_click_on_the_next_one(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(tmp_path / "home", ledger, editor=WithEmptyMenu(tmp_path / "home"))
        made = {attempt.control.name: attempt.classification for attempt in ledger.attempts.values()}
    assert made["Macros"] == "error"
    assert made["File"] == made["Edit"] == made["View"] == "continue"
