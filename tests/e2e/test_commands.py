"""The commands that inspect and manage runs, memory and the machine."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import User, new_user, recording

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def recorded_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder in which one run was recorded and learned from."""
    folder = tmp_path_factory.mktemp("recorded")
    with new_user(folder / "home") as user:
        model = recording(folder / "model", "Wait a moment", [{"action": "wait", "time": 0}])
        assert user.agent_s("run", "Wait a moment", "--model", model).returncode == 0
        yield user.home


@pytest.fixture
def experienced(user: User, recorded_home: Path) -> User:
    """A user with one run and what was learned from it."""
    shutil.copytree(recorded_home, user.home, symlinks=True, dirs_exist_ok=True)
    return user


def test_runs_are_listed_shown_and_reported(experienced: User, tmp_path: Path) -> None:
    (run,) = json.loads(experienced.agent_s("runs", "list", "--json").stdout)
    assert (run["instruction"], run["status"], run["steps"]) == ("Wait a moment", "done", 1)
    assert "Wait a moment" in experienced.call("runs", "list").stdout

    shown = json.loads(experienced.call("runs", "show", run["run_id"][:6], "--json").stdout)
    assert next(event["kind"] for event in shown["events"]) == "run_started"
    assert shown["events"][-1]["outcome"]["run_id"] == run["run_id"]

    page = tmp_path / "page.html"
    reported = experienced.agent_s("runs", "report", "last", "--output", str(page))
    assert reported.stdout.strip() == str(page)
    assert "data:image/png;base64," in page.read_text()
    assert experienced.call("runs", "show", "nothing").returncode == 1


def test_experiences_are_shown_searched_transferred_and_deleted(experienced: User, tmp_path: Path) -> None:
    listed = json.loads(experienced.agent_s("memory", "list", "--json").stdout)
    assert [experience["kind"] for experience in listed] == ["narrative", "episodic"]
    narrative = listed[0]

    shown = experienced.call("memory", "show", narrative["id"])
    assert "instruction: Wait a moment" in shown.stdout
    assert "run_id: " in shown.stdout
    page = tmp_path / "steps.html"
    values = json.loads(experienced.call("memory", "show", listed[1]["id"], "--page", str(page), "--json").stdout)
    assert all(Path(path).is_file() for path in values["screenshots"]) and values["screenshots"]
    assert "data:image/png;base64," in page.read_text()
    found = json.loads(experienced.call("memory", "search", "how to wait a moment", "--json").stdout)
    assert narrative["id"] in [experience["id"] for experience in found]
    assert "Wait a moment" in experienced.call("memory", "list", "--kind", "narrative").stdout

    file = tmp_path / "experience.jsonl"
    assert json.loads(experienced.agent_s("memory", "export", str(file), "--json").stdout)["exported"] == 2
    assert experienced.call("memory", "forget", narrative["id"]).returncode == 0
    assert experienced.call("memory", "show", narrative["id"]).returncode == 1
    assert experienced.call("memory", "forget", narrative["id"]).returncode == 1
    back = json.loads(experienced.call("memory", "import", str(file), "--json").stdout)
    assert back == {"added": 1, "present": 1}

    asked = experienced.call("memory", "forget", "--all", input="n\n")
    assert asked.returncode == 130
    assert json.loads(experienced.call("memory", "stats", "--json").stdout)["narrative"] == 1
    run_id = narrative["provenance"]["run_id"]
    assert json.loads(experienced.call("memory", "forget", "--run", run_id, "--yes", "--json").stdout) == {
        "forgotten": 2,
        "unknown": 0,
    }
    assert json.loads(experienced.call("memory", "list", "--json").stdout) == []


def test_forgotten_experiences_can_be_restored_until_memory_is_vacuumed(experienced: User) -> None:
    (narrative,) = json.loads(experienced.call("memory", "list", "--kind", "narrative", "--json").stdout)
    of_app = ("memory", "forget", "--text", "wait a MOMENT")
    assert json.loads(experienced.call(*of_app, "--count", "--json").stdout)["count"] >= 1
    assert experienced.call(*of_app, "--yes").returncode == 0
    assert experienced.call("memory", "show", narrative["id"]).returncode == 1
    assert experienced.call("memory", "forget", "--undo").returncode == 0
    assert experienced.call("memory", "quarantine", narrative["id"], "--reason", "old").returncode == 0
    (listed,) = json.loads(experienced.call("memory", "list", "--state", "quarantined", "--json").stdout)
    assert listed["provenance"]["state_reason"] == "old"
    assert experienced.call("memory", "release", narrative["id"]).returncode == 0
    assert experienced.call("memory", "release", narrative["id"]).returncode == 1
    assert experienced.call("memory", "forget", narrative["id"]).returncode == 0
    assert json.loads(experienced.call("memory", "vacuum", "--json").stdout)["deleted"] == 1
    assert experienced.call("memory", "forget", "--undo").returncode == 1
    assert json.loads(experienced.call("memory", "check", "--json").stdout) == {"sound": True, "problems": []}


def test_readable_experiences_of_a_damaged_memory_are_salvaged(experienced: User, tmp_path: Path) -> None:
    path = Path(json.loads(experienced.call("memory", "stats", "--json").stdout)["path"])
    with path.open("rb+") as file:
        # The last page: past the tables that name the others.
        file.seek(path.stat().st_size - 4096)
        file.write(b"\xa5" * 4096)
    assert "--salvage" in experienced.call("memory", "check").stderr
    done = json.loads(experienced.call("memory", "check", "--salvage", str(tmp_path / "s.jsonl"), "--json").stdout)
    assert done["saved"] + len(done["lost"]) == 2
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    added = json.loads(experienced.call("memory", "import", str(tmp_path / "s.jsonl"), "--json").stdout)
    assert added == {"added": done["saved"], "present": 0}


