"""Tasks of an exploration: no repetitions, wide coverage, from easy to hard."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aci.applications.catalog import Application
from agent_s.llm.protocol import Affordance, ModelRequest, ProposalContext, ProposalResponse, ProposedTask
from agent_s.llm.scripted import ScriptedModel
from exploration.tasks.proposals import (
    ExplorationTask,
    TaskKind,
    choose,
    leave_out_repetitions,
    names_in,
    propose_tasks,
    task_id,
)
from exploration.tasks.survey import is_safe
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.agent_s.fakes import screen

NOTES = Application("org.notes", "Notes", ("notes",), generic_name="Text Editor")
NAMES = ("Line Numbers", "Toolbar", "Save", "Save As...", "7", "8")


def task(instruction: str, difficulty: int = 1, kind: TaskKind = "common") -> ExplorationTask:
    return ExplorationTask(
        id=task_id("n", instruction), app="n", instruction=instruction, difficulty=difficulty, kind=kind
    )


def kept(*instructions: str) -> list[str]:
    return [one.instruction for one in leave_out_repetitions([task(i) for i in instructions], HashingEmbedder(), NAMES)]


def test_tasks_that_differ_in_texts_and_file_names_are_repetitions() -> None:
    assert kept("Save the note as 'a.txt'.", "Save the note as 'holiday.txt'.") == ["Save the note as 'a.txt'."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on 'View' > 'Line Numbers'.", "Turn on 'View' > 'Toolbar'."),
        ("Press the button '7'.", "Press the button '8'."),
        ("Turn on the line numbers.", "Turn off the line numbers."),
    ],
)
def test_opposite_tasks_are_not_repetitions(one: str, other: str) -> None:
    assert kept(one, other) == [one, other]


def test_longest_of_nested_names_counts() -> None:
    assert names_in("Choose File > Save As... now", [name.casefold() for name in NAMES]) == {"save as..."}


def test_chosen_tasks_use_every_menu_and_every_difficulty_and_come_from_easy_to_hard() -> None:
    offered = [Affordance("menu item", f"{menu} {n}", (menu,)) for menu in ("One", "Two", "Three") for n in range(5)]
    tasks = [task(f"Choose '{one.name}'.", 2) for one in offered] + [task("Write much.", 5), task("Press 'x'.", 1)]
    chosen = choose(tasks, offered, 6)
    assert [one.difficulty for one in chosen] == sorted(one.difficulty for one in chosen)
    assert {1, 2, 5} == {one.difficulty for one in chosen}
    assert {menu for one in chosen for menu in ("One", "Two", "Three") if menu in one.instruction} == {
        "One",
        "Two",
        "Three",
    }


def test_common_and_screen_tasks_are_chosen_equally() -> None:
    tasks = [task(f"Do thing {n}.", kind="common") for n in range(9)] + [task(f"See {n}.", kind="screen") for n in "ab"]
    assert [one.kind for one in choose(tasks, (), 4)].count("screen") == 2


def make(answers: Sequence[Sequence[ProposedTask]], wanted: int) -> tuple[list[ExplorationTask], ScriptedModel]:
    model = ScriptedModel({"propose_tasks": [ProposalResponse(tasks=tuple(each)) for each in answers]})
    offered = (Affordance("menu item", "Save", ("File",)),)
    return list(propose_tasks(model, HashingEmbedder(), NOTES, offered, screen(), wanted).tasks), model


def test_a_model_is_asked_for_common_tasks_and_for_the_screen() -> None:
    made, model = make(
        [
            [
                ProposedTask(instruction="Write a list.", difficulty=3),
                ProposedTask(instruction="Save it.", difficulty=1),
            ],
            [ProposedTask(instruction="Make the window larger.", difficulty=2)],
        ],
        wanted=5,
    )
    assert [(one.instruction, one.kind) for one in made] == [
        ("Save it.", "common"),
        ("Make the window larger.", "screen"),
        ("Write a list.", "common"),
    ]
    first, second = (_context(request) for request in model.requests)
    assert (first.observation, first.application, first.description) == (None, "Notes", "Text Editor")
    assert second.observation is not None
    assert second.known == ("Write a list.", "Save it.")


def test_tasks_that_delete_send_or_print_are_left_out() -> None:
    made, _ = make(
        [
            [
                ProposedTask(instruction="Open the list, then delete the first line."),
                ProposedTask(instruction="In Notes, choose 'File' > 'Print...'."),
                ProposedTask(instruction="Send the note to Ann."),
                ProposedTask(instruction="Write 'do not delete'."),
            ],
            [],
        ],
        wanted=9,
    )
    assert [one.instruction for one in made] == ["Write 'do not delete'."]


@pytest.mark.parametrize(
    "name", ["Quit", "_Close", "Delete", "Print...", "Send by E-mail", "Log out", "Sign in", "Help"]
)
def test_controls_that_lead_away_or_are_irreversible_are_unsafe(name: str) -> None:
    assert not is_safe(name)


@pytest.mark.parametrize("name", ["log", "Print Preview", "Insert", "Go to...", "Content", "+", "Logical AND", "Runs"])
def test_similar_harmless_names_are_safe(name: str) -> None:
    assert is_safe(name)


def _context(request: ModelRequest) -> ProposalContext:
    assert isinstance(request.context, ProposalContext)
    return request.context
