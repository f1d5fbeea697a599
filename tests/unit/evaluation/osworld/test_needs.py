from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evaluation.commands.eval_check import check
from evaluation.osworld.needs import needs_of
from evaluation.osworld.task import TaskFile, load_each, load_task
from evaluation.state.context import Rights

GOLD = "https://files.test/gold.xlsx?id=1"
OSMAP_STYLE: dict[str, Any] = {
    "id": "l3_budget",
    "snapshot": "libreoffice_calc",
    "instruction": "Fill the column in /home/user/budget.xlsx.",
    "source": ["https://example.org/question"],
    "trajectory": "trajectories/",
    "level": "l3",
    "related_apps": ["os"],
    "config": [
        {"type": "download", "parameters": {"files": [{"url": GOLD, "path": "/home/user/budget.xlsx"}]}},
        {"type": "execute", "parameters": {"command": "chmod +x /home/user/a.sh", "shell": True}},
        {"type": "launch", "parameters": {"command": ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]}},
        {"type": "sleep", "parameters": {"seconds": 0.5}},
    ],
    "evaluator": {
        "postconfig": [{"type": "execute", "parameters": {"command": ["sh", "-c", "true"], "stdout": "out.txt"}}],
        "func": ["compare_table", "check_list"],
        "conj": "or",
        "result": [
            {
                "type": "vm_file",
                "path": ["/home/user/b.xlsx", "/home/user/b-Sheet1.csv"],
                "dest": ["b", "c"],
                "multi": True,
            },
            {"type": "cache_file", "path": "out.txt"},
        ],
        "expected": [
            {"type": "cloud_file", "path": GOLD, "dest": "gold.xlsx"},
            {"type": "rule", "rules": {"expect": ["x"]}},
        ],
        "options": [{"rules": [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0", "ignore_case": True}]}, {}],
    },
}


def a_task(folder: Path, **changes: Any) -> TaskFile:
    path = folder / "task.json"
    path.write_text(json.dumps({**OSMAP_STYLE, **changes}))
    return load_task(path)


def missing(task: TaskFile, rights: Rights) -> set[tuple[str, str]]:
    return {(need.kind, need.what) for need in needs_of(task, rights) if not need.met}


def test_file_of_osmap_loads_and_its_unread_keys_are_noted(tmp_path: Path) -> None:
    task = a_task(tmp_path)

    assert (task.level, task.evaluator.conj, len(task.evaluator.checks)) == ("L3", "or", 2)
    assert task.unread == ("ignore_case",)


def test_downloads_and_commands_are_needed_until_they_are_there(tmp_path: Path) -> None:
    task, files = a_task(tmp_path), tmp_path / "files"
    files.mkdir()

    assert missing(task, Rights()) == {("download", GOLD), ("commands", "--allow-commands")}
    (files / f"{uuid.uuid5(uuid.NAMESPACE_URL, GOLD)}_gold.xlsx").write_bytes(b"x")
    assert missing(task, Rights(files=files)) == {("commands", "--allow-commands")}
    assert missing(task, Rights(files=files, commands=True)) == set()


@pytest.mark.parametrize(
    ("step", "kind", "what"),
    [
        ({"type": "chrome_open_tabs", "parameters": {"urls_to_open": ["https://a.test/a"]}}, "live web site", "a.test"),
        ({"type": "chrome_open_tabs", "parameters": {"urls_to_open": ["shop.test"]}}, "live web site", "shop.test"),
        ({"type": "login", "parameters": {"settings_file": "a", "platform": "b"}}, "account", "a Google account"),
        ({"type": "execute", "parameters": {"command": "echo x | sudo -S id", "shell": True}}, "root", "sudo"),
        ({"type": "execute", "parameters": {"command": ["sh", "-c", "xmind -n"]}}, "machine image", "xmind"),
        ({"type": "launch", "parameters": {"command": ["no-such-program"]}}, "program", "no-such-program"),
    ],
)  # fmt: skip
def test_what_is_not_here_is_named(tmp_path: Path, step: dict[str, Any], kind: str, what: str) -> None:
    task = a_task(tmp_path, config=[step])

    assert (kind, what) in missing(task, Rights(commands=True, online=True))


def test_address_of_the_expected_page_is_a_live_web_site(tmp_path: Path) -> None:
    def evaluator(address: str) -> dict[str, Any]:
        return {
            "func": "is_expected_active_tab",
            "result": {"type": "active_url_from_accessTree", "goto_prefix": "https://www."},
            "expected": {"type": "rule", "rules": {"type": "url", "url": address}},
        }

    rights = Rights(commands=True, online=True)

    assert missing(a_task(tmp_path, evaluator=evaluator("https://a.test/x")), rights) == {("live web site", "a.test")}
    assert missing(a_task(tmp_path, evaluator=evaluator("http://localhost:8000/x")), rights) == set()


def test_prepared_state_of_the_machine_is_needed(tmp_path: Path) -> None:
    task = a_task(tmp_path, spec_snapshot="logged_in")

    assert ("machine image", "the snapshot logged_in") in missing(task, Rights(commands=True, online=True))


def test_check_lists_needs_and_names_invalid_files(tmp_path: Path) -> None:
    a_task(tmp_path)
    (tmp_path / "wrong.json").write_text(json.dumps({**OSMAP_STYLE, "id": "b", "evaluator": {"func": "no_metric"}}))

    done = CliRunner().invoke(
        check, [str(tmp_path), "--online", "--files", str(tmp_path / "files"), "--json"], standalone_mode=False
    )

    report = json.loads(done.output)
    assert done.return_value == 1
    assert (report["files"], report["runs"], report["missing"]) == (2, 0, {"commands": 1})
    assert "unknown metric 'no_metric'" in report["invalid"][0]["problem"]


def test_check_without_a_folder_to_download_into_is_an_error(tmp_path: Path) -> None:
    a_task(tmp_path)

    done = CliRunner().invoke(check, [str(tmp_path), "--online"])

    assert done.exit_code == 2
    assert "--online needs --files DIR" in done.output


@pytest.mark.skipif("OSMAP_TASKS" not in os.environ, reason="needs OS-MAP's task files (OSMAP_TASKS=FOLDER)")
def test_all_files_of_osmap_load() -> None:
    tasks, problems = load_each(Path(os.environ["OSMAP_TASKS"]))

    assert not problems
    assert len(tasks) >= 382
