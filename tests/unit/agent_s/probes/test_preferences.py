"""Settings of a home, and whether a hidden switch may be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.probes.preferences import KEYFILE, cannot_switch, differing, read_settings


def test_settings_file_is_read(tmp_path: Path) -> None:
    assert read_settings(None) is None
    assert read_settings(tmp_path) == {}, "a fresh home has its defaults"
    database = tmp_path / ".config/dconf/user"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"GVariant")
    assert read_settings(tmp_path) is None, "they are in a database"
    keyfile = tmp_path / KEYFILE
    keyfile.parent.mkdir(parents=True)
    keyfile.write_text("[org/app/view]\nnumbers=true\n\n[org/app]\nsort='a=b'\n")
    assert read_settings(tmp_path) == {"org/app/view/numbers": "true", "org/app/sort": "'a=b'"}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, ""),
        ({"a/b": "false"}, ""),
        ({"a/b": "true"}, "a/b is true already"),
        (None, "nothing shows whether a/b is true already"),
    ],
)
def test_hidden_switch_needs_a_readable_setting(settings: dict[str, str] | None, why: str) -> None:
    assert cannot_switch({"a/b": "true"}, settings) == why
    assert cannot_switch({}, settings) == ""


def test_differing_settings_are_reported() -> None:
    assert differing({"a/b": "true", "a/c": "1"}, {"a/b": "true"}) == ["a/c"]
    assert differing({"a/b": "true"}, None) == []
