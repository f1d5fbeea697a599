from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_s.cli.app import run_app
from evaluation.harness.results import Header, Result, ResultsFile
from evaluation.report.comparison import PLOT_PX, compare, comparison_page, matrix_of


def evaluated(folder: Path, model: str, outcomes: dict[str, Any], **settings: Any) -> Path:
    header = Header(benchmark="tasks", model=model, settings=settings, version="1", started=datetime.now(UTC))
    kept = ResultsFile(folder, header)
    for task, outcome in outcomes.items():
        kept.add(
            Result(
                task=task, outcome=outcome, status="done", steps=3, model_calls=2, input_tokens=100, output_tokens=10,
                dollars=0.5 if model == "priced" else None, seconds=4.0, labels={"application": task.split("-")[0]},
                failure="planning" if outcome == "failure" else None,
            )
        )  # fmt: skip
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    first = {"calc-1": "success", "calc-2": "failure", "<b>-1": "error"}
    return [
        evaluated(tmp_path / "one", "offline", first, replay=True, memory={"enabled": True, "narrative": True}),
        evaluated(tmp_path / "two", "priced", {"calc-1": "success"}, replay=True, memory={"enabled": True}),
    ]


def test_groups_have_one_value_per_evaluation(folders: list[Path]) -> None:
    groups = compare(folders).groups["application"]

    one, two = groups["calc"].values()
    assert one is not None
    assert two is not None
    assert (one.success_rate, two.success_rate) == (0.5, 1.0)
    other, none = groups["<b>"].values()
    assert other is not None
    assert (other.errors, none) == (1, None)
    assert "level" not in compare(folders).groups


def test_totals_and_an_unknown_price(folders: list[Path]) -> None:
    one, two = compare(folders).evaluations

    assert (one.tokens, one.seconds, one.dollars) == (330, 12.0, None)
    assert two.dollars == 0.5


def test_only_differing_settings_are_shown(folders: list[Path]) -> None:
    assert compare(folders).settings == {"memory.narrative": (True, None)}


def test_folders_of_the_same_name_are_shown_with_their_paths(folders: list[Path], tmp_path: Path) -> None:
    twin = evaluated(tmp_path / "deep/one", "offline", {"calc-1": "success"})

    names = [one.name for one in compare([*folders, twin]).evaluations]

    assert names == [str(tmp_path / "one"), "two", str(twin)]


def test_page_draws_rates_and_escapes_text(folders: list[Path]) -> None:
    page = comparison_page(compare(folders))

    assert f'width="{PLOT_PX / 2}"' in page
    assert "50.0% of 2" in page
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "memory.narrative" in page


def test_report_writes_json_and_a_page(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"

    assert run_app(["eval", "report", *map(str, folders), "--json", "--html", str(page)]) == 0

    shown = json.loads(capsys.readouterr().out)
    assert [run["model"] for run in shown["runs"]] == ["offline", "priced"]
    assert shown["groups"]["application"]["calc"][0]["success_rate"] == 0.5
    assert shown["runs"][0]["failures"] == {"planning": 1}
    assert "<svg" in page.read_text()


def test_report_shows_tables(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "report", *map(str, folders)]) == 0

    shown = capsys.readouterr().out
    assert "50% of 2" in shown
    assert "memory.narrative" in shown


def test_folder_without_results_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "report", str(tmp_path)]) != 0

    assert "no readable results" in capsys.readouterr().err


def labelled(task: str, level: str, domain: str, *, success: bool) -> Result:
    outcome: Any = "success" if success else "failure"
    return Result(task=task, outcome=outcome, status="done", labels={"level": level, "domain": domain})


def test_matrix_has_a_row_per_level_a_column_per_domain_and_totals() -> None:
    other = Result(task="d", outcome="success", status="done", labels={"level": "L1"})
    results = [
        labelled("a", "L1", "Work", success=True),
        labelled("b", "L1", "Work", success=False),
        labelled("c", "L3", "Study", success=True),
    ]
    matrix = matrix_of([*results, other])

    counts = {
        level: {domain: None if cell is None else (cell.successes, cell.episodes) for domain, cell in row.items()}
        for level, row in matrix.items()
    }
    assert counts == {
        "L1": {"Study": None, "Work": (1, 2), "all": (1, 2)},
        "L3": {"Study": (1, 1), "Work": None, "all": (1, 1)},
        "all": {"Study": (1, 1), "Work": (1, 2), "all": (2, 3)},
    }
    assert matrix_of([other]) == {}


def test_matrix_is_shown_as_table_json_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = Header(benchmark="tasks", model="offline", settings={}, version="1", started=datetime.now(UTC))
    ResultsFile(tmp_path / "one", header).add(labelled("a", "L2", "Life services", success=True))

    assert "L2 planning" in comparison_page(compare([tmp_path / "one"]))
    assert run_app(["eval", "report", str(tmp_path / "one"), "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["matrix"]["L2"]["Life services"]["success_rate"] == 1.0
    assert run_app(["eval", "report", str(tmp_path / "one")]) == 0
    assert "100% of 1" in capsys.readouterr().out
