"""Policies that look: wait, check, keep a text, paste it."""

from __future__ import annotations

import re

from aci.acting.actions import Hotkey, SaveToBuffer, Wait
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.intents import Condition, KeepText, LookWhether, PasteText, Pause, TypeText, WaitFor
from agent_s.offline.matching import has_state, rank
from agent_s.offline.names import name_score, normalize
from agent_s.offline.policies.common import (
    changed,
    click_best,
    finder,
    must,
    name_of,
    not_found,
    scroll_for,
    seek,
    shorten,
)
from agent_s.offline.policies.typing import type_text
from agent_s.offline.roles import ACTIONABLE, EDITABLE, LABELS, ROLES
from agent_s.offline.screen import Screen, content_of, same_column, same_line
from agent_s.offline.targets import TargetQuery

_LOOKS = (0.5, 0.5, 0.8, 0.8, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 2.5, 2.5, 3.0)
_DISPLAYS = frozenset({"display", "screen", "result", "output", "answer", "total", "calculator", "result field", "it"})
_CODE_NOUN = re.compile(
    r"\b(?:code|number|id|identifier|token|key|pin|password|reference|ref|no|otp|passcode|voucher|coupon|serial)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z0-9][\w./#-]*[A-Za-z0-9]|\d+")


def pause(intent: Pause, screen: Screen) -> Course:
    """Wait for some seconds."""
    yield from must(Wait(time=intent.seconds), f"wait for {intent.seconds:g} s")
    return Achieved(f"{intent.seconds:g} s were waited")


def wait_for(intent: WaitFor, screen: Screen) -> Course:
    """Wait until a condition holds, within bounds."""
    waited = 0.0
    for seconds in _LOOKS:
        evidence = holds(intent.condition, screen)
        if evidence:
            return Achieved(evidence)
        if waited >= intent.seconds:
            break
        sight = yield Move(Wait(time=seconds), f"wait until {intent.condition.words}")
        screen, waited = sight.screen, waited + seconds
    give_up(f"waited {waited:g} s, but not until {intent.condition.words!r}: {why_not(intent.condition, screen)}")


def look_whether(intent: LookWhether, screen: Screen) -> Course:
    """Look whether a condition holds, a moment later once more; nothing is changed but the view."""
    for seconds in (0.5, 1.0, 0.0):
        evidence = holds(intent.condition, screen)
        if evidence:
            return Achieved(evidence)
        if seconds:
            sight = yield Move(Wait(time=seconds), f"see whether {intent.condition.words}")
            screen = sight.screen
    if intent.condition.kind == "shown":
        query = intent.condition.target
        screen, found = yield from scroll_for(screen, lambda view: rank(query, view, prefer=ACTIONABLE | LABELS), query)
        if found:
            return Achieved(f"{name_of(found[0].element)} is on the screen")
    give_up(f"{intent.condition.words!r} does not hold: {why_not(intent.condition, screen)}")


# Conditions


def holds(condition: Condition, screen: Screen) -> str:
    """Return what shows that a condition holds; empty where it does not."""
    match condition.kind:
        case "shown":
            return _is_shown(condition.target, screen)
        case "gone":
            return (
                "" if _is_shown(condition.target, screen) else f"{condition.target.describe()!r} is not on the screen"
            )
        case "state":
            return _has_state(condition, screen)
        case _:
            return _contains(condition, screen)


def why_not(condition: Condition, screen: Screen) -> str:
    """Say what the screen shows instead."""
    if condition.kind == "gone":
        return f"{condition.target.describe()!r} is still there"
    found = rank(condition.target, screen, prefer=ACTIONABLE | LABELS)
    if not condition.target.name and set(condition.target.kinds) & {"page", "window", "dialog", "form"}:
        return f"the {condition.target.describe()} does not show it"
    if condition.kind == "shown" or not found:
        if is_title(condition.target) and screen.active is not None:
            return f"the title is {screen.active.title!r}"
        return not_found(condition.target, screen)
    element = found[0].element
    return f"{name_of(element)} reads {shorten(content_of(element))!r} and is {', '.join(sorted(element.states)) or 'in no special state'}"


def is_title(query: TargetQuery) -> bool:
    """Tell whether the title of the window is meant."""
    return bool(re.fullmatch(r"(?:window(?:'s)? |document )?title(?: bar)?(?: of .*)?", query.phrase, re.IGNORECASE))


