"""A machine as a desktop: what is seen, what is sent, and what is refused."""

from __future__ import annotations

import httpx
import pytest

from aci.acting.actions import (
    Click,
    Done,
    Hotkey,
    KeyDown,
    MouseDown,
    MouseUp,
    SaveToBuffer,
    SwitchApplications,
    Type,
    Zoom,
)
from aci.errors import Halted
from aci.observation.geometry import Rect
from aci.remote.desktop import PREFIX, OSWorldDesktop
from tests.unit.aci.remote.server import ScriptedServer, png
from tests.unit.aci.remote.trees import notes, with_open_menu

SHELL = notes()[notes().index("<application") :].replace('"notes"', '"shell"').replace('"Notes"', '"Panel"')


def desktop(server: ScriptedServer) -> OSWorldDesktop:
    return OSWorldDesktop("http://10.0.0.9:5000", ocr=None, patience_s=0, transport=server.transport)


def listed(**changes: object) -> dict[str, object]:
    window = {"id": 77, "title": "Notes", "app": "Notes", "rect": [10, 20, 300, 200], "active": True, "popup": False}
    return {**window, "pid": 123, "modal": False, "frame": [2, 2, 20, 2], **changes}


def test_elements_windows_and_the_focus_are_seen() -> None:
    seen = desktop(ScriptedServer()).observe()
    assert [(each.role, each.name or each.text) for each in seen.elements] == [
        ("push button", "Save"), ("check box", "Wrap"), ("slider", "Zoom"), ("text", "milk"),
    ]  # fmt: skip
    assert [(window.title, window.active) for window in seen.windows] == [("Notes", True)]
    assert seen.focus_id == seen.elements[-1].id


def test_an_open_menu_is_a_window_of_its_own_on_top() -> None:
    server = ScriptedServer()
    server.tree = with_open_menu()
    seen = desktop(server).observe()
    assert [(window.title, window.popup) for window in seen.windows] == [("", True), ("Notes", False)]
    entry = next(element for element in seen.elements if element.name == "Quit")
    assert (entry.window_id, entry.rect.bottom) == (seen.windows[0].id, 238)  # the window ends at 220


def test_windows_come_from_the_machine_where_it_lists_them() -> None:
    server = ScriptedServer()
    server.windows = [listed()]
    [window] = desktop(server).observe().windows
    assert (window.id, window.pid, window.frame) == (77, 123, Rect(8, 0, 304, 222))


def test_a_machine_that_once_lists_no_windows_is_asked_again_at_the_next_look() -> None:
    server = ScriptedServer()
    server.windows = [listed()]
    machine = desktop(server)
    machine.observe()
    server.failures["/execute"] = [httpx.Response(500, text="too busy")]
    assert [window.id for window in machine.observe().windows] == [-1]
    assert [window.id for window in machine.observe().windows] == [77]


def test_what_has_no_window_lies_below_those_that_have() -> None:
    server = ScriptedServer()
    server.tree = notes().replace("</desktop-frame>", SHELL)
    server.windows = [listed()]
    seen = desktop(server).observe()
    assert [window.title for window in seen.windows] == ["Notes", "Panel"]
    assert not [each for each in seen.elements if each.window_id != 77]  # all of it is covered


def test_elements_keep_their_ids() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    before = {each.name or each.role: each.id for each in machine.observe().elements}
    server.tree = notes("milk and bread").replace('<check-box name="Wrap"', '<check-box name="Lines"')
    after = {each.name or each.role: each.id for each in machine.observe().elements}
    assert after["Save"] == before["Save"] and after["text"] == before["text"]
    assert after["Lines"] not in before.values()


def test_a_click_is_sent_as_a_line_of_pyautogui() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    save = machine.observe().elements[0]
    assert machine.perform(Click(element_id=save.id), settle=False).ok
    assert server.executed == [
        ["python", "-c", f"{PREFIX}import pyautogui; pyautogui.click(50, 42, clicks=1, button='left')"]
    ]


def test_text_is_sent_as_a_literal() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    machine.observe()
    machine.perform(Type(text="'); import os; os.remove('x"), settle=False)
    [[_, _, code]] = server.executed
    assert """pyautogui.write("'); import os; os.remove('x")""" in code


def test_an_unknown_id_is_refused_and_nothing_is_sent() -> None:
    server = ScriptedServer()
    result = desktop(server).perform(Click(element_id=999), settle=False)
    assert result.refusal == "unknown_id" and not server.executed


