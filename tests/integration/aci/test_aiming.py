"""A page that changes between look and act: what moved is followed, what was made anew is found, else it is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aci.acting.actions import Click, Wait
from aci.applications.launching import Process
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from tests.integration.aci.seeing import press_behind_its_back, wait_until
from tests.integration.aci.test_acting import find, needs

pytestmark = [pytest.mark.desktop, pytest.mark.slow, needs("chromium")]

PAGE = """<!doctype html><title>ready</title><meta charset=utf-8>
<style>body {margin: 0; font: 20px sans-serif} button {display: block; margin: 10px; font: 20px sans-serif}
#over {position: fixed; inset: 0; background: #ccc; display: none}</style>
<div id=room></div><div id=list></div><canvas id=c width=400 height=200></canvas>
<div id=over role=dialog aria-label=Cookies>We value you</div>
<script>
const say = text => { document.title = text; };
function fill(names) {
  list.innerHTML = names.map(name => `<button onclick="say('${name}')">${name}</button>`).join('');
}
function draw(x, y, text) {
  const g = c.getContext('2d');
  g.fillStyle = '#fff'; g.fillRect(0, 0, 400, 200);
  g.fillStyle = '#000'; g.font = '26px sans-serif'; g.fillText(text, x, y);
  c.onclick = e => say(Math.abs(e.offsetX - x - 40) < 60 && Math.abs(e.offsetY - y + 9) < 20 ? text : 'missed');
}
const start = () => {
  room.style.height = 0; over.style.display = 'none'; fill(['Alpha', 'Beta']); draw(20, 40, 'START');
};
onkeydown = e => say('key ' + e.key) || ({
  s: start,
  m: () => room.style.height = '150px',
  r: () => { room.style.height = '100px'; fill(['Gamma', 'Delta', 'Beta', 'Alpha']); },
  d: () => fill(['Beta']),
  o: () => over.style.display = 'block',
  c: () => draw(200, 150, 'START'),
  x: () => draw(200, 150, 'FINISH'),
})[e.key]?.();
start();
</script>"""


@pytest.fixture(scope="module")
def page(desktop: VirtualDesktop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(PAGE, encoding="utf-8")
    browser = desktop.launch(["chromium", file.as_uri()])
    find(desktop, lambda element: element.name == "Alpha")
    yield browser
    browser.terminate()


def press(desktop: VirtualDesktop, page: Process, key: str) -> None:
    """Change the page behind the observation's back."""
    press_behind_its_back(desktop, key)
    wait_until(lambda: page.window_titles[0].startswith(f"key {key}"))
    desktop.perform(Wait(time=0.5))


def started(desktop: VirtualDesktop, page: Process, name: str) -> Element:
    """Bring the page to its start and return one of its elements."""
    press(desktop, page, "s")
    return find(desktop, lambda element: element.name == name and element.point is not None)


@pytest.mark.parametrize("key", ["m", "r"], ids=["moved", "made anew"])
def test_a_button_that_moved_is_followed(desktop: VirtualDesktop, page: Process, key: str) -> None:
    button = started(desktop, page, "Alpha")
    press(desktop, page, key)
    result = desktop.perform(Click(element_id=button.id))
    assert result.ok, result.error
    wait_until(lambda: page.window_titles[0].startswith("Alpha"))


def test_a_button_that_went_is_refused(desktop: VirtualDesktop, page: Process) -> None:
    button = started(desktop, page, "Alpha")
    press(desktop, page, "d")
    result = desktop.perform(Click(element_id=button.id))
    assert not result.ok and "no longer on the screen" in (result.error or ""), result
    assert page.window_titles[0].startswith("key")


def test_a_button_under_a_layer_of_the_page_is_refused(desktop: VirtualDesktop, page: Process) -> None:
    button = started(desktop, page, "Alpha")
    press(desktop, page, "o")
    result = desktop.perform(Click(element_id=button.id))
    assert not result.ok and "covered by what came into its window with the" in (result.error or ""), result
    assert page.window_titles[0].startswith("key")


def test_text_of_a_canvas_is_found_at_its_current_place(desktop: VirtualDesktop, page: Process) -> None:
    pytest.importorskip("rapidocr")
    text = started(desktop, page, "START")
    assert text.source == "ocr"
    press(desktop, page, "c")
    result = desktop.perform(Click(element_id=text.id))
    assert result.ok, result.error
    wait_until(lambda: page.window_titles[0].startswith(("START", "missed")))
    assert page.window_titles[0].startswith("START")


def test_a_text_of_a_canvas_that_went_is_refused(desktop: VirtualDesktop, page: Process) -> None:
    pytest.importorskip("rapidocr")
    text = started(desktop, page, "START")
    press(desktop, page, "x")
    result = desktop.perform(Click(element_id=text.id))
    assert not result.ok and "'START'" in (result.error or ""), result
    assert page.window_titles[0].startswith("key")
