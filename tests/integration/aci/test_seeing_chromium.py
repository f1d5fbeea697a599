"""What is seen of a web page in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.acting.actions import Click, Scroll, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from tests.integration.aci.seeing import at_rest, element, find, showing, until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PAGE = """<!doctype html><title>Order form</title><body><h1>Order form</h1>
<p>Please fill in <a href="#help">the form</a> carefully.</p>
<p><label for=n>Full name</label> <input id=n placeholder="First Last" required></p>
<p><label>Country <select><option>France<option selected>Japan<option>Peru</select></label></p>
<p><label><input type=checkbox> Send me news</label>
<label><input type=radio name=s>Small</label><label><input type=radio name=s checked>Large</label></p>
<p><label for=d>Delivery date</label> <input type=date id=d value=2025-03-17></p>
<p><label>Amount <input type=number value=0 placeholder=5></label> <label>Limit <input type=number></label></p>
<p>Password <input type=password value=secret></p><p><label for=t>Notes</label><textarea id=t>one
two</textarea></p><p><button>Send order</button> <button disabled>Not yet</button></p>
<p>Confirmation code: <code>QX-4471</code></p><table><tr><th>Item<th>Price<tr><td>Apple<td>1.20</table>
<span class=icon-trash style="display:inline-block;width:20px;height:20px;background:red"></span>
<div style="width:90px;height:30px;border:1px solid" onclick="1"><b class=arrow-down style="display:block;width:30px;
height:30px;background:#ccc;overflow:hidden;text-indent:-999em">v</b></div>
<div style="height:2000px"></div><p>Far below</p>"""

MENU_PAGE = """<!doctype html><title>Menu</title><style>ul { position: absolute; width: 100px; margin: 0; padding: 0;
list-style: none; background: #eee } li { position: relative; padding: 3px } </style>
<script>addEventListener("click", event => document.title = "hit " + event.target.textContent)</script>
<ul role=menu><li role=presentation><div role=menuitem tabindex=-1>Fruit</div>
<ul role=menu style="left:95px; top:0; z-index:5">
<li role=presentation><div role=menuitem tabindex=-1>Apricot</div><li role=presentation><div role=menuitem tabindex=-1
>Quince</div></ul><li role=presentation><div role=menuitem tabindex=-1>Bread</div></ul>
<div id=box style="position:absolute; left:90px; top:0; width:250px; height:150px"></div>
<ul role=menu style="top:200px"><li role=presentation><div role=menuitem tabindex=-1>Hidden</div></ul>
<div id=cover style="position:absolute; top:190px; width:250px; height:60px; background:#ccc"></div>"""
"""A submenu that reaches out of its menu over an empty box that comes later, and an entry that is covered."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualDesktop]:
    folder = tmp_path_factory.mktemp("page")
    with showing("chromium", page=PAGE, folder=folder, size=(1280, 1000), button="Send order") as desktop:
        yield desktop


@pytest.fixture
def seen(browser: VirtualDesktop) -> Observation:
    return until(browser, lambda seen: find(seen, "push button", "Send order"))


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("heading", "Order form"), ("paragraph", "Please fill in the form carefully."), ("link", "the form"),
        ("label", "Full name"), ("entry", "Full name"), ("static", "Country"), ("check box", "Send me news"),
        ("radio button", "Small"), ("date editor", "Delivery date"), ("static", "Password"),
        ("paragraph", "Confirmation code: QX-4471"), ("column header", "Price"), ("table cell", "Apple"),
    ],
)  # fmt: skip
def test_each_part_of_the_page_is_one_element(seen: Observation, role: str, name: str) -> None:
    assert len([item for item in seen.elements if (item.role, item.name) == (role, name)]) == 1


def test_texts_are_not_repeated(seen: Observation) -> None:
    for text in ("Order form", "the form", "Send order", "Apple"):
        assert len([item for item in seen.elements if item.name == text and item.role != "page tab"]) == 1


