"""A desktop of which a second one is kept ready."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from aci.applications.launching import Process
from aci.desktop.virtual import VirtualDesktop
from aci.errors import LaunchFailed
from exploration.search.reserve import SLOW_S, ReserveDesktop

ARGV = ("office", "sample.txt")


class Program:
    """A program that was started on a desktop."""

    returncode: int | None = None

    def __init__(self, desktop: Private, argv: tuple[str, ...]) -> None:
        self.desktop, self.argv = desktop, argv
        self.documents = {path.name for path in desktop.home.iterdir()}


class Private:
    """Stands in for a virtual desktop, and notes what happens to it."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.home = world.folder / f"home{number}"
        self.environment: dict[str, str] = {"DISPLAY": f":{number}"}
        self.did: list[str] = []

    def start(self) -> None:
        self.home.mkdir(exist_ok=True)
        self.did.append("start")

    def stop(self) -> None:
        self.did.append("stop")

    def reset(self) -> None:
        self.did.append("reset")

    def launch(self, argv: Sequence[str], *_: Any) -> Program:
        self.did.append("launch")
        self.world.now += self.world.takes_s
        if self.world.fails and len(self.world.started) >= 1:
            raise LaunchFailed("it does not start a second time")
        self.world.started.append(Program(self, tuple(argv)))
        return self.world.started[-1]


class World:
    """Desktops on which a program takes a while to start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now, self.takes_s = 0.0, SLOW_S
        self.fails = False
        self.made: list[Private] = []
        self.started: list[Program] = []

    def make(self) -> VirtualDesktop:
        self.made.append(Private(self, len(self.made)))
        return cast(VirtualDesktop, self.made[-1])

    def launch(self, desktop: ReserveDesktop, argv: Sequence[str] = ARGV) -> Program:
        return cast(Program, cast(Process, desktop.launch(argv)))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def desktop(world: World) -> Iterator[ReserveDesktop]:
    with ReserveDesktop(world.make, clock=lambda: world.now) as desktop:
        yield desktop


def test_program_runs_already_after_a_reset(world: World, desktop: ReserveDesktop) -> None:
    one, other = world.made
    first = world.launch(desktop)
    assert (first.desktop, desktop.home) == (one, one.home)
    desktop.reset()
    before = len(world.started)
    second = world.launch(desktop)
    assert (second.desktop, desktop.home, desktop.environment) == (other, other.home, other.environment)
    assert second in world.started[:before]
    assert second.documents == {"sample.txt"}
    desktop.reset()
    assert world.launch(desktop).desktop is one
    assert "reset" not in one.did + other.did
    assert one.did[:5] == ["start", "launch", "stop", "start", "launch"]


def test_program_that_starts_quickly_is_started_when_it_is_needed(world: World, desktop: ReserveDesktop) -> None:
    one, other = world.made
    world.takes_s = SLOW_S / 2
    world.launch(desktop)
    desktop.reset()
    assert world.launch(desktop).desktop is one
    assert (one.did, other.did) == (["start", "launch", "reset", "launch"], [])


def test_start_that_fails_ahead_is_made_again(world: World, desktop: ReserveDesktop) -> None:
    one = world.made[0]
    world.fails = True  # from the second time on
    world.launch(desktop)
    desktop.reset()
    with pytest.raises(LaunchFailed):
        world.launch(desktop)
    assert one.did == ["start", "launch", "reset", "launch"]


def test_program_that_crashed_meanwhile_is_started_again(world: World, desktop: ReserveDesktop) -> None:
    world.launch(desktop)
    desktop.reset()
    crashed = world.started[1]
    crashed.returncode = -11
    assert world.launch(desktop) is not crashed
    assert world.made[1].did[-2:] == ["reset", "launch"]


def test_other_program_does_not_start_beside_the_one_that_runs_already(world: World, desktop: ReserveDesktop) -> None:
    world.launch(desktop)
    desktop.reset()
    assert world.launch(desktop, ["writer"]).argv == ("writer",)
    assert world.made[1].did[-2:] == ["reset", "launch"]


def test_both_desktops_are_stopped(world: World) -> None:
    with pytest.raises(KeyError), ReserveDesktop(world.make, clock=lambda: world.now) as desktop:
        world.launch(desktop)
        raise KeyError
    assert [each.did[-1] for each in world.made] == ["stop", "stop"]
