"""Compact JSON schemas of typed responses.

A schema is sent with every request, so it contains only names, types and choices; pydantic checks the rest afterwards.
For a provider, a union of models (the primitives, the probes) becomes one flat object with the name of the kind and the
fields of all kinds. That takes a fifth of the text of the union and stays within the limits of providers. A server that
turns the schema into a grammar gets the union, since a small model fills in whatever a grammar lets it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from agent_s.llm.protocol import Response

MAX_OPTIONAL = 24  # fields that may be left out in one schema of Anthropic's; it takes up to 16 more that may be null

_KEPT = frozenset(("type", "enum", "const", "items", "properties", "required", "additionalProperties", "anyOf"))
"""The keywords that every provider takes; bounds and descriptions are refused by some, or only cost tokens."""
_NULL = {"type": "null"}

SchemaForm = Literal["strict", "flat", "kinds"]
"""How unions of models are written.

strict: one flat object that requires every field, as OpenAI's strict mode does; those that its kind lacks are null.
flat: one flat object, from which most fields that its kind lacks are left out.
kinds: each kind with its own fields; those that have a default may be left out.
"""


@cache
def schema_for(response_type: type[Response], form: SchemaForm = "strict") -> dict[str, Any]:
    """Return the JSON schema of a response type; no other field is allowed in any object."""
    whole = response_type.model_json_schema()
    writer = _Writer(whole.get("$defs", {}), form)
    return writer.whole(writer.write(whole))


class _Writer:
    """Writes one schema."""

    def __init__(self, definitions: Mapping[str, Any], form: SchemaForm) -> None:
        self._definitions = definitions
        self._form = form
        self._optional = 0
        self._defined: dict[str, dict[str, Any]] = {}  # by name

    def whole(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the complete schema; a definition that is used once is inlined."""
        whole = {**schema, "$defs": self._defined}
        for name in self._defined:
            if json.dumps(whole).count(json.dumps(_reference(name))) == 1:
                others = {other: body for other, body in whole["$defs"].items() if other != name}
                whole = _put_in({**whole, "$defs": others}, name, whole["$defs"][name])
        return whole if whole["$defs"] else {name: value for name, value in whole.items() if name != "$defs"}

    def write(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the small form of a schema."""
        if "$ref" in node:
            return self._defined_once(str(node["$ref"]).rpartition("/")[2])
        if "discriminator" in node:
            name = str(node["discriminator"]["propertyName"])
            if name not in self._defined:
                self._defined[name] = self._kinds(node, name) if self._form == "kinds" else self._flat(node)
            return _reference(name)
        for union in ("anyOf", "oneOf"):
            if union in node:
                return _union([self.write(one) for one in node[union]])
        if "prefixItems" in node:  # a tuple; its length is checked afterwards
            return {"type": "array", "items": self.write(node["prefixItems"][0])}
        small = {name: value for name, value in node.items() if name in _KEPT}
        if "const" in small:
            small["enum"] = [small.pop("const")]
        if "items" in node:
            small["items"] = self.write(node["items"])
        if "properties" in node:
            fields = {name: self.write(field) for name, field in node["properties"].items()}
            small |= {"properties": fields, "required": list(fields), "additionalProperties": False}
        return small

    def _defined_once(self, name: str) -> dict[str, Any]:
        """Return a reference to a definition, or the definition itself if it is short."""
        body = self.write(self._definitions[name])
        if not _without_null(body).keys() & {"properties", "anyOf"}:
            return body
        self._defined[name] = body
        return _reference(name)

    def _members(self, union: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [self._definitions[str(one["$ref"]).rpartition("/")[2]] for one in union["oneOf"]]

    def _kinds(self, union: Mapping[str, Any], tag: str) -> dict[str, Any]:
        """Return a choice of the kinds of a union; a field that may be left out is never null."""
        kinds = []
        for member in self._members(union):
            required = [tag, *member.get("required", ())]
            fields = {
                name: field if name in required else _without_null(field)
                for name, field in self.write(member)["properties"].items()
            }
            kinds.append({"type": "object", "properties": fields, "required": required, "additionalProperties": False})
        return {"anyOf": kinds}

    def _flat(self, union: Mapping[str, Any]) -> dict[str, Any]:
        """Return one object with the fields of all kinds of a union."""
        kinds = [self.write(member)["properties"] for member in self._members(union)]
        fields: dict[str, list[dict[str, Any]]] = {}
        for kind in kinds:
            for name, field in kind.items():
                fields.setdefault(name, []).append(field)
        written, required = {}, []
        for name, forms in fields.items():
            shared = len(forms) == len(kinds)
            left_out = not shared and self._may_leave_out()
            bare = [_without_null(form) for form in forms]
            nullable = shared or left_out or any(self._allows_null(form) for form in bare)
            written[name] = _union(bare if nullable else [*bare, _NULL])
            required += [] if left_out else [name]
        return {"type": "object", "properties": written, "required": required, "additionalProperties": False}

    def _allows_null(self, form: dict[str, Any]) -> bool:
        """Return whether a form refers to a definition that allows null."""
        body = self._defined.get(str(form.get("$ref")).rpartition("/")[2], {})
        return body != _without_null(body)

    def _may_leave_out(self) -> bool:
        if self._form == "strict" or self._optional >= MAX_OPTIONAL:
            return False
        self._optional += 1
        return True


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _put_in(node: Any, name: str, union: dict[str, Any]) -> Any:
    """Return a schema with a union inlined in place of references to it."""
    if isinstance(node, list):
        return [_put_in(item, name, union) for item in node]
    if not isinstance(node, dict):
        return node
    return union if node == _reference(name) else {key: _put_in(value, name, union) for key, value in node.items()}


def _without_null(form: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that does not allow null."""
    if isinstance(form.get("type"), list):
        types = [one for one in form["type"] if one != "null"]
        form = {**form, "type": types[0] if len(types) == 1 else types}
    if "anyOf" in form:
        return _union([one for one in form["anyOf"] if one != _NULL])
    return {**form, "enum": [one for one in form["enum"] if one is not None]} if "enum" in form else form


def _union(forms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a schema that allows any of the forms, as a single list of choices or types if possible."""
    forms = [one for form in forms for one in form.get("anyOf", [form])]
    if {"type": "number"} in forms:
        forms = [form for form in forms if form != {"type": "integer"}]  # integers are numbers
    different = [form for position, form in enumerate(forms) if form not in forms[:position]]
    if len(different) == 1:
        return different[0]
    others = [form for form in different if form != _NULL]
    if all("enum" in form for form in others):
        choices = {"enum": [choice for form in others for choice in form["enum"]], "type": others[0]["type"]}
        different = [choices] if len(others) == len(different) else [choices, _NULL]
        others = [choices]
    if len(different) == 1:
        return different[0]
    if len(others) == 1 and len(different) == 2 and others[0].get("type") not in ("object", None):
        nullable = {**others[0], "type": [others[0]["type"], "null"]}
        return {**nullable, "enum": [*nullable["enum"], None]} if "enum" in nullable else nullable
    return {"anyOf": different}
