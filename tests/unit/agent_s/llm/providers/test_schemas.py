from __future__ import annotations

import json
from typing import Any

import pytest

from aci.acting.actions import PRIMITIVES
from agent_s.llm.protocol import ActResponse, Response, VerifyResponse
from agent_s.llm.providers.schemas import MAX_OPTIONAL, SchemaForm, schema_for
from tests.wire.formats import optional_fields, strictness, unions

MAX_ACT_SCHEMA: dict[SchemaForm, int] = {"strict": 2_800, "flat": 2_200}  # characters
RESPONSES = Response.__subclasses__()


def action_of(schema: dict[str, Any]) -> dict[str, Any]:
    assert schema["properties"]["action"] == {"$ref": "#/$defs/action"} == schema["properties"]["then"]["items"]
    found: dict[str, Any] = schema["$defs"]["action"]
    return found


@pytest.mark.parametrize("form", ["strict", "flat"])
def test_the_primitives_are_one_flat_object_with_all_their_fields(form: SchemaForm) -> None:
    schema = schema_for(ActResponse, form)
    action = action_of(schema)
    assert list(schema["properties"]) == [name for name in ActResponse.model_fields if name != "safety_checks"]
    assert action["properties"]["action"]["enum"] == list(PRIMITIVES)
    assert set(action["properties"]) == {name for kind in PRIMITIVES.values() for name in kind.model_fields}


@pytest.mark.parametrize("form", MAX_ACT_SCHEMA)
def test_the_schema_that_every_step_sends_is_small(form: SchemaForm) -> None:
    assert len(json.dumps(schema_for(ActResponse, form), separators=(",", ":"))) < MAX_ACT_SCHEMA[form]


def test_a_grammar_lets_a_primitive_have_its_own_fields_only() -> None:
    kinds = action_of(schema_for(ActResponse, "kinds"))["anyOf"]
    assert [kind["properties"]["action"]["enum"] for kind in kinds] == [[name] for name in PRIMITIVES]
    for kind, primitive in zip(kinds, PRIMITIVES.values(), strict=True):
        assert list(kind["properties"]) == list(primitive.model_fields)
        needed = [name for name, field in primitive.model_fields.items() if field.is_required()]
        assert kind["required"] == ["action", *needed]
        assert kind["additionalProperties"] is False
    assert kinds[0]["properties"]["element_id"] == {"type": "integer"}


@pytest.mark.parametrize("response_type", RESPONSES)
def test_a_schema_has_nothing_that_strict_providers_refuse(response_type: type[Response]) -> None:
    assert strictness(schema_for(response_type)) == []
    fewer = schema_for(response_type, "flat")
    assert strictness(fewer, every_field=False) == []
    assert strictness(schema_for(response_type, "kinds"), every_field=False) == []
    assert optional_fields(fewer) <= MAX_OPTIONAL
    assert unions(fewer) <= 16


def test_what_code_looks_up_is_not_asked_of_a_model() -> None:
    assert "evidence" not in schema_for(VerifyResponse)["properties"]
    look = schema_for(VerifyResponse, "flat")["properties"]["look"]
    assert "type" not in json.dumps(look["anyOf"][0]["properties"]["action"]["enum"])
