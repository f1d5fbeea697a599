"""An ablation on real desktops, with the offline model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_s.cli.app import run_app

TASK = {
    "id": "calculator-product", "instruction": "Press 7.", "related_apps": ["mousepad"],
    "config": [{"type": "launch", "parameters": {"command": ["mousepad"]}}],
    "evaluator": {
        "func": "exact_match",
        "result": {"type": "vm_file_text", "path": "~/Documents/draft.txt"},
        "expected": {"type": "rule", "rules": {"expected": "hello"}},
    },
}  # fmt: skip


@pytest.mark.slow
def test_an_ablation_runs_is_continued_and_compares_its_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    for name in ("draft", "nothing"):
        said = "Type 'hello' and save the file as draft.txt in Documents." if name == "draft" else "Type 'nothing'."
        (tasks / f"{name}.json").write_text(json.dumps({**TASK, "id": name, "instruction": said}))
    command = [
        "eval",
        "ablation",
        str(tasks),
        "--model",
        "offline",
        "--allow-commands",
        "--out",
        str(tmp_path / "out"),
        "--json",
        "-q",
    ]
    rows = ["--row", "agent-s", "--row", "aci-only", "--row", "without-web"]
    assert run_app([*command, *rows]) == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert (shown["agent-s"]["episodes"], shown["agent-s"]["success_rate"]) == (2, 0.5)
    assert shown["without-web"]["same_as"] == "agent-s"
    assert shown["aci-only"]["difference"][0] == shown["aci-only"]["success_rate"] - 0.5
    before = (tmp_path / "out/agent-s/results.jsonl").read_bytes()
    assert run_app([*command, *rows]) == 0
    assert (tmp_path / "out/agent-s/results.jsonl").read_bytes() == before
