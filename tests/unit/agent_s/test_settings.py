from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from aci.screen.emergency_stop import StopBy
from agent_s.errors import SettingsError
from agent_s.settings import Settings, configs_folder, load_settings, setting_keys


def test_defaults_need_no_file() -> None:
    settings = load_settings()
    assert settings.model == "offline"
    assert settings.limits.max_steps == 100


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("limits:\n  max_steps: 7\n  max_replans: 1\n")
    settings = load_settings(file, overrides={"limits.max_steps": "30", "memory.enabled": "false"})
    assert settings.limits.max_steps == 30
    assert settings.limits.max_replans == 1
    assert settings.memory.enabled is False


def test_a_name_need_not_be_quoted_for_yaml() -> None:
    settings = load_settings(overrides={"model": "anthropic:", "search.chat_model": "12", "grounding.model": "null"})
    assert (settings.model, settings.search.chat_model, settings.grounding.model) == ("anthropic:", "12", None)


def test_the_stop_key_and_corner_depend_on_the_desktop() -> None:
    assert load_settings().desktop.stop_by(virtual=False) == StopBy("ctrl+shift+escape", corner=True)
    assert load_settings().desktop.stop_by(virtual=True) is None
    own = load_settings(overrides={"desktop.stop_key": "Pause", "desktop.stop_virtual": True}).desktop
    assert own.stop_by(virtual=True) == StopBy("Pause", corner=True)
    off = load_settings(overrides={"desktop.stop_key": "null", "desktop.stop_corner": False}).desktop
    assert off.stop_by(virtual=False) is None
    with pytest.raises(SettingsError, match="frob"):
        load_settings(overrides={"desktop.stop_key": "ctrl+frob"})


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    assert load_settings(tmp_path / "empty.yaml") == load_settings()


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"limits.max_step": 3}, "Did you mean limits.max_steps"),
        ({"modle": "offline"}, "Did you mean model"),
        ({"quux": 1}, "There are: model"),
        ({"limits.max_steps": "many"}, "limits.max_steps"),
        ({"limits.max_steps": 0}, "limits.max_steps"),
        ({"limits": "3", "limits.max_steps": 3}, "not a section"),
        ({"limits": 3}, "limits: this is a section"),
        ({"policy.rules": {"terminl": "refuse"}}, r"policy.rules.terminl: Input should be 'terminal'"),
        ({"model": "[unclosed"}, "cannot read the value"),
        ({"replay": "only", "memory.enabled": False}, "Invalid settings: replay is `only`, but there is no memory"),
        ({"observation": "pictures"}, "observation: Input should be"),
        (
            {"observation": "marks", "provider.max_pictures": 0},
            "observation is `marks`, but provider.max_pictures is 0",
        ),
        ({"memory.path": "m.sqlite", "memory.url": "postgresql://me@here/m"}, "memory.path and memory.url"),
    ],
)
def test_an_invalid_setting_is_named(overrides: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_settings(overrides=overrides)


@pytest.mark.parametrize(
    ("name", "form"), [("a11y_tree", "tree"), ("screenshot_a11y_tree", "screenshot_tree"), ("som", "marks")]
)
def test_forms_of_observations_may_have_their_names_in_osworld(name: str, form: str) -> None:
    assert load_settings(overrides={"observation": name}).observation == form


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no configuration file .*nowhere\.yaml"):
        load_settings(tmp_path / "nowhere.yaml")
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(SettingsError, match="keys and values"):
        load_settings(tmp_path / "list.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limits.max_steps: 3\n", "indented below `limits:`"),
        ("limits:\n  max_dollars: 1\nmodel: offline\nlimits:\n  max_steps: 3\n", "limits twice.* line 4"),
        ("limits: {max_steps: 3, max_steps: 4}\n", "max_steps twice"),
    ],
)
def test_a_file_that_would_lose_a_setting_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(SettingsError, match=said):
        load_settings(tmp_path / "own.yaml")


def test_a_tilde_in_a_path_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.yaml").write_text("runs_dir: ~/runs\nmemory:\n  path: ~/memory.sqlite\n")
    settings = load_settings(tmp_path / "own.yaml")
    assert settings.runs_folder == tmp_path / "runs"
    assert settings.memory_path == tmp_path / "memory.sqlite"


def test_packaged_configurations_load() -> None:
    found = sorted(configs_folder().glob("*.yaml"))
    assert found
    for file in found:
        load_settings(file)


def test_every_setting_is_documented_as_in_its_docstring() -> None:
    root = configs_folder().parent
    table = "\n".join(runpy.run_path(str(root / "scripts" / "write-settings"))["rows"](Settings))
    page = (root / "docs" / "settings.md").read_text()
    assert table in page, "run scripts/write-settings"
    assert [key for key in setting_keys() if f"`{key}`" not in page] == []