def test_fields_tell_content_and_state(seen: Observation) -> None:
    name, country = find(seen, "entry", "Full name"), find(seen, "combo box", "Country")
    assert name is not None
    assert (name.text, name.description) == ("", "First Last")
    assert name.states >= {"editable", "required"}
    assert country is not None
    assert country.text == "Japan"
    assert "checked" in find(seen, "radio button", "Large").states  # type: ignore[union-attr]
    assert "checked" not in find(seen, "check box", "Send me news").states  # type: ignore[union-attr]
    assert "disabled" in find(seen, "push button", "Not yet").states  # type: ignore[union-attr]
    assert find(seen, "date editor", "Delivery date").text == "03/17/2025"  # type: ignore[union-attr]
    assert find(seen, "entry", "Notes").text == "one\ntwo"  # type: ignore[union-attr]
    numbers = [find(seen, "spin button", name) for name in ("Amount", "Limit")]
    assert [(field.value, field.text) for field in numbers if field is not None] == [(0, "0"), (None, "")]


def test_password_is_masked_and_labelled_by_the_text_before_it(seen: Observation) -> None:
    field = find(seen, "password text", "Password")
    assert field is not None
    assert field.text == "•" * 6
    assert "secret" not in seen.to_text()


def test_nameless_icon_is_described_by_its_class(seen: Observation) -> None:
    assert any(item.description == "icon-trash" for item in seen.elements)


def test_picture_in_place_of_hidden_words_is_described_by_its_class(seen: Observation) -> None:
    assert any(item.description == "arrow-down" for item in seen.elements)


def test_content_below_the_fold_is_seen_after_scrolling(browser: VirtualDesktop, seen: Observation) -> None:
    assert find(seen, "paragraph", "Far below") is None
    heading = find(seen, "heading", "Order form")
    assert heading is not None
    browser.perform(Scroll(element_id=heading.id, clicks=-100))
    below = at_rest(browser, "paragraph", "Far below")
    assert find(browser.observe(), "heading", "Order form") is None
    browser.perform(Scroll(element_id=below.id, clicks=100))
    assert at_rest(browser, "heading", "Order form").id == heading.id


def test_open_list_is_chosen_from(browser: VirtualDesktop) -> None:
    browser.perform(Click(element_id=element(browser, "combo box", "Country").id))
    browser.perform(Click(element_id=element(browser, "menu item", "Peru").id))
    until(browser, lambda seen: getattr(find(seen, "combo box", "Country"), "text", "") == "Peru")


def test_clicks_arrive_and_typed_text_is_read(browser: VirtualDesktop) -> None:
    browser.perform(Click(element_id=element(browser, "check box", "Send me news").id))
    until(browser, lambda seen: "checked" in find(seen, "check box", "Send me news").states)  # type: ignore[union-attr]
    field = element(browser, "entry", "Full name")
    browser.perform(Type(element_id=field.id, text="Zoë \U0001f600"))
    typed = until(browser, lambda seen: find(seen, "entry", "Full name").text == "Zoë \U0001f600")  # type: ignore[union-attr]
    assert typed.focus_id == field.id


def test_entry_of_a_submenu_is_seen_and_hit_over_an_empty_box(browser: VirtualDesktop, tmp_path: Path) -> None:
    page = tmp_path / "menu.html"
    page.write_text(MENU_PAGE, encoding="utf-8")
    browser.launch(["chromium", page.as_uri()], wait_for_window=False)
    entry = at_rest(browser, "menu item", "Apricot")
    until(browser, lambda seen: find(seen, "menu item", "Quince") and find(seen, "menu item", "Hidden") is None)
    assert find(browser.observe(), "menu item", "Hidden") is None
    browser.perform(Click(element_id=entry.id))
    until(browser, lambda seen: any("hit Apricot" in window.title for window in seen.windows))
