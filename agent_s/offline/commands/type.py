"""Type text into a field, a document, or where the keyboard is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from aci.acting.actions import SwitchApplications, Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate, best, rank, window_score
from agent_s.offline.finding.roles import EDITABLE, LABELS
from agent_s.offline.finding.screen import content_of
from agent_s.offline.finding.targets import Target, parse_target, split_list
from agent_s.offline.ui import UI, Steps, changed, evidence_of, reads_back, shorten
from agent_s.offline.words import TABLE, meanings, one_of
from intents.text import CLOSE, OPEN, PLACEHOLDER, Phrase

Mode = Literal["usual", "replace", "append"]
TYPABLE = EDITABLE | {"table cell", "paragraph", "shape", "document frame"}


@dataclass(frozen=True, slots=True)
class TypeText(Command):
    """Type a text."""

    text: str | None  # the text; None for the one that was kept last, else what is on the clipboard
    target: Target | None = None  # where; None for where the keyboard is
    mode: Mode = "usual"  # replace what is there, add to it, or what is usual for the kind of field
    before: tuple[str, ...] = ()  # keys that are pressed first, to go to an end of a document
    # the text to type at the focus where `target` is nowhere, since the words may all be text
    otherwise: str | None = None

    def run(self, ui: UI) -> Execution:
        """Type into the described element, else at the focus or into the main editor, and read it back."""
        if self.text is None and not ui.screen.buffer:
            return (yield from self._paste(ui))
        text = ui.screen.buffer[-1] if self.text is None else self.text
        if self.before:
            yield from ui.press(*self.before, purpose="go to the place where the text belongs")
        if self.target is None:
            return (yield from self._at_focus(text, ui))
        found = yield from self._fields(self.target, ui)
        if not found and self.otherwise is not None and not names_window(self.target, ui):
            return (yield from self._at_focus(self.otherwise, ui))
        if not found:
            yield from _go_to_window(self.target, ui)
            return (yield from self._at_focus(text, ui))
        evidence: list[str] = []
        for one in found if self.target.every else found[:1]:
            element = ui.now(one.element) or one.element
            evidence.append((yield from ui.type_into(element, text, self._overwrites(element))))
        return "; ".join(part for part in evidence if part)

    def judge(self, seen: Seen) -> Finding:
        """Check for the text on the screen, or that it was read back."""
        typed = [step.response.action.text for step in seen.steps if isinstance(step.response.action, Type)]
        text = (self.text or (typed[-1] if typed else "")).strip()
        holders = EDITABLE | LABELS | {"document text", "table cell"}
        for element in seen.after.elements:
            if text and element.role in holders and text in content_of(element):
                return True, f"the {element.role} {element.name!r} reads {shorten(content_of(element))!r}"
        delivered = next((step.result.delivery for step in reversed(seen.steps) if step.result.delivery), None)
        exact = delivered is not None and delivered.state == "exact"
        return (True, f"{text[:60]!r} was read back exactly") if text and exact else UNDECIDED

    def _paste(self, ui: UI) -> Execution:
        target, before = self.target, ui.screen
        if target is not None:
            yield from ui.click((yield from ui.seek(target, lambda screen: rank(target, screen, prefer=EDITABLE))))
        yield from ui.press("ctrl", "v", purpose="paste the clipboard")
        return f"the clipboard was pasted; {changed(before, ui.screen)}"

    def _fields(self, target: Target, ui: UI) -> Steps[list[Candidate]]:
        def find(screen: object) -> list[Candidate]:
            return rank(target, ui.screen, TYPABLE, EDITABLE)

        if self.otherwise is not None or names_window(target, ui):
            return best(find(ui.screen), 80.0)
        if not (target.kinds or target.quoted):
            return (yield from ui.await_element(target, find, (0.5,)))
        found = yield from ui.find(target, find)
        if target.every:
            found = best(found, found[0].score - 6) if found else found
            found.sort(key=lambda one: (one.element.rect.y, one.element.rect.x))
        return found

    def _overwrites(self, element: Element) -> bool:
        """Return whether the field is overwritten; documents are added to unless the instruction says so."""
        if self.mode != "usual":
            return self.mode == "replace"
        adds = element.role in ("terminal", "document text", "paragraph", "shape", "document frame", "table cell")
        return not adds and "multi_line" not in element.states and not _is_document(element)

    def _at_focus(self, text: str, ui: UI) -> Execution:
        element = yield from _editor(ui)
        overwrite = self.mode == "replace"
        focused = element is not None and element.id == ui.screen.observation.focus_id
        if element is not None and (not focused or overwrite or _is_document(element)):
            return (yield from ui.type_into(element, text, overwrite))
        before = content_of(element) if element is not None else ""
        start = ui.screen
        action = Type(text=text, overwrite=overwrite)
        yield from ui.do(action, f"type {shorten(text)!r} where the keyboard is")
        after = ui.now(element) if element is not None else None
        if reads_back(after, text, before, overwrite=False):
            return evidence_of(after)
        for one in ui.screen.front if text else ():
            old = start.observation.by_id.get(one.id)
            if text in content_of(one) and (old is None or text not in content_of(old)):
                return evidence_of(one)
        return ""


def _is_document(element: Element) -> bool:
    """Return whether a text area without a name fills so much of a window that it is a document."""
    return element.role == "text" and not element.name and not element.label and element.rect.height > 90


def names_window(target: Target, ui: UI) -> bool:
    """Return whether a description fits a window that is open."""
    return any(window_score(target.phrase, ui.screen, window.id) >= 66 for window in ui.screen.windows)


def _go_to_window(target: Target, ui: UI) -> Steps[None]:
    is_element = target.kinds and not target.is_a("window", "dialog", "terminal", "area")
    if is_element and not names_window(target, ui):
        give_up(ui.not_found(target))
    name = (target.name or target.phrase)[:200]
    result = yield from ui.try_to(SwitchApplications(app_code=name), f"bring {name!r} to the front, to type there")
    if not result.ok:
        give_up(f"{ui.not_found(target)}, and no application either: {result.error}")


def _editor(ui: UI) -> Steps[Element | None]:
    """Find where text goes: the focused field, else the largest editor; None where only the keyboard is known."""
    focus = ui.screen.focus
    if focus is None and (ui.screen.active is None or not ui.screen.front):
        yield from ui.wait(0.5, "wait for the window to be ready")
        focus = ui.screen.focus
    if focus is not None and (focus.role in EDITABLE | {"table cell"} or "editable" in focus.states):
        return focus
    editors = ui.screen.editors()
    return editors[0] if editors and not ui.screen.has_sheet() else None


# Reading

_VAGUE = re.compile(rf"{one_of(TABLE['before_vague_texts'])}\s+\w+(?:\s+\w+)?", re.IGNORECASE)
"""A text that is described but not given: "your name", "a short poem"."""
_TEXT = one_of(TABLE["nouns_of_texts"])
_LEAD = re.compile(
    rf"(?:the\s+|a\s+)?{_TEXT}(?:\s*:\s*|\s+(?={OPEN})|\s+(?:saying|reading)\s+)|(?:the\s+following\s*)?:\s*"
    r"|the\s+(?:text|words?|number)\s+",
    re.IGNORECASE,
)
_PLAIN_PLACE = re.compile(one_of(TABLE["documents"]), re.IGNORECASE)
_SIGNS = meanings("signs")


def text_in(words: Phrase) -> str | None:
    """Return the quoted text, or the words themselves; None if there are several texts."""
    marked = re.sub(rf"(?<={CLOSE})\s*[.,;!?]+$", "", words.marked.strip())
    if lead := _LEAD.match(marked):
        marked = marked[lead.end() :].strip()
    part = words.part(marked)
    if part.literal is not None:
        return part.literal
    parts = split_list(part)
    if len(parts) > 1 and all(one.literal is not None or _sign(one) for one in parts):
        signs = [_sign(one) or str(one) for one in parts]  # "'a', a tab and 'b'"
        return "".join(signs) if any(map(_sign, parts)) else None
    labelled = re.fullmatch(rf"(?:the\s+)?[^{OPEN}]{{1,40}}\s({PLACEHOLDER})", marked)
    return str(part.part(labelled[1])) if labelled else str(part).strip() or None


def _sign(words: Phrase) -> str:
    return _SIGNS.get(re.sub(r"^(?:an?|the|one)\s+", "", words.strip()).casefold(), "")


def place_in(words: Phrase | None) -> Target | None:
    """Return the place that is named; None for the document or the place of the cursor."""
    return None if words is None or _PLAIN_PLACE.fullmatch(words.marked.strip()) else parse_target(words)


def is_surely_place(words: Phrase) -> bool:
    """Return whether words can only be a place: with a noun for a kind of element, or quoted."""
    target = parse_target(words)
    return bool(target.kinds or target.quoted or target.every or _PLAIN_PLACE.fullmatch(words.marked.strip()))


def read(
    text: Phrase | None = None,
    where: Phrase | None = None,
    weak: Phrase | None = None,
    mode: Mode = "usual",
    case: str = "",
    line: str = "",
    before: str = "",
) -> Command | None:
    """Read a text and its place; after unquoted words, `weak` is a place only if the screen has it."""
    if text is None:
        return TypeText(None, place_in(where), mode)
    content = text_in(text)
    if content is None or _VAGUE.fullmatch(text.marked) or content.startswith("the following"):
        return None
    content = {"upper": content.upper(), "lower": content.lower()}.get(case, content)
    keys = tuple(before.split("+")) if before else ()
    command = TypeText(line + content, place_in(where), "append" if keys else mode, keys)
    if weak is None:
        return command
    if text.marked.rstrip().endswith(CLOSE) or is_surely_place(weak):
        return replace(command, target=place_in(weak))
    return replace(command, target=parse_target(weak), otherwise=f"{text} in {weak}")


def fields_in(words: Phrase) -> Iterator[tuple[Target, str]]:
    """Yield the fields and values of "the username 'ada' and the password 'x'"; nothing where a part is neither."""
    pairs: list[tuple[Target, str]] = []
    for part in split_list(words):
        match = re.fullmatch(rf"(?:the\s+)?([A-Za-z][\w /-]{{0,60}}?)\s*:?\s*({PLACEHOLDER})", part.marked.strip())
        if match is None or re.fullmatch(_TEXT, match[1], re.IGNORECASE):
            return
        target = parse_target(part.part(match[1]))
        pairs.append((replace(target, kinds=target.kinds or ("field", "area")), str(part.part(match[2]))))
    yield from pairs