def _is_shown(query: TargetQuery, screen: Screen) -> str:
    kinds = set(query.kinds)
    if kinds & {"dialog", "window"} or not kinds:
        for window in screen.windows:
            if query.name and max(name_score(query.name, window.title)[0], name_score(query.name, window.app)[0]) >= 70:
                return f"the window {window.title or window.app!r} is open"
    if "dialog" in kinds and not query.name:
        inner = any(part.split(":")[0] in ("dialog", "alert") for element in screen.front for part in element.path)
        return (
            f"the dialog {screen.dialogs[0].title!r} is open" if screen.dialogs else "a dialog is open" if inner else ""
        )
    if kinds & {"page", "window"} and not query.name:
        return "a window is in front" if screen.front else ""
    if "menu" in kinds and not query.name:
        return "a menu is open" if screen.popups else ""
    found = rank(query, screen, prefer=ACTIONABLE | LABELS)
    if found and (found[0].score >= 70 or not query.name):
        return f"{name_of(found[0].element)} is on the screen"
    return _text_in_sight(query.name or query.phrase, screen) if not query.ordinal else ""


def _text_in_sight(text: str, screen: Screen) -> str:
    wanted = normalize(text)
    for element in screen.elements:
        if wanted and wanted in normalize(content_of(element)):
            return f"{name_of(element)} reads {shorten(content_of(element))!r}"
    return ""


def _has_state(condition: Condition, screen: Screen) -> str:
    found = rank(condition.target, screen)
    if not found:
        return ""
    element = found[0].element
    if has_state(element, condition.text) == condition.negated:
        return ""
    return f"{name_of(element)} is {'not ' if condition.negated else ''}{condition.text}"


def _contains(condition: Condition, screen: Screen) -> str:
    wanted = condition.text.casefold().strip()
    for where, text in _texts_of(condition, screen):
        lowered = text.casefold().strip()
        fits = (
            lowered == wanted or name_score(condition.text, text)[0] >= 92
            if condition.kind == "value"
            else wanted in lowered
        )
        if fits != condition.negated:
            return f"{where} reads {shorten(text)!r}"
        if condition.kind == "value" and not condition.negated and wanted in lowered:
            return f"{where} reads {shorten(text)!r}"
    return ""


def _texts_of(condition: Condition, screen: Screen) -> list[tuple[str, str]]:
    """Return the texts of what a condition is about: a title, a window, an element."""
    query = condition.target
    if is_title(query) and screen.active is not None:
        return [("the title", screen.active.title)]
    if set(query.kinds) & {"page", "window", "dialog", "area", "form", "list", "table"} and not query.name:
        texts = [(name_of(element), content_of(element) or element.name) for element in screen.front]
        whole = " ".join(text for _, text in texts)
        return [
            *texts,
            ("the window", whole),
            *(("the title", window.title) for window in screen.windows if window.active),
        ]
    if query.phrase.casefold() in _DISPLAYS:
        shown = [element for element in screen.front if element.role in EDITABLE | LABELS]
        return [(name_of(element), content_of(element) or element.name) for element in shown]
    found = rank(query, screen, prefer=ACTIONABLE | LABELS)
    texts = []
    for one in found[:3]:
        element = one.element
        beside = _value_beside(element, screen) if element.role in LABELS else ""
        texts += [(name_of(element), text) for text in (content_of(element), beside, element.name) if text]
        if element.value is not None:
            texts.append((name_of(element), f"{element.value:g}"))
    return texts


# Keeping


def keep_text(intent: KeepText, screen: Screen) -> Course:
    """Read a text from the screen and keep it for later."""
    text, evidence = intent.literal, "the instruction gave the text"
    for seconds in (0.0, 0.5, 1.0):
        if seconds and text is None:
            sight = yield Move(Wait(time=seconds), f"wait for {intent.what!r} to appear")
            screen = sight.screen
        if text is None:
            text, evidence = read_text(intent, screen)
    if text is None:
        screen, _ = yield from scroll_for(
            screen,
            lambda view: rank(intent.target, view, prefer=LABELS) if read_text(intent, view)[0] else [],
            intent.target,
        )
        text, evidence = read_text(intent, screen)
    if text and intent.word is not None:
        text = _word_of(text, intent.word)
    if not text:
        give_up(f"no {intent.what!r} to copy is on the screen: {not_found(intent.target, screen)}")
    yield from must(SaveToBuffer(text=text), f"keep {shorten(text)!r} as {intent.what!r}", evidence)
    return Achieved(f"{shorten(text)!r} is kept: {evidence}")


