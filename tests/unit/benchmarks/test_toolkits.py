from __future__ import annotations

import os
from dataclasses import replace

import pytest

from aci.errors import LaunchFailed
from agent_s.settings import configs_folder
from agent_s.terminal.system_packages import Package, read_packages
from benchmarks.support import person
from benchmarks.support.figures import Figures, NotMeasured
from benchmarks.support.settling import SCENES
from benchmarks.support.truth import toolkits
from benchmarks.support.truth.toolkits import ENOUGH, NAMES, PROGRAMS, Outcome, applications, measure


def test_every_toolkit_is_used_compared_and_installed_by_a_listed_package() -> None:
    listed = {package.names[0] for package in read_packages(configs_folder() / "debian-packages.txt")}
    for name, application in applications().items():
        assert set(application.packages) <= listed, name
        assert "compare" in application.use, name
        assert application.scene in ("", *(scene.name for scene in SCENES)), name
        kinds = {kind for step in application.use if not isinstance(step, str) for kind in step}
        assert kinds <= {"click", "press", "type"}, name
        programs = [part for part in application.argv if part.startswith("{programs}")]
        assert all((PROGRAMS / part.removeprefix("{programs}/")).is_file() for part in programs), name


def test_application_that_cannot_run_here_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Package, "present", property(lambda self: self.names[0] != "gimp"))
    monkeypatch.setattr(person, "obstacle", lambda: "")
    assert "not installed: gimp (make setup-toolkits)" in applications()["GTK 2"].obstacle
    assert applications()["GTK 3"].obstacle == ""
    refusing = replace(applications()["GTK 3"], refuses_root=True)
    assert refusing.obstacle == ""
    monkeypatch.setattr(person, "obstacle", lambda: "there are no user namespaces")
    assert refusing.obstacle == "mousepad refuses to run as root, and there are no user namespaces"


def test_share_counts_those_that_live_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Package, "present", property(lambda self: self.names[0] not in ("gimp", "vlc-bin")))
    outcomes = [Outcome(agreement=1.0)] * 7 + [Outcome(end="crashed", agreement=1.0), Outcome(agreement=ENOUGH - 0.01)]
    left = iter(outcomes)

    def look_at(application: toolkits.Application, looks: int) -> Outcome:
        outcome = next(left, None)
        if outcome is None:
            raise LaunchFailed("no")
        return outcome

    monkeypatch.setattr(toolkits, "look_at", look_at)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    figures = Figures(NAMES)
    measure(figures, quick=True)
    assert figures.values() == {"toolkits_alive": pytest.approx(7 / (len(applications()) - 2), abs=1e-5)}


def test_nothing_is_measured_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Package, "present", False)
    with pytest.raises(NotMeasured):
        measure(Figures(NAMES), quick=True)
