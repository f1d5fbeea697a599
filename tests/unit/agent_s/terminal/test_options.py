"""Settings from a command line."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from agent_s.errors import SettingsError
from agent_s.settings import Settings
from agent_s.terminal.options import FILE, check_cluster, read_settings, with_default_model


def test_options_win_over_overrides_and_these_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("limits: {max_steps: 5, max_replans: 1}\nmodel: recorded:file\n")
    settings = read_settings(file, ("limits.max_steps=7", "model=recorded:override"), {"model": "recorded:option"})
    assert (settings.limits.max_steps, settings.limits.max_replans) == (7, 1)
    assert settings.model == "recorded:option"
    assert read_settings(file, ("model=recorded:override",), {"model": None}).model == "recorded:override"


def test_a_value_may_hold_an_equals_sign() -> None:
    assert read_settings(None, ("model=recorded:a=b",)).model == "recorded:a=b"


def test_a_tilde_that_the_shell_leaves_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert FILE.convert("~/own.yaml", None, None) == tmp_path / "own.yaml"
    assert FILE.convert("own~.yaml", None, None) == Path("own~.yaml")


@pytest.mark.parametrize("text", ["limits.max_steps", "=5", " =5", ""])
def test_malformed_override_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError, match="KEY=VALUE"):
        read_settings(None, (text,))


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingsError, match="max_steps"):
        read_settings(None, ("limits.max_steps=many",))


def test_without_a_key_and_a_name_the_model_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert with_default_model(read_settings(None, ())).model == "offline"


def test_a_key_chooses_its_provider_and_a_name_wins_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not a key")
    assert with_default_model(read_settings(None, ())).model.startswith("anthropic:")
    assert with_default_model(read_settings(None, ("model=offline",))).model == "offline"


def test_memory_in_a_file_is_refused_on_a_cluster() -> None:
    def with_memory(**fields: object) -> Settings:
        return Settings.model_validate({"memory": fields})

    with pytest.raises(click.UsageError, match=r"memory\.url=postgresql"):
        check_cluster("auto", with_memory())
    check_cluster(None, with_memory())
    check_cluster("auto", with_memory(enabled=False))
    check_cluster("auto", with_memory(url="postgresql://agent@db/memory"))
