"""Intents in few words, so that a test says at a glance how a sentence is read."""

from __future__ import annotations

from dataclasses import fields

from agent_s.offline.intents import (
    Condition,
    InPlace,
    Intent,
    InTurn,
    OnlyIf,
    RepeatUntil,
)
from agent_s.offline.keys import show_chord
from agent_s.offline.reading import read_instruction
from agent_s.offline.targets import TargetQuery

_LEFT_OUT = {"said", "leave", "words", "seconds", "label"}


def readings(instruction: str) -> list[str]:
    """Return each clause of an instruction in brief."""
    return [brief(part.intent) for part in read_instruction(instruction)]


def brief(intent: Intent) -> str:
    """Return an intent in brief: its kind, and what is not the default."""
    match intent:
        case InTurn(intents=intents):
            return " + ".join(brief(inner) for inner in intents)
        case InPlace(place=place, intent=inner):
            return f"in <{query(place)}>: {brief(inner)}"
        case OnlyIf(condition=condition, intent=inner):
            return f"if {condition_brief(condition)}: {brief(inner)}"
        case RepeatUntil(condition=condition, intent=inner):
            return f"until {condition_brief(condition)}: {brief(inner)}"
        case _:
            return f"{type(intent).__name__}({', '.join(_parts(intent))})"


def _parts(intent: Intent) -> list[str]:
    shown: list[str] = []
    for field in fields(intent):
        value = getattr(intent, field.name)
        if field.name in _LEFT_OUT or value == field.default or value is None or value in ("", ()):
            continue
        shown.append(_value(field.name, value))
    return shown


def _value(name: str, value: object) -> str:
    if isinstance(value, TargetQuery):
        return (
            f"{name}=<{query(value)}>" if name in ("source", "destination", "within", "until") else f"<{query(value)}>"
        )
    if isinstance(value, Condition):
        return condition_brief(value)
    if name == "chords" and isinstance(value, tuple):
        return " ".join(show_chord(chord) for chord in value)
    if name == "fields" and isinstance(value, tuple):
        return ", ".join(f"<{query(one)}>={text!r}" for one, text in value)
    if isinstance(value, tuple) and value and isinstance(value[0], TargetQuery):
        return ", ".join(f"<{query(one)}>" for one in value)
    if name in ("items", "cells", "submit") and isinstance(value, tuple):
        return (
            " > ".join(value)
            if name == "items"
            else " ".join(":".join(cell) if name == "cells" else cell for cell in value)
        )
    return (
        f"{value!r}"
        if name in ("name", "text", "path", "url", "address", "what", "value", "button", "words")
        else f"{name}={value!r}"
    )


def condition_brief(condition: Condition) -> str:
    """Return a condition in brief."""
    text = f" {condition.text!r}" if condition.text else ""
    return f"{'not ' if condition.negated else ''}{condition.kind} <{query(condition.target)}>{text}"


def query(target: TargetQuery) -> str:
    """Return a description of an element in brief."""
    parts = [f"{target.name!r}" if target.quoted else target.name] if target.name else []
    parts += [target.kinds[0]] if target.kinds else []
    parts += [f"#{target.ordinal}"] if target.ordinal is not None else []
    parts += ["every"] if target.every else []
    parts += sorted(target.places)
    parts += [target.state] if target.state else []
    if target.relation and target.anchor:
        parts.append(f"{target.relation} ({query(target.anchor)})")
    if target.within:
        parts.append(f"in ({query(target.within)})")
    return " ".join(parts)
