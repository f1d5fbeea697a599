"""Demonstrations in real applications, shown by a second X client and replayed with other values."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from aci.acting.wording import describe_action
from aci.desktop.cleanup import belonging_to
from aci.desktop.virtual import VirtualDesktop
from aci.errors import ConnectionLost
from aci.input.backends import open_input_device
from agent_s import AgentS, Settings, Task, load_settings
from agent_s.demonstration.capture import Capture
from agent_s.demonstration.demonstration import Demonstration, finish, read_demonstration
from agent_s.errors import TrajectoryError
from agent_s.memory import open_memory
from agent_s.records import Outcome
from agent_s.runs.reading import read_trajectory
from agent_s.terminal.repeating import repeatable, with_values
from benchmarks.support.showing import Person, show

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

DATA = Path(__file__).parents[2] / "data"
PYTHON = "/usr/bin/python3"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(
        None,
        {"runs_dir": str(tmp_path / "runs"), "memory.path": str(tmp_path / "memory"), "replay": "only"},
    )


def recorded(
    argv: Sequence[str], task: Callable[[Person], None], wording: str, settings: Settings
) -> tuple[Demonstration, Path]:
    with VirtualDesktop(ocr=None) as desktop:
        desktop.launch(argv)
        return show(desktop, task, wording, settings.runs_folder)


def replayed(task: str, desktop: VirtualDesktop, settings: Settings) -> Outcome:
    with open_memory(settings) as memory:
        return AgentS.from_settings(settings, desktop, memory=memory).run(Task(instruction=task))


def write_note(person: Person) -> None:
    person.type("Milk and eggs")
    person.press("alt+f", "Escape")  # a wrong menu
    person.press("ctrl+s")
    person.find("text", "Name:")
    person.type("notes.txt")
    person.press("Return")
    person.wait(lambda seen: any(window.title.endswith("notes.txt - Mousepad") for window in seen.windows))


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def test_shown_note_is_written_again_with_another_text_and_name(settings: Settings) -> None:
    needs("mousepad")
    demonstration, folder = recorded(["mousepad"], write_note, "Write a note", settings)
    assert demonstration.lines == (
        'switch to "Mousepad"',
        'type "Milk and eggs"',
        "press ctrl+s",
        'type "notes.txt"',
        "press Return",
    )
    assert demonstration.left_out == ("press alt+f", "press Escape")
    assert demonstration.values == ("Milk and eggs", "notes.txt")
    unnamed = read_demonstration(folder).named("Write a note", {})
    with open_memory(settings) as memory:
        assert "is not in the task" in finish(unnamed, folder, memory)
        stats = memory.stats()
    assert stats.narrative + stats.episodic + stats.skill == 0, "what cannot be replayed waits for a second try"
    final = read_demonstration(folder).named("Write a note", {"Milk and eggs": "text", "notes.txt": "file"})
    with open_memory(settings) as memory:
        assert finish(final, folder, memory) == ""
    with pytest.raises(TrajectoryError):
        read_demonstration(folder)
    started = repeatable("last", read_trajectory(folder).events)
    assert started.model == "demonstration"
    task = with_values(started.task.instruction, {"Milk and eggs": "Call Bob", "notes.txt": "calls.txt"})
    with VirtualDesktop(ocr=None) as desktop:  # with no editor open
        outcome = replayed(task, desktop, settings)
        assert (outcome.status, outcome.usage.model_calls) == ("done", 0), outcome.reason
        assert (desktop.home / "calls.txt").read_text("utf-8") == "Call Bob"


def test_password_is_in_no_file(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sign_in(person: Person) -> None:
        person.click("text", "User")
        person.type("ada")
        person.click("password text", "Password")
        person.type("hunter")  # with a pause inside
        person.type("22-x")
        person.click("push button", "Sign in")
        person.find("label", "Signed in as ada")

    written = tmp_path / "signed-in"
    program = [PYTHON, str(DATA / "gtk3_login.py"), str(written)]
    demonstration, folder = recorded(program, sign_in, 'Sign in as "ada"', settings)
    assert written.read_text("utf-8") == "ada True 10"
    final = demonstration.named(demonstration.wording, {})
    assert "{{secret:PASSWORD}}" in final.wording
    with open_memory(settings) as memory:
        assert finish(final, folder, memory) == ""
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != written]
    assert len(files) > 4
    assert [path for path in files if b"hunter" in path.read_bytes() or b"22-x" in path.read_bytes()] == []

    monkeypatch.setenv("AGENT_S_SECRET_PASSWORD", "hunter-and-more")
    with VirtualDesktop(ocr=None) as desktop:
        desktop.launch(program)
        outcome = replayed(final.wording.replace("ada", "bob"), desktop, settings)
    assert outcome.status == "done", outcome.reason
    assert written.read_text("utf-8") == "bob True 15"


def test_a_password_that_is_typed_twice_and_then_shown_is_in_no_file(settings: Settings, tmp_path: Path) -> None:
    def choose_password(person: Person) -> None:
        for which in (0, 1):
            person.click("password text", which=which)
            person.type("hunter22-x")
        person.click("push button", "Show")
        person.find("text")

    program = [PYTHON, str(DATA / "gtk3_new_password.py")]
    demonstration, _ = recorded(program, choose_password, "Choose a password", settings)
    assert demonstration.lines.count('type "{{secret:PASSWORD}}"') == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [path for path in files if b"hunter" in path.read_bytes()] == []


def test_a_password_that_was_corrected_and_then_shown_is_in_no_file(settings: Settings, tmp_path: Path) -> None:
    def choose_password(person: Person) -> None:
        person.click("password text")
        person.type("hunter33")
        person.press("BackSpace")
        person.type("77")
        person.click("push button", "Show")
        person.find("text")

    program = [PYTHON, str(DATA / "gtk3_new_password.py")]
    recorded(program, choose_password, "Choose a password", settings)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter" in path.read_bytes()] == []


def test_what_was_shown_before_the_screen_went_away_is_kept(settings: Settings) -> None:
    needs("mousepad")
    with VirtualDesktop(ocr=None) as desktop:
        desktop.launch(["mousepad"])
        (server,) = [pid for pid in belonging_to(desktop.id) if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n"]
        capture = Capture(desktop, desktop.x11.applications)
        capture.on_shown = lambda steps: os.kill(server, signal.SIGKILL)
        with closing(open_input_device("xtest", desktop.display)) as device:
            device.type_text("Milk", lambda: None)
        with pytest.raises(ConnectionLost):
            capture.run()
    assert [describe_action(step.action) for step in capture.steps] == ['switch to "Mousepad"', 'type "Milk"']