def test_importing_a_file_that_is_not_an_export_changes_nothing(experienced: User, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text("{}\n")
    done = experienced.call("memory", "import", str(tmp_path / "other.jsonl"))
    assert done.returncode == 1
    assert "not an export" in done.stderr
    assert len(json.loads(experienced.call("memory", "list", "--json").stdout)) == 2


def test_doctor_finds_all_requirements(experienced: User) -> None:
    done = experienced.agent_s("doctor", "--json")
    report = json.loads(done.stdout)
    checks = {check["name"]: check for check in report["checks"]}
    assert done.returncode == 0, done.stdout
    assert report["ok"] is True
    assert checks["xvfb"]["state"] == "ok"
    assert checks["memory"]["detail"].startswith("1 narrative and 1 episodic")
    assert checks["virtual desktop"]["detail"].startswith("starts in")
    assert checks["your screen"]["state"] == "optional"
    assert checks["accessibility dbus"]["state"] == "ok"
    assert checks["accessibility pyatspi"]["state"] in ("ok", "optional")
    assert checks["text recognition rapidocr"]["detail"].endswith("tested with 'Open file')")
    assert not [check for check in report["checks"] if check["state"] == "missing"]


@pytest.mark.slow
def test_doctor_reports_a_damaged_memory_and_permissions_that_are_too_wide(experienced: User) -> None:
    experienced.memory.parent.chmod(0o755)
    experienced.runs.chmod(0o777)
    done = experienced.agent_s("doctor")
    assert done.returncode == 3
    assert f"chmod 700 {experienced.memory.parent}" in done.stdout
    assert f"chmod 700 {experienced.runs}" in done.stdout

    experienced.memory.parent.chmod(0o700)
    experienced.runs.chmod(0o700)
    for file in experienced.memory.parent.glob("memory.sqlite-*"):
        file.unlink()
    experienced.memory.write_bytes(b"no database")
    done = experienced.agent_s("doctor")
    assert done.returncode == 3
    assert "✗ memory" in done.stdout
    assert "Missing: memory." in done.stdout


def test_without_a_command_tasks_are_read_from_standard_input(experienced: User) -> None:
    done = experienced.agent_s(input="\nFrobnicate the flux capacitor at once\n")
    assert done.returncode == 0, done.stderr
    assert "Task: Frobnicate the flux capacitor at once" in done.stdout
    assert done.stdout.count("shows every step") == 1
    assert len(json.loads(experienced.call("runs", "list", "--json").stdout)) == 2


def test_a_memory_of_another_program_is_refused(user: User) -> None:
    user.memory.parent.mkdir(parents=True)
    with sqlite3.connect(user.memory) as other:
        other.execute("CREATE TABLE theirs (x)")
    done = user.agent_s("memory", "list")
    assert done.returncode == 3
    assert "another program" in done.stderr


def test_a_home_that_cannot_be_written_is_status_3(user: User, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (user.home / ".local").write_text("a file where a folder should be")
    else:
        user.home.chmod(0o500)
    done = user.agent_s("memory", "list")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "choose another" in done.stderr


class TestSetup:
    """`scripts/setup` on machines that lack things. PATH holds only stand-ins, so it cannot change this machine."""

    SCRIPT = Path(__file__).parents[2] / "scripts/setup"

    def setup(self, tmp_path: Path, **programs: str) -> subprocess.CompletedProcess[str]:
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in ("bash", "dirname", "grep", "find", "id", "head", "env", "cat"):
            found = next(Path(folder) / name for folder in ("/usr/bin", "/bin") if (Path(folder) / name).exists())
            (tools / name).symlink_to(found)
        for name, body in programs.items():
            (tools / name.replace("_", "-")).write_text(f"#!/bin/bash\n{body}\n")
            (tools / name.replace("_", "-")).chmod(0o755)
        environment = {"PATH": str(tools), "VENV": str(tmp_path / "venv"), "HOME": str(tmp_path)}
        return subprocess.run([self.SCRIPT], env=environment, capture_output=True, text=True, timeout=60)

    def test_without_root_it_prints_the_command_to_run(self, tmp_path: Path) -> None:
        done = self.setup(tmp_path, id="echo 1000", apt_get="exit 99", dpkg_query="exit 1", sudo="exit 1")
        assert done.returncode == 1
        assert "sudo apt-get install -y --no-install-recommends xvfb dbus-daemon" in done.stderr
        assert "|" not in done.stderr.partition("sudo apt-get")[2]
        assert not (tmp_path / "venv").exists()

    def test_without_apt_get_it_lists_the_packages(self, tmp_path: Path) -> None:
        done = self.setup(tmp_path, dpkg_query="exit 1")
        assert done.returncode == 1
        assert "xvfb dbus-daemon" in done.stderr
        assert "package manager" in done.stderr

    def test_it_installs_only_missing_packages_by_their_names_on_this_system(self, tmp_path: Path) -> None:
        log = tmp_path / "apt.log"
        done = self.setup(
            tmp_path,
            id="echo 0",
            dpkg_query='case "$4" in chromium*|openbox) exit 1;; *) echo install ok installed;; esac',
            apt_cache='case "$2" in chromium) echo "  Candidate: (none)";; *) echo "  Candidate: 1.0";; esac',
            apt_get=f'echo "$@" >> {log}',
            python3="exit 1",
        )
        assert done.returncode == 1  # there is still no Python
        (installed,) = log.read_text().splitlines()
        assert installed.endswith("--no-install-recommends openbox chromium-browser python3 python3-venv")
