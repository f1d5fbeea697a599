"""Runs the code blocks of the README and of docs/: Python as it stands, and each `$ agent-s` line of a console.

Of other blocks and of commands in the text, it checks that commands, options and settings exist.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from agent_s.cli.app import app
from agent_s.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (agent-s .*?)(?:  # exits (\d))?$", re.MULTILINE)


def blocks(language: str) -> list[pytest.ParameterSet]:
    return [
        pytest.param(found.group(2), id=f"{page.name}:{page.read_text()[: found.start()].count(chr(10)) + 1}")
        for page in PAGES
        for found in BLOCK.finditer(page.read_text())
        if found.group(1) == language
    ]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user without data of this program and without a screen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_") and name != "DISPLAY"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path}


@pytest.mark.desktop
@pytest.mark.slow
@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks_run(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.desktop
@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("console"))
def test_console_blocks_run(block: str, tmp_path: Path) -> None:
    for command, status in COMMAND.findall(block):
        argv = shlex.split(command, comments=True)
        done = subprocess.run(argv, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == int(status or 0), f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("block", blocks("yaml"))
def test_yaml_blocks_with_settings_are_valid(block: str, tmp_path: Path) -> None:
    values = yaml.safe_load(block)
    if isinstance(values, dict) and values.keys() & Settings.model_fields.keys():
        (tmp_path / "own.yaml").write_text(block)
        load_settings(tmp_path / "own.yaml")


@pytest.mark.parametrize("block", blocks("json"))
def test_json_blocks_can_be_read(block: str) -> None:
    json.loads(block)


def commands() -> list[pytest.ParameterSet]:
    """Return every mention of a command of agent-s: in the text, in tables and in blocks."""
    found = []
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        mentions = re.findall(r"`(agent-s [^`\n]+)`", text)
        for block in re.findall(r"^```(?!mermaid)\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            mentions += re.findall(r"(?:^|\s|/)(agent-s (?!pytest|anthropic|with)[a-z-].*)$", block, re.MULTILINE)
        found += [pytest.param(mention, id=f"{page.name}: {mention}") for mention in dict.fromkeys(mentions)]
    return found


@pytest.mark.parametrize("mention", commands())
def test_commands_options_and_settings_exist(mention: str) -> None:
    words = shlex.split(mention, comments=True)[1:]
    command: click.Command = app
    context = click.Context(app)
    for word in words:
        if isinstance(command, click.Group) and not word.startswith("-") and word != "COMMAND":
            found = command.get_command(context, word)
            assert found is not None, word
            command = found
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    for at, word in enumerate(words):
        if word in {">", ">>", "|", "||", "&&"}:
            break
        assert not word.startswith("-") or word.partition("=")[0] in known, word
        if word == "-c" and words[at + 1] != "KEY=VALUE":
            key, _, value = words[at + 1].partition("=")
            load_settings(overrides={key: value})


def test_every_page_is_linked_and_every_link_has_a_target() -> None:
    targets = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    }
    assert [str(target) for target in targets if not target.exists()] == []
    assert [page.name for page in PAGES[1:] if page not in targets] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]]
    assert [page for page in pages if f": {page}\n" not in navigation] == []
