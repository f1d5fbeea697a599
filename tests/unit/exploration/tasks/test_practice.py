"""Tasks for a whole exploration: for a list of applications, and for all screens that were reached."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aci.acting.actions import Click, Hotkey
from aci.applications.catalog import Application
from aci.observation.identity import ElementDescription
from agent_s.llm.protocol import (
    Affordance,
    ModelRequest,
    ProposalContext,
    ProposalResponse,
    ProposedTask,
    ReachedScreen,
)
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import GroundedStep
from exploration.search.records import Attempt, Control, Offer, ScreenState
from exploration.tasks.practice import (
    MOST_ASKED,
    MOST_SCREENS,
    Practice,
    Subject,
    propose,
    reached_screens,
    split,
    surveyed_screens,
)
from exploration.tasks.proposals import ExplorationTask, KnownTasks
from memory_store.embedding.embedders import HashingEmbedder

NOTES = Application("org.notes", "Notes", ("notes",), generic_name="Text Editor")
PAINT = Application("org.paint", "Paint", ("paint",))
THINGS = ("apple", "bridge", "candle", "desert", "engine", "forest", "guitar", "harbour", "island", "jacket", "kettle")


def known() -> KnownTasks:
    return KnownTasks(HashingEmbedder(), ["Notes", "Paint", *THINGS])


def about(thing: str, application: str = "Notes") -> ProposedTask:
    return ProposedTask(instruction=f"In {application}, write about the {thing}.", application=application)


def proposed(
    answers: Sequence[Sequence[ProposedTask]],
    subjects: Sequence[Subject],
    wanted: int,
    practice: Practice = "independent",
    seen: KnownTasks | None = None,
) -> tuple[list[ExplorationTask], list[ProposalContext]]:
    model = ScriptedModel({"propose_tasks": [ProposalResponse(tasks=tuple(each)) for each in answers]})
    tasks = [task for each in propose(model, subjects, practice, wanted, seen or known()) for task in each.tasks]
    return tasks, [_context(request) for request in model.requests]


def _context(request: ModelRequest) -> ProposalContext:
    assert isinstance(request.context, ProposalContext)
    return request.context


def test_independent_tasks_come_from_the_list_of_applications_alone() -> None:
    both = Subject((NOTES, PAINT))
    tasks, (asked,) = proposed([[about("apple"), about("bridge", "paint")]], [both], 2)
    assert [(task.app, task.kind) for task in tasks] == [("org.notes", "common"), ("org.paint", "common")]
    assert asked.applications == (("Notes", "Text Editor"), ("Paint", ""))
    assert (asked.application, asked.observation, asked.affordances, asked.screens) == ("", None, (), ())
    assert asked.wanted == 2


def test_missing_tasks_are_asked_for_again_without_repetitions() -> None:
    first = [about("apple"), about("apple"), about("bridge"), about("candle", "Unheard of")]
    tasks, (_, again) = proposed([first, [about("apple"), about("candle")]], [Subject((NOTES,))], 3)
    assert [task.instruction for task in tasks] == [about(thing).instruction for thing in THINGS[:3]]
    assert again.wanted == 1
    assert again.known == (about("apple").instruction, about("bridge").instruction)


def test_more_than_asked_for_is_not_taken() -> None:
    tasks, _ = proposed([[about(thing) for thing in THINGS]], [Subject((NOTES,))], 4)
    assert len(tasks) == 4


def test_many_tasks_take_several_calls() -> None:
    numbered = [about(f"{thing} {color}") for thing in THINGS for color in ("red", "blue", "green", "grey", "pink")]
    every = [ProposedTask(instruction=f"{one.instruction} {n}", application="Notes") for n, one in enumerate(numbered)]
    _, asked = proposed([every[:30], every[30:], []], [Subject((NOTES,))], MOST_ASKED + 1)
    assert asked[0].wanted == MOST_ASKED
    assert len(asked) == 3


def test_a_model_that_has_no_more_tasks_ends_the_proposal() -> None:
    tasks, asked = proposed([[about("apple")], [about("apple")]], [Subject((NOTES,))], 9)
    assert (len(tasks), len(asked)) == (1, 2)


def test_tasks_carried_out_before_and_harmful_ones_are_left_out() -> None:
    before = known()
    before.add([about("apple").instruction])
    harmful = ProposedTask(instruction="Delete the note.", application="Notes")
    tasks, (asked, _) = proposed([[about("apple"), harmful, about("bridge")], []], [Subject((NOTES,))], 2, seen=before)
    assert [task.instruction for task in tasks] == [about("bridge").instruction]
    assert asked.known == (about("apple").instruction,)


def test_the_same_words_for_another_application_are_not_a_repetition() -> None:
    tasks, _ = proposed(
        [[ProposedTask(instruction="Make a list.", application=name) for name in ("Notes", "Paint", "Notes")], []],
        [Subject((NOTES, PAINT))],
        3,
    )
    assert [task.app for task in tasks] == ["org.notes", "org.paint"]


def screens(number: int) -> list[ReachedScreen]:
    return [ReachedScreen(f"Menu {n}", "Notes", ("Save",)) for n in range(number)]


def test_every_screen_is_shown_and_applications_take_turns() -> None:
    subjects = split({NOTES: screens(2 * MOST_SCREENS + 1), PAINT: screens(1)})
    assert [one.applications[0].name for one in subjects] == ["Notes", "Paint", "Notes", "Notes"]
    assert all(len(one.screens) <= MOST_SCREENS for one in subjects)
    shown = [screen for one in subjects if one.applications == (NOTES,) for screen in one.screens]
    assert sorted(shown, key=lambda screen: screen.way) == sorted(screens(81), key=lambda screen: screen.way)
    assert [screen.way for screen in subjects[0].screens[:2]] == ["Menu 0", "Menu 3"], "early and late screens"


def test_aware_tasks_are_spread_by_the_number_of_screens() -> None:
    answers = [[about("apple"), about("bridge"), about("candle")], [about("desert", "Paint")]]
    tasks, asked = proposed(answers, split({NOTES: screens(3), PAINT: screens(1)}), 4, "aware")
    assert [(each.application, each.wanted, len(each.screens)) for each in asked] == [("Notes", 3, 3), ("Paint", 1, 1)]
    assert [(task.app, task.kind) for task in tasks] == [("org.notes", "screen")] * 3 + [("org.paint", "screen")]
    assert asked[1].known == (), "tasks of another application"


def test_without_screens_nothing_is_asked() -> None:
    assert proposed([], split({NOTES: []}), 5, "aware") == ([], [])


def step(name: str) -> GroundedStep:
    target = ElementDescription(role="menu item", name=name)
    return GroundedStep(action=Click(element_id=1), targets={"element_id": target})


def offer(name: str, unsafe: str = "") -> Offer:
    return Offer(control=Control(role="menu item", name=name, key=name), step=step(name), unsafe=unsafe)


def test_screens_of_a_search_have_the_way_to_them_and_their_harmless_controls() -> None:
    states = {
        name: ScreenState(fingerprint=name, title=title, words=words)
        for name, title, words in (
            ("home", "Untitled", ("File", "Quit")),
            ("dialog", "Preferences", ("Wrap",)),
            ("blank", "Empty", ()),
        )
    }
    control = Control(role="menu item", name="x", key="x")
    attempts = [
        Attempt(key="start", control=control, start="", end="home", classification="continue", offers=(offer("Help"),)),
        Attempt(
            key="a",
            control=control,
            start="home",
            end="dialog",
            classification="continue",
            path=(GroundedStep(action=Hotkey(keys=("ctrl", "a")), intent="select everything"), step("Preferences...")),
            offers=(offer("Wrap"), offer("Tabs"), offer("Online", "leads to the internet")),
        ),
        Attempt(key="b", control=control, start="home", end="dialog", classification="continue", path=(step("Else"),)),
        Attempt(key="c", control=control, start="home", end="blank", classification="terminal", path=(step("Clear"),)),
    ]
    assert reached_screens(states, attempts) == [
        ReachedScreen("", "Untitled", ("File",)),
        ReachedScreen("select everything > Preferences...", "Preferences", ("Wrap", "Tabs")),
    ]


def test_without_a_search_the_screens_are_those_of_the_survey() -> None:
    offered = [
        Affordance("push button", "Bold"),
        *(Affordance("menu item", one, ("View",)) for one in ("Zoom", "Grid")),
    ]
    assert surveyed_screens(offered) == [ReachedScreen("", "", ("Bold",)), ReachedScreen("View", "", ("Zoom", "Grid"))]


@pytest.mark.parametrize(("difficulty", "kept"), [(1, 1), (5, 2)])
def test_tasks_of_another_difficulty_are_not_repetitions_unless_they_are_equal(difficulty: int, kept: int) -> None:
    tasks = [
        ExplorationTask(id=str(number), app="n", instruction=text, difficulty=level)
        for number, (text, level) in enumerate(
            [("Write 'a' to the note.", 1), ("Write 'b' to the note.", difficulty), ("write 'a' to the note.", 5)]
        )
    ]
    assert len(known().add_new(tasks)) == kept
