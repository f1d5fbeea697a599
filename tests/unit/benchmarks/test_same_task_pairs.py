from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.support.quality import LABELS
from benchmarks.support.same_task_pairs import Sampler, fill_templates, read_labels, read_paragraphs
from benchmarks.train_same_task import average
from memory_store import HashingEmbedder

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
# Each task has a letter of its own, which nothing else that a pair may hold has.
TASKS = """
app: Tuner | Radio
+ qq qqqqq qqqqqqq | qqqq qqqqqqqq
! xx xxxxx xxxxxxx | xxxx xxxxxxxx
? zz zzzzz zzzzzzz

+ jj jjjjj jjjjjjj | jjj jjjjjjjjjj
"""


def task_of(text: str) -> str:
    (found,) = set(text.lower()) & set("qxzj")
    return found


def test_pairs_are_the_same_only_within_a_task(tmp_path: Path) -> None:
    path = tmp_path / "tasks.txt"
    path.write_text(TASKS)
    pairs = Sampler(read_paragraphs(path), HashingEmbedder().embed).draw(400)
    assert {same for *_, same in pairs} == {0.0, 1.0}
    assert all(task_of(one) == task_of(other) for one, other, same in pairs if same)
    kinds = {frozenset((task_of(one), task_of(other))) for one, other, same in pairs if not same}
    assert {frozenset("qx"), frozenset("qz"), frozenset("qj")} <= kinds


def test_labels_are_read_as_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text(
        "app: Calc\n+ How to hide a row\n= Make the row invisible\n! How to show the row\n@ How to hide a slide\n"
    )
    (paragraph,) = read_labels(path)
    assert paragraph.tasks == [
        ("+", ["How to hide a row", "Make the row invisible"]),
        ("!", ["How to show the row"]),
        ("@", ["How to hide a slide"]),
    ]


def test_templates_give_opposites(tmp_path: Path) -> None:
    path = tmp_path / "templates.yaml"
    path.write_text(
        'opposites: [{ask: ["show {}"], undo: ["hide {}"], things: [it]}]\n'
        'reversals: [{ask: ["from {0} to {1}"], reverse: [1, 0], things: [[A, B]]}]\n'
    )
    assert [one.tasks for one in fill_templates(path)] == [
        [("+", ["show it"]), ("!", ["hide it"])],
        [("+", ["from A to B"]), ("!", ["from B to A"])],
    ]


def test_nothing_that_is_measured_on_is_trained_on() -> None:
    files = (DATA / "same_task").glob("*.txt")
    trained = {
        each.lower() for file in files for one in read_paragraphs(file) for _, listed in one.tasks for each in listed
    }
    assert len(trained) > 40_000
    for name, file in LABELS.items():
        if name != "tuning":
            labelled = read_labels(file)
            assert labelled
            assert not trained & {each.lower() for one in labelled for _, listed in one.tasks for each in listed}, name


def test_the_mean_of_trained_matrices_has_the_rank_asked_for() -> None:
    numbers = np.random.default_rng(0)
    ones = [
        {
            "a.down": numbers.standard_normal((rank, 6)),
            "a.up": numbers.standard_normal((5, rank)),
            "bias": np.full(2, rank),
        }
        for rank in (1, 2)
    ]
    found = average(ones, 3)
    assert found["a.down"].shape == (3, 6) and found["a.up"].shape == (5, 3)
    np.testing.assert_allclose(found["a.up"] @ found["a.down"], sum(one["a.up"] @ one["a.down"] for one in ones) / 2)
    np.testing.assert_array_equal(found["bias"], [1.5, 1.5])
