"""Attempts on a real application."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from exploration.search.controls import offer
from exploration.search.navigator import Navigator, new_desktop
from exploration.search.places import Path
from exploration.search.prober import Probe, Prober
from exploration.search.records import Attempt, Offer
from exploration.search.states import Look

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(shutil.which("mousepad") is None, reason="needs mousepad"),
]


@pytest.fixture(scope="module")
def navigator() -> Iterator[Navigator]:
    with new_desktop() as desktop:
        yield Navigator(desktop, ("mousepad", "sample.txt"))


def offered(look: Look, key: str) -> Offer:
    found = next(each for each in look.candidates if each.control.key == key)
    return offer(found, look.observation, look.place)


def probe(prober: Prober, path: Path, look: Look, key: str) -> Probe:
    wanted = offered(look, key)
    return prober.attempt(path, wanted.control, wanted.step, fresh=False)


def as_attempt(path: Path, made: Probe, key: str, look: Look) -> Attempt:
    return Attempt(
        key=key,
        control=offered(look, key).control,
        start="",
        path=(*path, made.step),
        classification=made.finding.classification,
        effect=made.finding.effect,
    )


@pytest.mark.slow
def test_attempts_on_a_menu_a_switch_and_a_text(navigator: Navigator) -> None:
    prober = Prober(navigator)
    start = navigator.restart()
    view = probe(prober, (), start, "menu:View")
    assert view.finding.classification == "continue"
    assert view.after is not None
    path: Path = (view.step,)
    numbers = probe(prober, path, view.after, "menu item:Line Numbers")
    assert numbers.finding.classification == "terminal"
    assert ("setting", "org/xfce/mousepad/preferences/view/show-line-numbers", "true") in [
        (change.kind, change.what, change.after) for change in numbers.finding.effect
    ]

    bar = probe(prober, path, view.after, "menu item:Toolbar")
    assert (bar.finding.classification, len(bar.finding.offers) > 9) == ("continue", True)
    again = probe(prober, path, view.after, "menu item:Statusbar")
    assert again.finding.classification == "terminal"
    assert navigator.restarts == 1, "what was switched was not switched back"

    for switch, name in ((numbers, "menu item:Line Numbers"), (again, "menu item:Statusbar")):
        verified = prober.verify(as_attempt(path, switch, name, view.after), fresh=navigator.restarts == 1)
        assert (verified.problem, len(verified.steps)) == ("", 2)
        assert list(verified.steps[-1].end.settings.values()) == ["true"], "no element shows that it is on"
    assert navigator.restarts == 2, "the second was not verified where the first had been"

    edit = probe(prober, (), start, "menu:Edit")
    assert edit.after is not None
    path = (edit.step,)
    deleted = probe(prober, path, edit.after, "menu item:Delete Line")
    assert [change.after for change in deleted.finding.effect if change.kind == "text"] == ["Gamma delta\nepsilon\n"]
    assert str(navigator.place) not in deleted.step.model_dump_json(), "steps name this desktop's own home"

    restarts = navigator.restarts
    undone = navigator.go(path)
    assert isinstance(undone, Look)
    assert [e.text for e in undone.observation.elements if e.role == "text"] == ["alpha beta\nGamma delta\nepsilon\n"]
    assert (navigator.restarts, navigator.tainted) == (restarts, False), "what was deleted was not undone"
    assert prober.verify(as_attempt(path, deleted, "menu item:Delete Line", edit.after), fresh=False).problem == ""
    assert navigator.restarts == restarts, "what differs is only what can be undone and redone"

    assert isinstance(navigator.go(path), Look)
    assert isinstance(navigator.act(deleted.step, edit.after), Look)
    assert isinstance(navigator.go(path), Look)
    assert navigator.restarts == restarts + 1, "a changed text was taken for the start"


@pytest.mark.slow
def test_a_place_that_is_recognized_by_its_picture_is_that_place(navigator: Navigator) -> None:
    prober = Prober(navigator)
    navigator.strict = False
    start = navigator.restart()
    menu = probe(prober, (), start, "menu:Help")
    assert menu.after is not None
    about = probe(prober, (menu.step,), menu.after, "menu item:About")
    assert about.finding.classification == "continue", about.finding.why
    restarts = navigator.restarts
    for path in ((), (menu.step,), (menu.step, about.step), (menu.step,)):
        there = navigator.go(path)
        assert isinstance(there, Look)
        assert navigator.look().exact == there.exact, "the application says otherwise"
    assert navigator.restarts == restarts
