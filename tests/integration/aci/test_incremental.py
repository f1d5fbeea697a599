"""Looks that ask only what changed show what a new client sees, whatever a person does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import pytest

from aci import Click, Hotkey, Scroll, Type
from aci.accessibility.connection import connect_accessibility
from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from aci.observation.observation import Element
from tests.integration.aci.seeing import element, until, wait_until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

LIMIT_S = 60.0
PAGE = """<!doctype html><title>First</title><style>.far { position: relative; left: 90px }</style>
<h1>First page</h1><button id=move>Move</button> <button id=name>Name</button> <button id=more>More</button>
<button id=later>Later</button> <input type=checkbox aria-label=Flag> <input aria-label=Line> <a href=second.html>Go</a>
<div id=box><button id=target aria-label=Before>x</button> <span>Beside</span></div>
<div style="height: 90px; overflow: auto"><ul id=list></ul></div><div id=rows></div>
<script>const $ = id => document.getElementById(id);
$('list').innerHTML = [...Array(30).keys()].map(n => '<li><button>Place ' + n + '</button>').join('');
$('move').onclick = () => $('box').classList.toggle('far');
$('name').onclick = () => $('target').setAttribute('aria-label', 'After');
$('more').onclick = () => $('rows').insertAdjacentHTML('afterbegin', '<p><button>Row</button></p>');
$('later').onclick = () => setTimeout(() => $('target').disabled = true, 300);</script>"""
SECOND = "<!doctype html><title>Second</title><h1>Second page</h1><a href=first.html>Home</a>"


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1280, 800), ocr=None) as running:
        running.x11.rest_s = None
        (running.home / "first.html").write_text(PAGE, encoding="utf-8")
        (running.home / "second.html").write_text(SECOND, encoding="utf-8")
        yield running


def keys(elements: Sequence[Element]) -> Counter[Hashable]:
    return Counter((e.role, e.name, e.rect, e.states, e.text, e.value) for e in elements)


def fresh(desktop: VirtualDesktop) -> Counter[Hashable]:
    client = connect_accessibility("dbus", desktop.environment)
    try:
        return keys(client.read(desktop.x11.screen.windows(), desktop.x11.screen.rect).elements)
    finally:
        client.close()


def check(desktop: VirtualDesktop, after: object) -> None:
    """Compare a look with a new client's, once that says the same before and after it."""
    deadline = time.monotonic() + LIMIT_S
    desktop.observe()  # takes the signs of change, as an agent's look does
    before = fresh(desktop)
    while True:
        seen, now = keys(desktop.observe().elements), fresh(desktop)
        if before == now or time.monotonic() > deadline:
            break
        before = now
    assert seen == now, f"after {after}: lacks {now - seen}, has only {seen - now}"


def act(desktop: VirtualDesktop, *actions: Click | Hotkey | Scroll | Type) -> None:
    for action in actions:
        result = desktop.perform(action)
        assert result.ok, result.error
    check(desktop, actions)


def click(desktop: VirtualDesktop, role: str, name: str) -> None:
    act(desktop, Click(element_id=element(desktop, role, name).id))


def test_updates_of_a_web_page_match_a_complete_reading(desktop: VirtualDesktop) -> None:
    browser = desktop.launch(["chromium", str(desktop.home / "first.html")])
    element(desktop, "heading", "First page")
    for name in ("Move", "More", "More", "Name", "Later", "Move"):
        click(desktop, "push button", name)
    click(desktop, "check box", "Flag")
    act(desktop, Type(text="typed", element_id=element(desktop, "entry", "Line").id))
    act(desktop, Scroll(element_id=element(desktop, "push button", "Place 1").id, clicks=-2))
    click(desktop, "link", "Go")
    element(desktop, "heading", "Second page")
    check(desktop, "the second page")
    act(desktop, Hotkey(keys=("alt", "Left")))
    element(desktop, "heading", "First page")
    check(desktop, "the first page again")
    act(desktop, Hotkey(keys=("ctrl", "t")))
    act(desktop, Hotkey(keys=("ctrl", "Tab")))
    click(desktop, "push button", "Chromium")
    act(desktop, Hotkey(keys=("Escape",)))
    browser.terminate()
    until(desktop, lambda seen: not seen.windows)
    check(desktop, "its end")


def test_updates_of_gtk_applications_match_a_complete_reading(desktop: VirtualDesktop) -> None:
    editor = desktop.launch(["mousepad"])
    check(desktop, "the start of an editor")
    act(desktop, Type(text="one\ntwo"))
    click(desktop, "menu", "Edit")
    act(desktop, Hotkey(keys=("Escape",)))
    act(desktop, Hotkey(keys=("ctrl", "h")))
    act(desktop, Hotkey(keys=("Escape",)))
    calculator = desktop.launch(["gnome-calculator"])
    check(desktop, "the start of a calculator")
    for digit in "72":
        click(desktop, "push button", digit)
    click(desktop, "push button", "+")
    window = next(window for window in desktop.observe().windows if "mousepad" in window.app.casefold())
    assert desktop.x11.screen.activate(window.id)
    check(desktop, "a window brought to the front")
    calculator.terminate()
    until(desktop, lambda seen: len(seen.windows) == 1)
    check(desktop, "the end of the calculator")
    editor.terminate()


def test_unchecked_look_is_repeated_only_after_a_change() -> None:
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        editor = desktop.launch(["mousepad"])
        seen = [desktop.observe()]

        def is_repeated() -> bool:
            seen.append(desktop.observe(check=False))
            return seen[-1] is seen[-2]

        wait_until(is_repeated)
        assert desktop.glance([]) is not None
        seen.append(desktop.observe(check=False))
        assert seen[-1].elements == seen[-2].elements
        assert desktop.observe() is not seen[-1], "a look that is checked is a new one"
        desktop.perform(Type(text="typed"), settle=False)
        wait_until(lambda: any(each.text == "typed" for each in desktop.observe(check=False).elements))
        editor.terminate()
        wait_until(lambda: not desktop.observe(check=False).windows)


def test_target_is_verified_before_input_although_it_was_not_read_again(desktop: VirtualDesktop) -> None:
    editor = desktop.launch(["mousepad"])
    check(desktop, "the start of an editor")
    with X11Desktop(desktop.display, environment=desktop.environment, ocr=None) as attached:
        attached.rest_s = None
        deadline = time.monotonic() + LIMIT_S
        attached.observe()
        while (seen := attached.observe()).elements != attached.observe().elements:
            assert time.monotonic() < deadline
        menu = next(item for item in seen.elements if (item.role, item.name) == ("menu", "File"))

        cover = desktop.launch(["xterm", "-geometry", "250x80+0+0"])
        result = attached.perform(Click(element_id=menu.id))
        assert not result.ok and "covered" in (result.error or ""), result
        cover.terminate()
        until(desktop, lambda now: len(now.windows) == len(seen.windows))
        assert menu.id in attached.observe().by_id
        result = attached.perform(Click(element_id=menu.id))
        assert result.ok, result.error
        assert any(item.role == "menu item" for item in attached.observe().elements)
        attached.perform(Hotkey(keys=("Escape",)))
        editor.terminate()
        until(desktop, lambda now: len(now.windows) < len(seen.windows))
        result = attached.perform(Click(element_id=menu.id))
        assert not result.ok and "no longer" in (result.error or ""), result
