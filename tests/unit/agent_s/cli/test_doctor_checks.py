from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from aci.desktop.folders import Owner, create_folder, desktop_folders
from aci.processes import MARK, boot_id
from agent_s.cli.doctor_checks import (
    accessibility,
    leftovers,
    memory,
    models,
    own_screen,
    root_user,
    runs_folder,
    search,
    text_recognition,
)
from agent_s.settings import load_settings


def test_search_is_optional_unless_configured() -> None:
    [finding] = search(load_settings())
    assert (finding.state, finding.name) == ("optional", "web search")


def test_search_that_does_not_answer_is_named_with_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        chosen = load_settings(overrides={"search.engine": "searxng", "search.url": url})
        [answers] = search(chosen)
    assert answers.state == "ok"
    [silent] = search(chosen)
    assert silent.state == "missing"
    assert url in silent.detail
    [unset] = search(load_settings(overrides={"search.engine": "searxng"}))
    assert (unset.state, "search.url" in unset.detail) == ("missing", True)


def test_the_configured_model_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    [default] = models(load_settings())
    assert (default.state, default.detail.startswith("offline, since no API key")) == ("ok", True)
    [keyless] = models(load_settings(overrides={"model": "anthropic:some"}))
    assert (keyless.state, "ANTHROPIC_API_KEY" in keyless.detail) == ("missing", True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    [silent] = models(load_settings(overrides={"model": f"{url}#some"}))
    assert (silent.state, url in silent.detail) == ("missing", True)


def test_a_place_that_cannot_be_written_is_missing_before_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = load_settings(
        overrides={"memory.path": tmp_path / "file" / "memory.sqlite", "runs_dir": tmp_path / "file" / "runs"}
    )
    found = [*memory(settings), *runs_folder(settings)]
    assert [(one.name, one.state) for one in found] == [("memory", "missing"), ("runs", "missing")]
    assert all(str(tmp_path / "file") in one.detail for one in found)


def test_the_desktop_of_an_owner_that_is_gone_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with subprocess.Popen(["sleep", "1000"], env={MARK: create_folder().id}) as process:
            (place,) = desktop_folders()
            place.write_owner(Owner(pid=process.pid, started=0, boot=boot_id()))
            [found] = leftovers()
        assert (found.state, found.detail) == ("ok", "1 desktop with 1 process removed")
        assert not place.path.exists()
        [nothing] = leftovers()
        assert nothing.detail == "none"


def test_only_the_configured_engine_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # no tesseract
    monkeypatch.setattr("aci.ocr.text_engine.find_spec", lambda module: None)
    needed = {one.name: one.state for one in text_recognition(load_settings(overrides={"desktop.ocr": "tesseract"}))}
    assert needed["text recognition tesseract"] == "missing"
    assert needed["text recognition rapidocr"] == "optional"
    rest = list(text_recognition(load_settings()))
    assert {one.state for one in rest} == {"optional"}
    assert all(one.hint and one.hint not in one.detail for one in rest)


def test_configured_back_end_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aci.accessibility.reference.pyatspi.SYSTEM_PYTHON", "/nonexistent/python3")
    monkeypatch.setattr("aci.accessibility.dbus.bus.ADDRESS_LIMIT_S", 0.0)
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
    states = {one.name: one.state for one in accessibility(load_settings(), nowhere)}
    assert states == {"accessibility dbus": "missing", "accessibility pyatspi": "optional"}
    asked = list(accessibility(load_settings(overrides={"desktop.accessibility": "pyatspi"}), nowhere))
    assert asked[1].state == "missing"
    assert "python3-pyatspi" in asked[1].hint


def test_wayland_session_is_reported_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setenv("DISPLAY", ":7")
    [finding] = own_screen()
    assert "XWayland windows of DISPLAY :7" in finding.detail
    assert "--virtual" in finding.hint
    monkeypatch.delenv("DISPLAY")
    [without] = own_screen()
    assert "without XWayland" in without.detail


def test_applications_that_root_cannot_use_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert list(root_user()) == []
    for name in ("vlc", "chromium", "mousepad"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    [finding] = root_user()
    assert finding.state == "optional"
    assert finding.detail == "will not start: vlc; without a sandbox: chromium"
    assert "ordinary user" in finding.hint
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert list(root_user()) == []
