"""Parsing of answers into typed responses.

Even providers that enforce a schema may truncate answers, and many servers ignore it. Therefore all answers are parsed
in the same way: find the only JSON object, reject ambiguous answers, and validate with pydantic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from aci.acting.actions import PRIMITIVES, parse_action
from aci.errors import MalformedAction
from agent_s.llm.protocol import ActResponse, Response, VerifyResponse
from agent_s.probes.requests import Probe

MAX_ANSWER = 400_000  # characters

_KINDS: dict[str, Mapping[str, type[BaseModel]]] = {
    "action": PRIMITIVES,
    "probe": {kind.model_fields["probe"].default: kind for kind in get_args(Probe)},
}
"""The models of each union, by the field that names the kind and its values."""

_THINKING = re.compile(r"(?:\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z))+", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*["}]')
_CALL = re.compile(r"^[ \t]*(agent\.\w+\(.*\))[ \t]*$", re.MULTILINE)


class Unreadable(ValueError):
    """An answer is invalid; the message tells the model why."""


def read_response(text: str, response_type: type[Response]) -> Response:
    """Read an answer.

    Args:
        text: One JSON object, alone, in a fence or in prose; for `ActResponse` the primitive may have the paper's form
            `agent.click(41)`.
        response_type: Expected type.

    Raises:
        Unreadable: It is not valid.
    """
    if len(text) > MAX_ANSWER:
        raise Unreadable(f"the answer has {len(text)} characters; at most {MAX_ANSWER} are read")
    body = without_thinking(text)
    if not body:
        raise Unreadable("the answer is empty")
    if response_type is ActResponse and (call := _only_call(body)) is not None:
        return ActResponse(next_action="", action=_action(call))
    fields = _only_object(body)
    if response_type is ActResponse:
        fields = _with_action(fields)
    fields = _without_unused(fields)
    try:
        response = response_type.model_validate(fields)
    except ValidationError as error:
        raise Unreadable(_problems(error)) from error
    if isinstance(response, VerifyResponse):  # only citations can be checked
        return response.model_copy(update={"evidence": ()})
    return response


def without_thinking(text: str) -> str:
    """Remove the reasoning that open models write before an answer; reasoning marks within the answer stay."""
    thinking = _THINKING.match(text)
    return text[thinking.end() if thinking else 0 :].strip()


def _problems(error: ValidationError) -> str:
    """Return the validation errors, without repeating the input."""
    listed = error.errors(include_url=False, include_input=False, include_context=False)[:5]
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in listed)


# Finding the object


def _only_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of a text."""
    found = list(_objects(text))
    if not found:
        raise Unreadable("there is no complete JSON object in the answer")
    if any(other != found[0] for other in found):
        raise Unreadable(f"the answer holds {len(found)} JSON objects; give exactly one")
    try:
        json.dumps(found[0], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Unreadable(
            "a text in it has half a character: an escape \\ud800 to \\udfff without its other half"
        ) from error
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects of a text; braces in prose are skipped.

    A truncated or malformed object is rejected, since an object inside it could be mistaken for the answer.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    position = 0
    while (begin := _OBJECT.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, begin.start())
        except Unreadable:
            raise
        except json.JSONDecodeError as error:
            raise Unreadable(f"not valid JSON: {error.msg} at character {error.pos}") from error
        except (RecursionError, ValueError) as error:
            raise Unreadable("the JSON is nested too deeply, or a number in it is too long") from error
        yield value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the field {twice[:60]!r} is given twice in one object")
    return fields


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is not a number of JSON")


# The grounded action


def _only_call(text: str) -> str | None:
    """Return the primitive of an answer in the paper's form, without JSON."""
    if text.startswith("{") or '"action"' in text:
        return None
    calls = _CALL.findall(text)
    if len(calls) > 1:
        raise Unreadable(f"the answer holds {len(calls)} primitives; give exactly one")
    return calls[0] if calls else None


def _with_action(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a Worker's answer with its primitive as an object."""
    action = fields.get("action")
    if not isinstance(action, str):
        return fields
    if action in PRIMITIVES:  # the primitive's fields are on the top level
        own = {name: value for name, value in fields.items() if name in PRIMITIVES[action].model_fields}
        rest = {name: value for name, value in fields.items() if name not in own}
        return {**rest, "action": own}
    return {**fields, "action": _action(action).model_dump(mode="json")}


def _without_unused(node: Any) -> Any:
    """Remove nulls, and empty fields of other kinds, from the primitives and probes of an answer.

    The schema has one flat object for all kinds, which models fill with nulls and defaults. Some write an element's id
    as a string.
    """
    if isinstance(node, list):
        return [_without_unused(item) for item in node]
    if not isinstance(node, dict):
        return node
    kind = next((kinds.get(str(node.get(name))) for name, kinds in _KINDS.items() if name in node), None)
    return {
        name: int(value) if _is_id(name, value) else _without_unused(value)
        for name, value in node.items()
        if kind is None or (value is not None if name in kind.model_fields else not _is_void(name, value))
    }


def _is_id(name: str, value: Any) -> bool:
    return name.endswith("_id") and isinstance(value, str) and value.isascii() and value.isdecimal()


def _is_void(name: str, value: Any) -> bool:
    """Return whether a field of another kind is empty or has its default."""
    return not value or any(
        name in kind.model_fields and kind.model_fields[name].default == value
        for kinds in _KINDS.values()
        for kind in kinds.values()
    )


def _action(text: str) -> Any:
    try:
        return parse_action(text)
    except MalformedAction as error:
        raise Unreadable(f"action: {error}") from error