def test_an_element_that_has_gone_meanwhile_is_refused() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    save = machine.observe().elements[0]
    server.picture, server.tree = png(shade=90), notes().replace('name="Save"', 'name="Delete all"')
    result = machine.perform(Click(element_id=save.id), settle=False)
    assert result.refusal == "stale" and "'Save'" in str(result.error) and not server.executed


def test_keys_are_refused_when_another_window_has_come_to_the_front() -> None:
    server = ScriptedServer()
    server.windows = [listed()]
    machine = desktop(server)
    machine.observe()
    server.picture = png(shade=90)
    server.windows = [listed(id=88, title="Delete all?", rect=[60, 60, 90, 90]), listed(active=False)]
    result = machine.perform(Hotkey(keys=("Return",)), settle=False)
    assert result.refusal == "stale" and "'Delete all?'" in str(result.error) and not server.executed


def test_what_a_machine_cannot_do_is_refused() -> None:
    server = ScriptedServer()
    assert desktop(server).perform(Zoom(region=(0, 0, 9, 9))).refusal == "not_allowed" and not server.executed


def test_an_element_that_has_moved_is_clicked_where_it_is_now() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    save = machine.observe().elements[0]
    server.picture, server.tree = png(shade=90), notes().replace("(20, 30)", "(20, 36)")
    assert machine.perform(Click(element_id=save.id), settle=False).ok
    assert "pyautogui.click(50, 48" in server.executed[0][2]


def test_a_connection_that_breaks_leaves_the_run_alive_and_says_what_is_unknown() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    machine.observe()
    server.failures["/execute"] = [httpx.ReadTimeout("timed out")]
    result = machine.perform(Hotkey(keys=("ctrl", "s")), settle=False)
    assert not result.ok and "not known what of this was carried out" in str(result.error)
    assert machine.observe().elements


def test_a_machine_that_cannot_carry_out_the_input_says_why() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    machine.observe()
    server.status = 1
    result = machine.perform(Hotkey(keys=("ctrl", "s")), settle=False)
    assert not result.ok and "the machine could not carry it out" in str(result.error)


def test_keys_that_are_kept_down_are_released_at_the_end() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    machine.observe()
    machine.perform(KeyDown(keys=("shift",)), settle=False)
    machine.perform(MouseDown(at=(50, 60)), settle=False)
    machine.perform(MouseUp(at=(70, 60)), settle=False)
    machine.release_all()
    machine.release_all()
    assert [command[2].rpartition("; ")[2] for command in server.executed[-2:]] == [
        "pyautogui.mouseUp(button='left')",
        "pyautogui.keyUp('shift')",
    ]


def test_a_pixel_is_clicked_whatever_is_there() -> None:
    server = ScriptedServer()
    assert desktop(server).perform(Click(at=(5, 6)), settle=False).ok
    assert "pyautogui.click(5, 6" in server.executed[0][2]


def test_an_action_is_over_when_the_screen_has_stopped_changing() -> None:
    server = ScriptedServer()
    machine = desktop(server)
    save = machine.observe().elements[0]

    def draw() -> None:
        server.picture = png(shade=200)

    server.on_execute = draw
    assert machine.perform(Click(element_id=save.id)).settled_after_s > 0


def test_an_application_is_brought_to_the_front_or_started() -> None:
    server = ScriptedServer()
    server.windows = [listed()]
    entry = {"id": "org.calc", "name": "Calculator", "argv": ["calc", "-n"], "generic_name": "", "window_class": ""}
    server.entries = [{**entry, "keywords": [], "categories": []}]
    machine = desktop(server)
    machine.observe()
    assert machine.perform(SwitchApplications(app_code="notes"), settle=False).switched_to == "Notes"
    assert server.executed[0][3:] == ["activate", "77"]

    server.windows = None
    assert machine.perform(SwitchApplications(app_code="calculator"), settle=False).started == "Calculator"
    assert server.launched == [["calc", "-n"]]


def test_a_machine_without_accessibility_still_shows_its_pixels() -> None:
    server = ScriptedServer()
    server.failures["/accessibility"] = [httpx.Response(500, text="no bus")]
    seen = desktop(server).observe()
    assert seen.screenshot.shape == (240, 320, 3) and not seen.elements
    assert "no accessibility tree (status 500: 'no bus')" in seen.notes[0]


def test_kept_texts_belong_to_the_task() -> None:
    machine = desktop(ScriptedServer())
    machine.perform(SaveToBuffer(text="42"))
    assert machine.observe().buffer == ("42",)
    machine.clear_buffer()
    assert machine.observe().buffer == ()


def test_a_stop_ends_every_action() -> None:
    machine = desktop(ScriptedServer())
    machine.halt.call("enough")
    with pytest.raises(Halted):
        machine.perform(Done())
