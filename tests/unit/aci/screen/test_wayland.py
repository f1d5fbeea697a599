from __future__ import annotations

import pytest

from aci.screen.wayland import is_wayland, limits


@pytest.mark.parametrize(
    ("environment", "wayland"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, True),
        ({"XDG_SESSION_TYPE": "wayland"}, True),
        ({"XDG_SESSION_TYPE": "x11", "DISPLAY": ":0"}, False),
        ({"WAYLAND_DISPLAY": "", "DISPLAY": ":0"}, False),
        ({}, False),
    ],
)
def test_wayland_session_is_recognized_by_its_environment(environment: dict[str, str], wayland: bool) -> None:
    assert is_wayland(environment) is wayland


def test_notes_name_unreachable_applications_and_what_to_do() -> None:
    [general] = limits(())
    assert "--virtual" in general
    _, named = limits(("Maps", "Clocks", "Maps"))
    assert named.endswith("Clocks, Maps.")
