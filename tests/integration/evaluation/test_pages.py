"""Steps and getters of pages, in a real Chromium without a window."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import EvaluationError, PreparationFailed
from evaluation.formats.browser import PROFILE
from evaluation.formats.pages import debugged, query_values
from evaluation.state.context import TaskContext
from evaluation.state.devtools import PORT_FILE
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows
from tests.unit.evaluation.judging import perform, read

pytestmark = pytest.mark.slow
START_LIMIT_S = 120.0
numbers = count()
SHOP = """<!doctype html><title>Shop</title>
<h1 class=offer data-price=12>Pens</h1><h1 class=offer data-price=3>Ink</h1>
<input id=city value=Oslo><button id=more onclick="document.title = 'More'">More</button>
<p id=late></p><script>setTimeout(() => document.getElementById('late').textContent = 'Stock: 4', 300)</script>"""


def open_tab(home: Path, name: str) -> str:
    address = f"{home.as_uri()}/{name}"
    with debugged(home / PROFILE.removeprefix("~/")) as browser:
        browser.call("Target.createTarget", {"url": address})
    return address


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose browser shows a shop and a second tab."""
    home = tmp_path_factory.mktemp("home")
    (home / "shop.html").write_text(SHOP)
    (home / "other.html").write_text("<!doctype html><title>Other</title><p class=word>Second</p>")
    profile = home / PROFILE.removeprefix("~/")
    words = ["chromium", "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu"]
    options = ["--remote-debugging-port=0", f"--user-data-dir={profile}"]
    first = (home / "other.html").as_uri()
    browser = subprocess.Popen([*words, *options, first], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_LIMIT_S
        while not (profile / PORT_FILE).is_file():
            assert browser.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield home
    finally:
        browser.terminate()
        browser.wait()


@pytest.fixture
def context(home: Path, tmp_path: Path) -> Iterator[TaskContext]:
    context = TaskContext(FakeDesktop(home), FakeWindows(), tmp_path, commands=True)
    with context.resources:
        yield context


@pytest.fixture
def shop(context: TaskContext, home: Path) -> Iterator[str]:
    """The address of the shop, which is the tab that is shown."""
    address = open_tab(home, f"shop.html?{next(numbers)}")
    for page, there in ((f"{home.as_uri()}/other.html", "p"), (address, "h1 + h1")):
        perform(context, "chrome_execute_script", tab_url=page, script="null", wait_for=there, reload=False)
    perform(context, "chrome_activate_tab", tab_url=address)
    yield address
    perform(context, "chrome_close_tabs", urls_to_close=[address])


def parsed(context: TaskContext, category: str, **found: Any) -> Any:
    return read(context, "active_tab_html_parse", category=category, **found).value


def test_open_tabs_are_listed(context: TaskContext, shop: str, home: Path) -> None:
    addresses = {tab["url"] for tab in read(context, "open_tabs_info").value}
    assert {shop, (home / "other.html").as_uri()} <= addresses


def test_the_tab_that_is_shown_is_read_in_every_way(context: TaskContext, shop: str) -> None:
    info = read(context, "active_tab_info").value
    assert (info["title"], info["url"]) == ("Shop", shop)
    assert "data-price" in info["content"]
    assert parsed(context, "class", class_singleObject={"offer": "first"}) == {"first": "Pens"}
    assert parsed(context, "class", class_multiObject={"offer": {"1": "second", "7": "none"}}) == {
        "second": "Ink",
        "none": "",
    }
    price = {"//h1[2]": {"name": "price", "attribute": "data-price"}}
    assert parsed(context, "xpath", xpathObject=price) == {"price": "3"}
    assert parsed(context, "input", inputObject={"//input": "city"}) == {"city": "Oslo"}
    assert parsed(context, "js_code", jsObjects={"document.title": None}) == "Shop"
    assert read(context, "active_tab_noe_class", class_name="offer").value == 2
    rules = {"selector": "class", "class": "offer", "order": 1}
    again = read(context, "gotoRecreationPage_and_get_html_content", **rules).value
    assert again == {"expected": {"expected": "Ink"}}


def test_a_tab_is_read_by_its_address(context: TaskContext, shop: str, home: Path) -> None:
    other = (home / "other.html").as_uri()
    found = {"//p": "word"}
    values = {"category": "xpath", "xpathObject": found}
    assert read(context, "target_tab_html_parse", target_tab_url=other, **values).value == {"word": "Second"}
    assert read(context, "target_tab_html_parse", target_tab_url="file:///none", **values).value == {}


def test_pages_are_opened_for_what_is_read_of_them(context: TaskContext, shop: str) -> None:
    assert read(context, "page_info", url=shop).value["title"] == "Shop"
    infos = [
        {"action": "inner_text", "selector": "h1"},
        {"action": "click_and_attribute", "selector": ["#more", "h1:nth-of-type(2)"], "attribute": "data-price"},
    ]
    assert read(context, "info_from_website", url=shop, infos=infos).value == ["Pens", "3"]
    printed = read(context, "pdf_from_url", path=shop, dest="shop.pdf").value
    assert printed.read_bytes().startswith(b"%PDF")


def test_an_element_that_comes_late_is_clicked(context: TaskContext, shop: str) -> None:
    perform(context, "chrome_click_element", element_xpath="//p[contains(., 'Stock')]")
    perform(context, "chrome_click_element", element_xpath="//button")
    assert read(context, "active_tab_info").value["title"] == "More"
    perform(context, "chrome_check_inited", tab_url=shop, script="document.title === 'More'")
    with pytest.raises(PreparationFailed, match="not as the task needs it"):
        perform(context, "chrome_check_inited", tab_url=shop, script="document.title === 'Less'")


def test_tabs_are_closed_by_their_address(context: TaskContext, shop: str, home: Path) -> None:
    (home / "extra.html").write_text("<title>Extra</title>")
    extra = open_tab(home, "extra.html")
    perform(context, "chrome_activate_tab", tab_url=extra)
    perform(context, "chrome_close_tabs", urls_to_close=[extra])
    deadline = time.monotonic() + START_LIMIT_S
    while extra in {tab["url"] for tab in read(context, "open_tabs_info").value}:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    with pytest.raises(PreparationFailed, match="no tab shows"):
        perform(context, "chrome_close_tabs", urls_to_close=[extra])


def test_a_browser_without_the_port_says_how_to_start_it(context: TaskContext) -> None:
    with pytest.raises(EvaluationError, match="--remote-debugging-port=0"):
        read(context, "open_tabs_info", profile="~/nowhere")


def test_values_of_a_query_are_renamed_and_split() -> None:
    address = "https://a.example/find?q=pen&tags=x,y"
    assert query_values(address, ("q", "none"), {"q": "words"}) == {"words": "pen", "none": ""}
    assert query_values(address, ("tags",), {}, split_list=True) == {"tags": ["x", "y"]}