def read_text(intent: KeepText, screen: Screen) -> tuple[str | None, str]:
    """Find the text that is meant, and say where it stands; None where there is none."""
    query = intent.target
    phrase = re.sub(
        r"^(?:text|value|content|contents|word|words)\s+(?:of|in|from|next to|beside|after)\s+(?:the\s+)?",
        "",
        query.phrase,
        flags=re.IGNORECASE,
    )
    phrase = re.sub(
        r"\s+(?:in|on|from|of)\s+(?:the\s+)?(?:page|screen|window|form|browser|dialog)$",
        "",
        phrase,
        flags=re.IGNORECASE,
    )
    if query.kinds and not query.name and query.within is None:
        texts = [one.element for one in rank(query, screen, prefer=EDITABLE | LABELS)]
        return _whole_of(next((element for element in texts if content_of(element).strip()), None))
    for element in _by_reading(screen):
        found = _after_phrase(phrase, element, screen)
        if found:
            return found, f"{name_of(element)} shows it"
    ranked = rank(
        query if query.phrase == phrase else TargetQuery(phrase=phrase, name=phrase), screen, prefer=EDITABLE | LABELS
    ) or rank(query, screen, prefer=EDITABLE | LABELS)
    for one in ranked[:3]:
        text = content_of(one.element).strip()
        if text and (one.element.role in EDITABLE or normalize(text) != normalize(phrase)):
            return text, f"{name_of(one.element)} reads it"
        if (value := _value_beside(one.element, screen)) is not None:
            return value, f"it stands beside {name_of(one.element)}"
    return _whole_of(ranked[0].element) if ranked and query.kinds else (None, "")


def _whole_of(element: Element | None) -> tuple[str | None, str]:
    text = content_of(element).strip("\r\n") if element is not None else ""
    return (text, f"{name_of(element)} reads it") if element is not None and text.strip() else (None, "")


def _word_of(text: str, number: int) -> str:
    """Return one word of a text without the signs around it; "" where there are fewer."""
    words = [bare for word in text.split() if (bare := word.strip(".,;:!?\"'()"))]
    position = number - 1 if number > 0 else len(words) + number
    return words[position] if 0 <= position < len(words) else ""


def _by_reading(screen: Screen) -> list[Element]:
    """Return the texts on the screen, those in front and the short ones first."""
    texts = [element for element in screen.elements if content_of(element) and element.role not in ROLES["menuitem"]]
    return sorted(
        texts,
        key=lambda element: (screen.penalty(element), element.role in EDITABLE and element.role != "document text"),
    )


def _after_phrase(phrase: str, element: Element, screen: Screen) -> str:
    """Return the value that stands after a phrase in a text: "Your confirmation code is AB-12." gives "AB-12"."""
    text = content_of(element)
    if element.role in EDITABLE and (
        name_score(phrase, element.name)[0] >= 90
        or name_score(phrase, element.label or screen.labels.get(element.id, ""))[0] >= 90
    ):
        return text.strip()
    match = (
        re.search(
            rf"\b{re.escape(phrase)}\b\s*(?:is|was|are|:|=|-|–|—|→)*\s*:?\s*(?P<rest>[^\n]*)", text, re.IGNORECASE
        )
        if phrase
        else None
    )
    if match is None:
        return ""
    rest = match["rest"].strip()
    if _CODE_NOUN.search(phrase):
        return _first_code(rest) or (_value_beside(element, screen) or "" if not rest else "")
    return (
        rest.rstrip(".")
        if rest and re.search(r"[:=]|\bis\b", text[match.start() : match.start("rest")], re.IGNORECASE)
        else ""
    )


def _first_code(text: str) -> str:
    """Return the first word that looks like a code: with a digit, or all in capitals."""
    for match in _CODE.finditer(text):
        word = match[0].rstrip(".")
        if any(char.isdigit() for char in word) or (word.isupper() and len(word) > 2):
            return word
    return ""


def _value_beside(element: Element, screen: Screen) -> str | None:
    """Return the text right of a label, else the one below it."""
    others = [
        other
        for other in screen.elements
        if other.id != element.id
        and other.window_id == element.window_id
        and content_of(other).strip()
        and other.role not in ROLES["menuitem"] | ROLES["button"]
    ]
    right = [other for other in others if same_line(element.rect, other.rect) and other.rect.x >= element.rect.center.x]
    if right:
        return content_of(min(right, key=lambda other: other.rect.x)).strip()
    below = [
        other
        for other in others
        if same_column(element.rect, other.rect) and 0 <= other.rect.y - element.rect.bottom <= 60
    ]
    return content_of(min(below, key=lambda other: other.rect.y)).strip() if below else None


def paste_text(intent: PasteText, screen: Screen) -> Course:
    """Type what was kept; where nothing was kept, paste the clipboard."""
    if screen.buffer:
        text = screen.buffer[-1]
        return (yield from type_text(TypeText(text, intent.target, kept=""), screen))
    if intent.target is not None:
        screen, found = yield from seek(screen, finder(intent.target, prefer=EDITABLE), intent.target)
        screen, _ = yield from click_best(screen, found)
    sight = yield from must(Hotkey(keys=("ctrl", "v")), "paste the clipboard")
    return Achieved(f"the clipboard was pasted; {changed(screen, sight.screen)}")
