"""What is seen of Firefox: its panels, which have windows of their own, and what Gecko does not say of a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.acting.actions import Click, Hotkey, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from tests.integration.aci.seeing import element, find, showing, skip_without, until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PAGE = """<!doctype html><title>Order form</title><body>Written by nobody<h1>Order</h1>
<div>Total: 5</div><div>Go <a href="#">home</a> now</div><div>Count <button>7</button> left</div>
<div style="display:contents"><fieldset style="display:contents"><label><input type=radio name=r>Fast</label></fieldset>
</div><p><label>Town <input list=towns></label><datalist id=towns><option>Bern</datalist>
<p><label>Color <select><option>Red<option>Green</select></label> <label>Day <input type=date></label>
<p><button role=combobox aria-label=Engine aria-expanded=false><div>Google</div></button>
<div style="height:0"><button style="margin-top:60px">Below</button></div>
<div style="height:9px;overflow:hidden"><p style="margin:30px"><button>Clipped</button></div>
<p><label>Amount <input type=number value=0></label>
<p><button onclick="document.title = confirm('Really?') ? 'yes' : 'no'">Ask</button>"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualDesktop]:
    skip_without("Firefox")
    folder = tmp_path_factory.mktemp("page")
    with showing("firefox-esr", page=PAGE, folder=folder, size=(1280, 800), button="Ask") as desktop:
        yield desktop


@pytest.fixture
def seen(browser: VirtualDesktop) -> Observation:
    return until(browser, lambda seen: find(seen, "static", "left"))


def press(desktop: VirtualDesktop, role: str, name: str) -> None:
    assert desktop.perform(Click(element_id=element(desktop, role, name).id)).ok


def in_popup(seen: Observation) -> list[Element]:
    popups = {window.id for window in seen.windows if window.popup}
    return [each for each in seen.elements if each.window_id in popups]


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("heading", "Order"), ("section", "Total: 5"), ("section", "Go home now"), ("link", "home"),
        ("static", "Count"), ("push button", "7"), ("static", "left"), ("static", "Written by nobody"),
        ("radio button", "Fast"), ("push button", "Below"),
    ],
)  # fmt: skip
def test_each_part_of_the_page_is_one_element(seen: Observation, role: str, name: str) -> None:
    assert len([item for item in seen.elements if (item.role, item.name) == (role, name)]) == 1


def test_fields_contain_what_they_show(seen: Observation) -> None:
    found = {name: find(seen, "combo box", name) for name in ("Town", "Color", "Engine")}
    assert {name: box.text or "" for name, box in found.items() if box is not None} == {
        "Town": "", "Color": "Red", "Engine": "Google"
    }  # fmt: skip


def test_number_may_be_zero_and_what_a_container_clips_is_not_seen(seen: Observation) -> None:
    amount = find(seen, "spin button", "Amount")
    assert amount is not None and (amount.value, amount.text) == (0, "0")
    assert find(seen, "push button", "Clipped") is None


def test_menu_of_the_application_is_seen_and_used(browser: VirtualDesktop) -> None:
    menu = next(each for each in browser.observe().elements if each.description == "Open application menu")
    assert browser.perform(Click(element_id=menu.id)).ok
    shown = until(browser, lambda seen: find(seen, "push button", "Settings"))
    assert find(shown, "push button", "Settings") in in_popup(shown)
    press(browser, "push button", "Help")
    assert element(browser, "push button", "About Firefox").point is not None
    for _ in range(2):
        browser.perform(Hotkey(keys=("escape",)))
    until(browser, lambda seen: not in_popup(seen))


def test_lists_and_calendars_of_a_page_are_seen(browser: VirtualDesktop) -> None:
    press(browser, "combo box", "Color")
    press(browser, "menu item", "Green")
    until(browser, lambda seen: getattr(find(seen, "combo box", "Color"), "text", "") == "Green")
    press(browser, "push button", "Calendar")
    shown = until(browser, lambda seen: find(seen, "push button", "Next month"))
    assert find(shown, "push button", "Next month") in in_popup(shown)
    browser.perform(Hotkey(keys=("escape",)))
    until(browser, lambda seen: not in_popup(seen))


def test_question_of_a_page_is_answered(browser: VirtualDesktop) -> None:
    press(browser, "push button", "Ask")
    until(browser, lambda seen: any(each.name == "Really?" for each in seen.elements))
    press(browser, "push button", "OK")
    until(browser, lambda seen: any(window.title.startswith("yes") for window in seen.windows))


def test_date_is_typed_part_by_part(browser: VirtualDesktop) -> None:
    assert getattr(find(browser.observe(), "spin button", "Month"), "value", 0.0) is None
    for name, text in (("Month", "12"), ("Day", "24"), ("Year", "2026")):
        assert browser.perform(Type(text=text, element_id=element(browser, "spin button", name).id)).ok
    shown = until(browser, lambda seen: getattr(find(seen, "spin button", "Year"), "value", None) == 2026)
    assert getattr(find(shown, "date editor", "Day"), "text", "") == "12/24/2026"


def test_address_that_ends_with_a_line_break_is_opened(browser: VirtualDesktop, tmp_path: Path) -> None:
    page = tmp_path / "other.html"
    page.write_text("<!doctype html><title>Another page</title><button>Here</button>", encoding="utf-8")
    browser.perform(Hotkey(keys=("ctrl", "l")))
    assert browser.perform(Type(text=f"{page.as_uri()}\n")).ok
    assert element(browser, "push button", "Here")
