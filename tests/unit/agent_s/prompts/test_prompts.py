"""What each kind of call sends, word for word."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, get_args

import pytest
from pydantic_core import to_jsonable_python

from aci.acting.actions import PRIMITIVES
from agent_s.llm.protocol import Kind
from agent_s.llm.providers.schemas import schema_for
from agent_s.llm.providers.structured import read_response
from agent_s.probes.requests import Probe
from tests.unit.agent_s.prompts.contexts import CONTEXTS, MACHINE, SNAPSHOTS, as_text, renderer


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_request_is_what_the_snapshot_shows(name: str) -> None:
    expected = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert as_text(renderer().render(CONTEXTS[name], MACHINE)) == expected


def test_every_kind_of_call_has_a_prompt_and_a_snapshot() -> None:
    assert {context.kind for context in CONTEXTS.values()} == set(get_args(Kind)) - {"ground"}
    prompts = {
        file.name for file in (files("agent_s.llm.prompting") / "prompts").iterdir() if file.name.endswith(".md.j2")
    }
    expected = {f"{kind}.md.j2" for kind in get_args(Kind) if kind != "ground"}
    assert prompts == expected | {"retry.md.j2", "computer_use.md.j2", "computer_use_formats.md.j2"}


def test_no_example_names_an_element_that_may_exist() -> None:
    """A small model copies the id of an example, and clicks what has it."""
    assert set(re.findall(r'"element_id": ([0-9]+)', renderer().render(CONTEXTS["act"]).system)) == {"0"}


def test_instructions_do_not_depend_on_the_task() -> None:
    later = renderer().render(CONTEXTS["act_later"])
    assert later.system == renderer().render(CONTEXTS["act"]).system


# The same names in prompt, example, schema and type


@pytest.mark.parametrize("name", CONTEXTS)
def test_each_example_of_an_answer_is_valid_and_has_the_fields_of_the_schema(name: str) -> None:
    context = CONTEXTS[name]
    examples = examples_of(renderer().render(context).system)
    assert examples
    for example in examples:
        schema = schema_for(context.response_type, "flat")
        assert list(example) == list(schema["properties"])
        assert not unknown_fields(example, schema, schema.get("$defs", {}))
        text = json.dumps(example)
        assert isinstance(read_response(text, context.response_type), context.response_type)


def test_the_prompt_shows_each_primitive_with_all_its_fields() -> None:
    system = renderer().render(CONTEXTS["act"]).system
    shown = re.findall(r"\b(\w+)\(([^()]*)\)", system[: system.index("Rules:")])
    listed = {name: [field.partition("=")[::2] for field in fields.split(", ") if field] for name, fields in shown}
    assert set(listed) == set(PRIMITIVES)
    for name, fields in listed.items():
        known = PRIMITIVES[name].model_fields
        assert {"action", *(field for field, _ in fields)} == set(known)
        for field, default in fields:
            assert not default or json.loads(default) == to_jsonable_python(known[field].get_default())


def test_the_prompt_shows_each_probe_with_all_its_fields() -> None:
    system = renderer().render(CONTEXTS["verify"]).system
    shown = [read_placeholders(found) for found in re.findall(r'\{"probe": [^}]*\}', system)]
    kinds = {kind.model_fields["probe"].default: kind for kind in get_args(Probe)}
    assert {fields["probe"]: set(fields) for fields in shown} == {
        name: set(kind.model_fields) for name, kind in kinds.items()
    }


def test_the_machine_is_described_to_those_who_plan_act_and_judge() -> None:
    for kind in ("query", "plan", "act", "verify"):
        text = as_text(renderer().render(CONTEXTS[kind], MACHINE))
        for fact in ("Debian", "1280x800", "de,us", "09:05 (CET, UTC+0100)", "/home/ada", "~/Downloads", "Mousepad"):
            assert fact in text
        assert "</screen-0000000000>" not in text
    assert "The computer" not in as_text(renderer().render(CONTEXTS["act"]))


def examples_of(system: str) -> list[dict[str, Any]]:
    lines = system.split("\n")
    return [json.loads(line) for line in lines[-3:] if line.startswith("{")]


def unknown_fields(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    """Return the fields of an example, at any depth, that its schema does not have."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if isinstance(value, list):
        return [name for item in value for name in unknown_fields(item, schema["items"], definitions)]
    if not isinstance(value, dict):
        return []
    fields = schema["properties"]
    deeper = (unknown_fields(value[name], fields[name], definitions) for name in value if name in fields)
    return [*(name for name in value if name not in fields), *(name for names in deeper for name in names)]


def read_placeholders(text: str) -> dict[str, Any]:
    """Read a primitive or probe of a prompt, with numbers in place of ID, N and SECONDS."""
    found: dict[str, Any] = json.loads(re.sub(r": (ID|N|SECONDS)\b", ": 1", text))
    return found
