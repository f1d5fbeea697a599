from __future__ import annotations

import json
from typing import Any

import pytest

from aci.acting.actions import PRIMITIVES
from agent_s.llm.protocol import ActResponse, Response, VerifyResponse
from agent_s.llm.providers.schemas import MAX_OPTIONAL, schema_for
from tests.wire.formats import optional_fields, strictness, unions

MAX_ACT_SCHEMA = {True: 2_800, False: 2_200}  # characters
RESPONSES = Response.__subclasses__()


def action_of(schema: dict[str, Any]) -> dict[str, Any]:
    assert schema["properties"]["action"] == {"$ref": "#/$defs/action"} == schema["properties"]["then"]["items"]
    found: dict[str, Any] = schema["$defs"]["action"]
    return found


@pytest.mark.parametrize("every_field", [True, False])
def test_the_primitives_are_one_flat_object_with_all_their_fields(every_field: bool) -> None:
    schema = schema_for(ActResponse, every_field)
    action = action_of(schema)
    assert list(schema["properties"]) == [name for name in ActResponse.model_fields if name != "safety_checks"]
    assert action["properties"]["action"]["enum"] == list(PRIMITIVES)
    assert set(action["properties"]) == {name for kind in PRIMITIVES.values() for name in kind.model_fields}


@pytest.mark.parametrize("every_field", [True, False])
def test_the_schema_that_every_step_sends_is_small(every_field: bool) -> None:
    assert len(json.dumps(schema_for(ActResponse, every_field), separators=(",", ":"))) < MAX_ACT_SCHEMA[every_field]


@pytest.mark.parametrize("response_type", RESPONSES)
def test_a_schema_has_nothing_that_strict_providers_refuse(response_type: type[Response]) -> None:
    assert strictness(schema_for(response_type)) == []
    fewer = schema_for(response_type, every_field=False)
    assert strictness(fewer, every_field=False) == []
    assert optional_fields(fewer) <= MAX_OPTIONAL
    assert unions(fewer) <= 16


def test_what_code_looks_up_is_not_asked_of_a_model() -> None:
    assert "evidence" not in schema_for(VerifyResponse)["properties"]
    look = schema_for(VerifyResponse, every_field=False)["properties"]["look"]
    assert "type" not in json.dumps(look["anyOf"][0]["properties"]["action"]["enum"])
