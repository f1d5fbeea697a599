from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from agent_s.records import Status
from evaluation.osworld.runner import StateChecker, combined
from evaluation.osworld.task import load_task
from evaluation.state.context import TaskContext

IS_DRAFT = {
    "func": "exact_match",
    "result": {"type": "vm_file_text", "path": "~/a.txt"},
    "expected": {"type": "rule", "rules": {"expected": "draft"}},
}


def checker(context: TaskContext, evaluator: dict[str, Any]) -> StateChecker:
    path = context.folder / "task.json"
    path.write_text(json.dumps({"id": "t", "instruction": "x", "evaluator": evaluator}))
    return StateChecker(load_task(path), context)


def test_right_state_is_verified_with_evidence(context: TaskContext, home: Path) -> None:
    (home / "a.txt").write_text("draft\n")

    verdict = checker(context, IS_DRAFT)("done")

    assert (verdict.verified, verdict.by, verdict.evidence) == (True, "state check", ("~/a.txt: 'draft'",))


@pytest.mark.parametrize(("text", "reason"), [("drift", "found 'drift'"), (None, "~/a.txt does not exist")])
def test_wrong_state_is_not_verified_and_the_reason_names_it(
    context: TaskContext, home: Path, text: str | None, reason: str
) -> None:
    if text is not None:
        (home / "a.txt").write_text(text)

    verdict = checker(context, IS_DRAFT)("done")

    assert verdict.verified is False
    assert reason in verdict.reason


def test_right_state_counts_unless_the_agent_gave_up(context: TaskContext, home: Path) -> None:
    (home / "a.txt").write_text("draft")
    check = checker(context, IS_DRAFT)

    assert {status: check(status).verified for status in get_args(Status)} == {
        "done": True,
        "out_of_budget": True,
        "stopped": True,
        "error": True,
        "failed": False,
        "infeasible": False,
    }


def test_infeasible_task_is_right_only_when_the_agent_gave_up(context: TaskContext) -> None:
    check = checker(context, {"func": "infeasible"})

    assert {status for status in get_args(Status) if check(status).verified} == {"failed", "infeasible"}


@pytest.mark.parametrize(
    ("conj", "right", "verified"),
    [("and", "ab", True), ("and", "a", False), ("or", "b", True), ("or", "", False)],
)
def test_several_checks_are_combined(context: TaskContext, home: Path, conj: str, right: str, verified: bool) -> None:
    for name in "ab":
        (home / f"{name}.txt").write_text("draft" if name in right else "other")
    check = checker(
        context,
        {
            "func": ["exact_match", "exact_match"],
            "result": [{"type": "vm_file_text", "path": f"~/{name}.txt"} for name in "ab"],
            "expected": [IS_DRAFT["expected"]] * 2,
            "conj": conj,
        },
    )

    verdict = check("done")

    assert verdict.verified is verified
    assert len(verdict.evidence) == 2


@pytest.mark.parametrize(
    ("scores", "conj", "total"),
    [([1.0, 1.0], "and", 1.0), ([1.0, 0.0], "and", 0.0), ([1.0, 0.5], "and", 0.75), ([0.0, 0.5], "or", 0.5)],
)
def test_scores_are_combined_as_osworld_does(scores: list[float], conj: str, total: float) -> None:
    assert combined(scores, conj) == total


def test_postconfig_runs_before_the_check(context: TaskContext) -> None:
    save = {"type": "execute", "parameters": {"command": ["sh", "-c", "printf draft > a.txt"]}}

    assert checker(context, {**IS_DRAFT, "postconfig": [save]})("done").verified is True


def test_rules_contain_the_values_of_the_session(context: TaskContext, home: Path) -> None:
    (home / "a.txt").write_text("KQT-4821")
    evaluator = {**IS_DRAFT, "expected": {"type": "rule", "rules": {"expected": "{code}"}}}
    check = checker(context, evaluator)

    assert check("done").verified is False
    context.values["code"] = "KQT-4821"
    assert check("done").verified is True


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "postconfig": (
        {**IS_DRAFT, "postconfig": [{"type": "execute", "parameters": {"command": ["gone"]}}]},
        "step 'execute': there is no program 'gone'",
    ),
    "getter": ({**IS_DRAFT, "result": {"type": "server_submissions"}}, "the task has no server"),
    "expected getter": (
        {
            "func": "compare_text_file",
            "result": {"type": "vm_file", "path": "~/a.txt"},
            "expected": {"type": "vm_file", "path": "~/gone.txt"},
        },
        "the expected value of compare_text_file is absent",
    ),
    "metric": ({**IS_DRAFT, "func": "check_include_exclude", "expected": {"type": "rule", "rules": {"include": ["x"]}},
                "result": {"type": "vm_file", "path": "~/a.txt"}}, "judges a text"),
    "anything else": ({**IS_DRAFT, "func": "compare_text_file", "expected": {"type": "vm_file", "path": "~/a.txt"}},
                      "has no attribute"),
}  # fmt: skip


@pytest.mark.parametrize(("evaluator", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_check_is_not_checkable_and_gives_its_reason(
    context: TaskContext, home: Path, evaluator: dict[str, Any], reason: str
) -> None:
    (home / "a.txt").write_text("draft")
    check = checker(context, evaluator)

    verdict = check("done")

    assert verdict.verified is None
    assert verdict.reason.startswith("the state check broke: ")
    assert reason in verdict.reason
    assert check.problem == verdict.reason
