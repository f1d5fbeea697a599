"""Proposals of exploration tasks from an application's own menus, buttons and labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from aci.observation.observation import Element, Observation
from agent_s.llm.protocol import Affordance, CheckableTask, ProposalContext, ProposalResponse, ProposedTask
from agent_s.offline.words import TABLE
from intents.text import quote

T = TypeVar("T")

_RANKS = {name: rank for rank, name in enumerate(TABLE["common_commands"])}
_DRAFT: str = TABLE["draft"]
_OF_MENUS = frozenset({"menu item", "check menu item", "radio menu item", "menu"})
_OPENS_DIALOG = ("...", "…")


def propose(context: ProposalContext) -> ProposalResponse:
    """Propose the common commands if no screen is given, and otherwise further tasks from the screen."""
    common = [one for one in context.affordances if _plain(one.name) in _RANKS]
    others = [one for one in context.affordances if _plain(one.name) not in _RANKS]
    if context.observation is None:
        common.sort(key=lambda one: _RANKS[_plain(one.name)])
        proposed = list(_used(context.application, common))
    else:
        single = list(_used(context.application, _by_menu(others)))
        combined = list(_combined(context, context.observation))
        proposed = [*_written(context, context.observation), *_in_turn([single, combined])]
    known = {text.casefold() for text in context.known}
    kept = [task for task in proposed if task.instruction.casefold() not in known]
    return ProposalResponse(tasks=tuple(kept[: min(context.wanted, 300)]))


def _by_menu(affordances: Sequence[Affordance]) -> list[Affordance]:
    """Order affordances round-robin by menu, since only some of them may be used."""
    menus: dict[str, list[Affordance]] = {}
    for one in affordances:
        menus.setdefault((one.within or ("",))[0], []).append(one)
    return _in_turn(list(menus.values()))


def _in_turn(lists: Sequence[Sequence[T]]) -> list[T]:
    return [one for turn in zip_longest(*lists) for one in turn if one is not None]


def _used(application: str, affordances: Iterable[Affordance]) -> Iterator[ProposedTask]:
    for one in affordances:
        opens = one.name.endswith(_OPENS_DIALOG) or bool(one.window)
        difficulty = min(5, 1 + len(one.within) + opens)
        yield CheckableTask(instruction=f"In {application}, {_use(one)}.", difficulty=difficulty, uses=(one.way,))


def _combined(context: ProposalContext, observation: Observation) -> Iterator[ProposedTask]:
    """Yield tasks of two steps: typing and a command, or commands of two menus."""
    closing = [one for one in context.affordances if one.within and not one.name.endswith(_OPENS_DIALOG)]
    commands = _by_menu(closing)
    if _is_editor(context, observation):
        for command in commands:
            yield CheckableTask(
                instruction=f"In {context.application}, type {quote(_DRAFT)}, then {_use(command)}.",
                difficulty=4,
                uses=(command.way,),
            )
        return
    half = len(commands) // 2
    for one, other in zip(commands[half:] + commands[:half], commands, strict=True):
        if one.within[0] != other.within[0]:
            yield CheckableTask(
                instruction=f"In {context.application}, {_use(one)}, then {_use(other)}.",
                difficulty=4,
                uses=(one.way, other.way),
            )


def _written(context: ProposalContext, observation: Observation) -> Iterator[ProposedTask]:
    editor = _is_editor(context, observation)
    for field in _fields(observation):
        name = field.name or field.label
        if not name and not editor:
            continue
        into = f" into {quote(name)}" if name else ""
        yield CheckableTask(
            instruction=f"In {context.application}, type {quote(_DRAFT)}{into}.", difficulty=1, shows=_DRAFT
        )
    if editor:
        yield CheckableTask(
            instruction=f"In {context.application}, type {quote(_DRAFT)} and save it as 'meeting.txt' in the Documents "
            "folder.",
            difficulty=3,
            shows=_DRAFT,
            file="meeting.txt",
        )


def _fields(observation: Observation) -> list[Element]:
    closed = {"read_only", "password"}
    return [one for one in observation.elements if "editable" in one.states and not closed & one.states]


def _is_editor(context: ProposalContext, observation: Observation) -> bool:
    savable = any(_plain(one.name) in ("save", "save as") for one in context.affordances)
    return savable and any("multi_line" in field.states for field in _fields(observation))


def _use(affordance: Affordance) -> str:
    """Return a sentence of the command language that uses an affordance."""
    way = " > ".join(quote(part) for part in (*affordance.within, affordance.name))
    if any(part.casefold().endswith(" menu") for part in affordance.within):  # the word would not be parsed as a name
        return ", then ".join(f"click {quote(part)}" for part in (*affordance.within, affordance.name))
    if affordance.on is not None and affordance.role != "radio menu item":
        return f"turn {'off' if affordance.on else 'on'} {way}"
    if affordance.within or affordance.role in _OF_MENUS:
        return f"choose {way}"
    return f"press the button {way}"


def _plain(name: str) -> str:
    return name.casefold().rstrip(".…").strip()
