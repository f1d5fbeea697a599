"""Which ways of input work here, without any of them."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pytest

from aci.errors import CannotType
from aci.input import backends
from aci.input.backends import available_inputs
from aci.input.keys import keysym
from aci.input.pyautogui import key_name
from agent_s.cli.doctor_checks import inputs


def absent(name: str) -> SimpleNamespace:
    raise metadata.PackageNotFoundError(name)


def test_both_work_where_their_packages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", absent)
    monkeypatch.setattr(backends, "find_spec", lambda name: object())
    assert [(found.name, found.works, found.hint) for found in available_inputs()] == [
        ("xtest", True, ""),
        ("pyautogui", True, ""),
    ]


def test_pyautogui_is_optional_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", absent)
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    xtest, other = inputs()
    assert (xtest.state, other.state) == ("ok", "optional")
    assert "--no-deps" in other.hint and "not there" in other.detail


def test_overwritten_xlib_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(version="0.15"))
    states = [(found.state, "python3-xlib 0.15" in found.detail, "python-xlib" in found.hint) for found in inputs()]
    assert states == [("missing", True, True), ("optional", True, True)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ctrl", "ctrl"), ("PageUp", "pageup"), ("a", "a"), ("F11", "f11"), ("?", "?"), ("win", "win")],
)
def test_pyautogui_names_of_keys_are_found_by_keysym(name: str, expected: str) -> None:
    assert key_name(keysym(name)) == expected


@pytest.mark.parametrize("name", ["é", "volumeup", "altgr"])
def test_a_key_without_a_name_is_an_error(name: str) -> None:
    with pytest.raises(CannotType, match="xtest"):
        key_name(keysym(name))
