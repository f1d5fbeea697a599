"""Commands in web pages: the page comes before the browser around it, and submenus open by pointing."""

from __future__ import annotations

from aci.acting.actions import Action, Click, Done, Scroll, Type, Wait
from aci.observation.observation import Element, Observation
from tests.unit.agent_s.offline.screens import act_out, element, field, seen
from tests.unit.agent_s.offline.test_acting import changed, types, with_more

PAGE = ("document web:Shop",)
BAR = field(90, "Address and search bar", (100, 2))


def in_page(number: int, role: str, name: str = "", at: tuple[int, int] = (10, 100), **more: object) -> Element:
    return element(number, role, name, at, path=more.pop("path", PAGE), **more)  # type: ignore[arg-type]


def test_elements_of_the_page_come_before_those_of_the_browser() -> None:
    screen = seen(element(1, "push button", "Tab search"), BAR, in_page(2, "push button", "Buy"))
    assert act_out("click the button", screen).actions == [Click(element_id=2)]
    assert act_out("click 'Tab search'", screen).actions == [Click(element_id=1)]


def test_waits_for_a_page_that_is_still_loading() -> None:
    def comes(observation: Observation, action: Action) -> Observation:
        return with_more(observation, in_page(2, "push button", "Buy")) if isinstance(action, Wait) else observation

    done = act_out("click the button", seen(element(1, "push button", "Tab search"), BAR), comes)
    assert isinstance(done.actions[0], Wait)
    assert done.actions[-1] == Click(element_id=2)


def test_an_element_of_its_own_matches_a_link_before_running_text() -> None:
    screen = seen(in_page(1, "static", "turpis"), in_page(2, "section", "turpis", (10, 200)))
    assert act_out("click the link 'turpis'", screen).actions == [Click(element_id=2)]


def test_submenus_in_a_page_open_on_hover() -> None:
    def opens(observation: Observation, action: Action) -> Observation:
        more = in_page(3, "menu item", "Prev", (120, 100), path=(*PAGE, "menu:"))
        return with_more(observation, more) if isinstance(action, Scroll) else observation

    screen = seen(in_page(1, "menu item", "Save"), in_page(2, "menu item", "Play", (10, 130), states=("has_popup",)))
    for sentence in ("Select Play>Prev", "Find and click on the item labeled 'Prev'"):
        assert act_out(sentence, screen, opens).actions == [Scroll(element_id=2, clicks=1), Click(element_id=3)]


def test_a_password_field_that_stayed_empty_is_typed_into_again() -> None:
    def loses_the_first(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Type) and action.element_id is not None:
            return observation
        return changed(observation, 1, text="•••") if isinstance(action, Type) else observation

    empty = in_page(1, "password text", "Password", text="", states=("editable", "password"))
    done = act_out("Type 'abc' into Password", seen(empty), loses_the_first)
    assert [action.text for action in done.actions if isinstance(action, Type)] == ["abc", "abc"]
    assert isinstance(done.ending.action, Done)
    assert len([a for a in act_out("Type 'abc' into Password", seen(empty), types).actions if isinstance(a, Type)]) == 1


def test_tabs_are_opened_by_their_links_until_the_element_appears() -> None:
    def opens(observation: Observation, action: Action) -> Observation:
        found = in_page(7, "section", "non.", (10, 200))
        return with_more(observation, found) if action == Click(element_id=6) else observation

    screen = seen(
        in_page(1, "page tab", "1", states=("selected",)),
        in_page(3, "page tab", "2", (60, 100)), in_page(4, "link", "2", (62, 102), path=(*PAGE, "page tab:2")),
        in_page(5, "page tab", "3", (160, 100)), in_page(6, "link", "3", (162, 102), path=(*PAGE, "page tab:3")),
    )  # fmt: skip
    done = act_out("Switch between the tabs to find and click on the link 'non.'", screen, opens)
    assert done.actions == [Click(element_id=4), Click(element_id=6), Click(element_id=7)]
