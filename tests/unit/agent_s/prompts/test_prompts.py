"""What each kind of call sends, word for word."""

from __future__ import annotations

from importlib.resources import files
from typing import get_args

import pytest

from agent_s.llm.protocol import Kind
from tests.unit.agent_s.prompts.contexts import CONTEXTS, SNAPSHOTS, as_text, renderer


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_call_sends_what_the_snapshot_says(name: str) -> None:
    expected = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert as_text(renderer().render(CONTEXTS[name])) == expected


def test_every_kind_of_call_has_a_prompt_and_a_snapshot() -> None:
    assert {context.kind for context in CONTEXTS.values()} == set(get_args(Kind))
    prompts = {
        file.name for file in (files("agent_s.llm.prompting") / "prompts").iterdir() if file.name.endswith(".md.j2")
    }
    assert prompts == {f"{kind}.md.j2" for kind in get_args(Kind)} | {"retry.md.j2"}


def test_instructions_do_not_depend_on_the_task() -> None:
    later = renderer().render(CONTEXTS["act_later"])
    assert later.system == renderer().render(CONTEXTS["act"]).system
