"""What is seen of a page in WebKitGTK, whose objects belong to another process than its window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.acting.actions import Click, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from benchmarks.support.truth.toolkits import PROGRAMS
from tests.integration.aci.seeing import element, find, showing, skip_without, until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PAGE = """<!doctype html><title>Order form</title><h1>Order</h1><div>Total: 5</div>
<div>Count <button>7</button> left</div>
<p><label for=n>Name</label> <input id=n> <label><input type=checkbox> Gift</label> <a href="#end">Further down</a>
<p><button onclick="document.title = n.value">Send</button> <button onclick="location = 'other.html'">Leave</button>
<div style="height:2000px"></div><p id=end>The end"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[VirtualDesktop]:
    skip_without("WebKitGTK")
    (folder / "other.html").write_text("<!doctype html><title>Other</title><button>Here</button>", encoding="utf-8")
    argv = ("/usr/bin/python3", str(PROGRAMS / "webkit_view.py"))
    with showing(*argv, page=PAGE, folder=folder, size=(1280, 800), button="Send") as desktop:
        yield desktop


@pytest.fixture
def seen(view: VirtualDesktop) -> Observation:
    return until(view, lambda seen: find(seen, "push button", "Send"))


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("heading", "Order"), ("section", "Total: 5"), ("static", "Count"), ("push button", "7"), ("static", "left"),
        ("label", "Name"), ("entry", "Name"), ("check box", "Gift"), ("link", "Further down"),
    ],
)  # fmt: skip
def test_each_part_of_the_page_is_one_element(seen: Observation, role: str, name: str) -> None:
    assert len([item for item in seen.elements if (item.role, item.name) == (role, name)]) == 1


def test_what_is_scrolled_out_is_not_seen(seen: Observation) -> None:
    assert not any(each.name == "The end" for each in seen.elements)


def test_clicks_arrive_and_typed_text_is_read(view: VirtualDesktop, seen: Observation) -> None:
    box = element(view, "check box", "Gift")
    assert view.perform(Click(element_id=box.id)).ok
    until(view, lambda seen: "checked" in getattr(find(seen, "check box", "Gift"), "states", ()))
    assert view.perform(Type(text="Ann", element_id=element(view, "entry", "Name").id)).ok
    until(view, lambda seen: getattr(find(seen, "entry", "Name"), "text", "") == "Ann")
    assert view.perform(Click(element_id=element(view, "push button", "Send").id)).ok
    until(view, lambda seen: any(window.title == "Ann" for window in seen.windows))
    assert element(view, "check box", "Gift").id == box.id


def test_another_page_is_seen_in_place_of_the_first(view: VirtualDesktop, seen: Observation) -> None:
    assert view.perform(Click(element_id=element(view, "push button", "Leave").id)).ok
    after = until(view, lambda seen: find(seen, "push button", "Here"))
    assert find(after, "push button", "Send") is None
