"""Whether a task that is said to be done really is, as far as what was seen decides it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from aci.acting.actions import Type
from aci.observation.observation import Observation
from agent_s.llm.protocol import VerifyContext, VerifyResponse
from agent_s.offline.acting import intents_of
from agent_s.offline.intents import (
    CloseThing,
    EnterCells,
    Intent,
    KeepText,
    LookWhether,
    OpenFile,
    OpenThing,
    SaveFile,
    SetChecked,
    TypeText,
    WaitFor,
)
from agent_s.offline.matching import rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.files import is_modified
from agent_s.offline.policies.looking import holds
from agent_s.offline.policies.typing import cell_at
from agent_s.offline.policies.values import is_on
from agent_s.offline.reading import read_instruction
from agent_s.offline.roles import CHECKABLE, EDITABLE, LABELS
from agent_s.offline.screen import Screen, content_of
from agent_s.records import Step

Finding = tuple[bool | None, str]
"""Whether an intent is fulfilled, and what shows it; None where nothing decides it."""

_NEUTRAL: Finding = (None, "")


def verify(context: VerifyContext) -> VerifyResponse:
    """Judge a finished task by the screens that were seen while it was done.

    It is verified where something that can be seen proves its lasting effects, refuted where something contradicts one,
    and undecided otherwise.
    """
    screens = _screens(context)
    findings: list[tuple[Intent, Finding]] = []
    undecided: list[str] = []
    for number, (subtask, steps) in enumerate(context.done):
        after = screens[number]
        for intent in intents_of(subtask):
            finding = _judge(intent, steps, after, Screen(context.observation))
            findings.append((intent, finding))
            undecided += [subtask.name] if finding[0] is None and _lasts(intent) else []
    missing = len(read_instruction(context.task.instruction)) > 0 and not context.done
    refuted = [evidence for _, (verdict, evidence) in findings if verdict is False]
    if refuted:
        return VerifyResponse(verified=False, reason=refuted[0], evidence=tuple(refuted))
    proofs = tuple(evidence for _, (verdict, evidence) in findings if verdict)
    if proofs and not undecided and not missing and any(_lasts(intent) for intent, (verdict, _) in findings if verdict):
        return VerifyResponse(verified=True, reason="what was asked can be seen to hold", evidence=proofs)
    reason = f"nothing seen decides {undecided[0]!r}" if undecided else "nothing seen decides it"
    return VerifyResponse(verified=None, reason=reason, evidence=proofs)


def _screens(context: VerifyContext) -> list[Screen]:
    """Return the screen that each subtask left behind: the first that the next one saw, else the last of all."""
    screens: list[Screen] = []
    for number in range(len(context.done)):
        later = next((steps[0].observation for _, steps in context.done[number + 1 :] if steps), context.observation)
        screens.append(Screen(later))
    return screens


def _lasts(intent: Intent) -> bool:
    """Tell whether an intent is to leave something behind that could be seen, or asks to look."""
    return not isinstance(intent, OpenThing | OpenFile | KeepText)


def _judge(intent: Intent, steps: tuple[Step, ...], after: Screen, last: Screen) -> Finding:
    match intent:
        case OpenThing(app_only=True, name=name):
            window = after.active
            return (True, f"{name}: the window {window.title!r} came to the front") if window is not None else _NEUTRAL
        case LookWhether(condition=condition) | WaitFor(condition=condition):
            evidence = holds(condition, after)
            return (True, evidence) if evidence else _NEUTRAL
        case SaveFile():
            return _judge_save(intent, steps, after)
        case TypeText():
            return _judge_typing(intent, steps, after)
        case EnterCells(cells=cells):
            return _judge_cells(cells, last)
        case SetChecked(targets=targets, state=state) if state is not None:
            found = [one[0].element for query in targets if (one := rank(query, after, CHECKABLE))]
            if len(found) != len(targets):
                return _NEUTRAL
            wrong = [element for element in found if is_on(element) != state]
            return (
                (False, f"{wrong[0].name!r} is {'off' if state else 'on'}")
                if wrong
                else (True, f"{', '.join(repr(e.name) for e in found)}: {'on' if state else 'off'}")
            )
        case CloseThing():
            return _judge_closing(steps, after)
        case _:
            return _NEUTRAL


def _judge_save(intent: SaveFile, steps: tuple[Step, ...], after: Screen) -> Finding:
    title = after.active.title if after.active is not None else ""
    base = PurePosixPath(intent.name).name
    seen = [step.observation for step in steps]
    had_dialog = any(_dialogs(one) > len(after.dialogs) for one in seen)
    if is_modified(after):
        return False, f"the title {title!r} says that there are unsaved changes"
    if base and (base in title or PurePosixPath(base).stem in title):
        return True, f"after saving, the title is {title!r}"
    if base and had_dialog and not after.dialogs:
        return True, f"the dialog to save {base!r} closed without an error"
    return _NEUTRAL


def _dialogs(observation: Observation) -> int:
    return len(Screen(observation).dialogs)


def _judge_typing(intent: TypeText, steps: tuple[Step, ...], after: Screen) -> Finding:
    typed = [step.response.action.text for step in steps if isinstance(step.response.action, Type)]
    text = (intent.text or (typed[-1] if typed else "")).strip()
    if not text:
        return _NEUTRAL
    for element in after.elements:
        if element.role in EDITABLE | LABELS | frozenset({"document text", "table cell"}) and text in content_of(
            element
        ):
            return True, f"the {element.role} {element.name!r} reads {content_of(element)[:80]!r}"
    note = next((step.result.note for step in reversed(steps) if "read back" in step.result.note), "")
    return (True, f"{text[:60]!r}: {note}") if "exactly" in note else _NEUTRAL


def _judge_cells(cells: tuple[tuple[str, str], ...], last: Screen) -> Finding:
    shown: list[str] = []
    for address, text in cells:
        cell = cell_at(address, last)
        if cell is None or cell.text is None:
            return _NEUTRAL
        if text.startswith("="):
            if re.search(r"#[\w/]+[!?]|#N/A|Err:\d", cell.text):
                return False, f"the cell {address} shows {cell.text!r}"
        elif name_score(text, cell.text)[0] < 90 and _number(text) != _number(cell.text):
            return _NEUTRAL
        shown.append(f"{address} shows {cell.text!r}")
    return True, ", ".join(shown)


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def _judge_closing(steps: tuple[Step, ...], after: Screen) -> Finding:
    if not steps:
        return _NEUTRAL
    before = {window.id: window.title for window in steps[0].observation.windows}
    gone = [title for window, title in before.items() if window not in after.window_by_id]
    return (True, f"the window {gone[0]!r} is closed") if gone else _NEUTRAL
