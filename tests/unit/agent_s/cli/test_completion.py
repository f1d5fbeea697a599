"""What the Tab key of a shell completes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_s.cli.app import run_app


def completed(words: str, home: Path) -> list[str]:
    """Return what the program offers for the last of the words, as bash asks for it."""
    argv = words.split(" ")
    asked = {"_AGENT_S_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(argv) - 1)}
    environment = {**os.environ, **asked, "XDG_DATA_HOME": str(home), "XDG_DATA_DIRS": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "agent_s"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_choices_are_completed(tmp_path: Path) -> None:
    assert completed("agent-s ru", tmp_path) == ["run", "runs"]
    assert completed("agent-s runs re", tmp_path) == ["replay", "report"]
    assert completed("agent-s run --conf", tmp_path) == ["--config", "--confirm"]
    assert completed("agent-s run --confirm r", tmp_path) == ["risky"]


def test_settings_runs_and_applications_are_completed(tmp_path: Path) -> None:
    assert completed("agent-s run -c search.ch", tmp_path) == ["search.chat_model="]
    (tmp_path / "agent-s" / "runs" / "20260101-000000-abc").mkdir(parents=True)
    assert completed("agent-s runs show ", tmp_path)[0] == "last"
    (tmp_path / "applications").mkdir()
    (tmp_path / "applications" / "pad.desktop").write_text("[Desktop Entry]\nType=Application\nName=Pad\nExec=sh\n")
    assert completed("agent-s explore s", tmp_path) == ["sh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_one_that_the_shell_can_read(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_app(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_AGENT_S_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)
