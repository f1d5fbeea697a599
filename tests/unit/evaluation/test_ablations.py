"""The rows of the paper's ablations are configurations, each with a memory of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.cli.app import run_app
from agent_s.settings import Settings, configs_folder
from evaluation.ablations import choose_rows, load_rows, plan_rows, prepare_memory
from evaluation.commands.eval_ablation import _options_of
from evaluation.errors import EvaluationError
from evaluation.harness.results import Result
from evaluation.report.statistics import describe_effort, paired_difference
from memory_store import HashingEmbedder, MemoryStore, Provenance

FROM = Provenance(run_id="r")
ROWS = load_rows(configs_folder() / "ablations" / "paper.yaml")
GIVEN = {
    "config_file": None, "overrides": ("search.engine=searxng", "search.url=http://127.0.0.1:9/"), "model": "offline",
    "desktops": 1, "cluster": None, "time_limit": None, "out": Path("out"), "keep_all": False, "as_json": False,
    "quiet": True,
}  # fmt: skip


def settings_of(name: str) -> Settings:
    return _options_of(ROWS, name, GIVEN).settings


def result(task: str, success: bool | None, **more: object) -> Result:
    outcome = "error" if success is None else "success" if success else "failure"
    return Result.model_validate({"task": task, "outcome": outcome, "status": "done", **more})


def test_every_row_of_the_paper_is_a_valid_configuration() -> None:
    for name in ROWS.rows:
        assert isinstance(settings_of(name), Settings)


def test_rows_differ_from_the_whole_agent_in_what_their_titles_say() -> None:
    whole = settings_of("agent-s")
    assert (whole.planner, whole.memory.enabled, whole.search.engine) == ("hierarchical", True, "searxng")
    assert settings_of("without-web").search.engine == "none"
    assert not settings_of("without-narrative").memory.narrative
    assert not settings_of("without-episodic").memory.episodic
    assert not settings_of("without-update").memory.continual_update
    assert not settings_of("without-evaluator").memory.summaries
    assert settings_of("baseline").observation == "coordinates"
    assert settings_of("aci-only").planner == "flat"
    assert settings_of("without-exploration") == whole  # it starts with an empty memory
    assert not whole.replay and not whole.memory.checks


def test_rows_are_chosen_by_name_or_by_table_in_the_order_of_the_file() -> None:
    assert choose_rows(ROWS, (), ()) == list(ROWS.rows)
    assert choose_rows(ROWS, ("without-web", "agent-s"), ()) == ["agent-s", "without-web"]
    assert choose_rows(ROWS, (), (7,)) == ["agent-s", "without-exploration", "without-update", "without-evaluator"]
    with pytest.raises(EvaluationError, match="no row 'without-wep'"):
        choose_rows(ROWS, ("without-wep",), ())
    with pytest.raises(EvaluationError, match="no table 9"):
        choose_rows(ROWS, (), (9,))


def test_each_row_has_a_copy_of_the_explored_memory(tmp_path: Path) -> None:
    explored = tmp_path / "explored.sqlite"
    with MemoryStore.open(explored, embedder=HashingEmbedder()) as store:
        store.add_narrative(
            query="q", instruction="i", summary="s", plan=[], success=True, provenance=Provenance(run_id="r")
        )
    settings = {name: settings_of(name) for name in ("agent-s", "without-web", "without-exploration", "baseline")}
    planned = plan_rows(ROWS, settings, tmp_path / "out", {"explored": explored})
    for one in planned:
        prepare_memory(one)
    whole, without_web, unexplored, baseline = planned
    assert baseline.settings.memory.path is None and not baseline.settings.memory.enabled
    assert unexplored.settings.memory.path is not None and not unexplored.settings.memory.path.exists()
    for one in (whole, without_web):
        assert one.settings.memory.path == tmp_path / "out" / one.name / "memory.sqlite"
        with MemoryStore.open(one.settings.memory.path, embedder=HashingEmbedder()) as store:
            assert len(store.list_experiences("narrative")) == 1
            store.add_narrative(
                query="r", instruction="j", summary="t", plan=[], success=True, provenance=Provenance(run_id="r")
            )
    prepare_memory(whole)  # a row that is continued keeps what it has learned
    assert whole.settings.memory.path is not None
    with MemoryStore.open(whole.settings.memory.path, embedder=HashingEmbedder()) as store:
        assert len(store.list_experiences("narrative")) == 2


def test_rows_with_the_same_configuration_are_run_once(tmp_path: Path) -> None:
    settings = {name: settings_of(name) for name in ("agent-s", "without-exploration")}
    assert [one.same_as for one in plan_rows(ROWS, settings, tmp_path, {})] == ["", "agent-s"]
    explored = {"explored": tmp_path / "memory"}
    assert [one.same_as for one in plan_rows(ROWS, settings, tmp_path, explored)] == ["", ""]  # type: ignore[arg-type]


def test_raw_trajectories_need_an_exploration_of_their_own(tmp_path: Path) -> None:
    settings = {"without-evaluator": settings_of("without-evaluator")}
    (left_out,) = plan_rows(ROWS, settings, tmp_path, {"explored": tmp_path / "memory"})
    assert left_out.left_out == "it needs --raw-memory"


def test_a_table_with_a_slip_is_refused_with_its_place(tmp_path: Path) -> None:
    table = tmp_path / "rows.yaml"
    table.write_text("reference: a\nrows: {a: {title: A, memory: full}}\n")
    with pytest.raises(EvaluationError, match=r"rows\.a\.memory"):
        load_rows(table)
    table.write_text("reference: b\nrows: {a: {title: A}}\n")
    with pytest.raises(EvaluationError, match="no row 'b'"):
        load_rows(table)


def test_the_difference_of_two_rows_counts_episodes_that_both_have() -> None:
    reference = [result(str(number), number < 5) for number in range(10)]
    better = [result(str(number), number < 8) for number in range(9)]
    change, low, high = paired_difference(better, reference) or (0.0, 0.0, 0.0)
    assert change == pytest.approx(3 / 9)
    # Agresti and Min: b = 3, c = 0, n = 9; each of the four cells has half an episode more.
    assert (low, high) == (pytest.approx(-0.0451, abs=1e-4), pytest.approx(0.5906, abs=1e-4))
    assert paired_difference([result("x", None)], reference) is None


def test_means_leave_out_errors_and_an_unknown_price_is_unknown() -> None:
    priced = [result("a", True, steps=4, model_calls=6, input_tokens=100, output_tokens=20, dollars=0.5)]
    effort = describe_effort([*priced, result("b", None, steps=99)])
    assert (effort["mean_steps"], effort["mean_tokens"], effort["mean_dollars"]) == (4, 120, 0.5)
    assert describe_effort([*priced, result("c", False)])["mean_dollars"] is None


def test_an_unknown_row_is_a_usage_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_app(["eval", "ablation", "demo", "--row", "nothing", "--out", str(tmp_path / "out")]) == 2
    assert "There is no row 'nothing'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
