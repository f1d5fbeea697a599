"""What models that operate the screen by pixels are told, word for word."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_s.llm.computer_use.formats import Language
from agent_s.llm.computer_use.languages import ACTIONS
from agent_s.llm.computer_use.model import TEMPLATE, brief, notes
from agent_s.llm.computer_use.served import PROMPTS
from agent_s.llm.protocol import ActContext, ModelRequest
from tests.unit.agent_s.prompts.contexts import CONTEXTS, MACHINE, SNAPSHOTS, renderer

SIZE = {"width": 1288, "height": 812}
BLOCKS = {
    "computer_use": [(TEMPLATE, "system", {})],
    **{f"computer_use_{language}": [(PROMPTS, language, SIZE)] for language in ACTIONS},
    "computer_use_places": [(PROMPTS, f"{language}_point", SIZE) for language in get_args(Language)],
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_prompt_is_what_the_snapshot_shows(name: str) -> None:
    expected = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert "\n\n---\n\n".join(renderer().block(*block) for block in BLOCKS[name]) + "\n" == expected


def test_a_subtask_begins_with_the_same_words_as_for_other_models() -> None:
    context = CONTEXTS["act"]
    assert isinstance(context, ActContext)
    words = brief(renderer(), context, ModelRequest(context, machine=MACHINE)).request
    assert words.startswith("The computer") and f"Subtask: {context.subtask.name}" in words
    assert "`then`" not in words


def test_earlier_steps_are_described_in_words() -> None:
    context = CONTEXTS["act_later"]
    assert isinstance(context, ActContext) and context.steps
    request = ModelRequest(context, machine=MACHINE)
    assert "Steps that were taken before" in brief(renderer(), context, request).request
    assert ("Reflector feedback" in notes(renderer(), context, request)) is bool(context.reflection)
