"""Evidence from the screen: what a cited element or window shows."""

from __future__ import annotations

from pathlib import PurePosixPath

from aci.acting.effects import acted_on
from aci.observation.observation import Element, Observation
from agent_s.llm.protocol import Citation, VerifyContext
from agent_s.roles.evidence import Evidence, NoEvidence, normalized, stems_of, steps_of
from intents.alignment import holds
from intents.labels import label
from intents.statements import Statement

SWITCHES = frozenset({"check box", "check menu item", "radio button", "radio menu item", "toggle button", "switch"})
_TRIGGERS = frozenset({"push button", "button", "menu", "menu item"})
_CONTENTS = frozenset(
    {"text", "paragraph", "shape", "heading", "table cell", "document text", "document frame", "terminal"}
)
_NAMED = SWITCHES | {"entry", "spin button", "slider", "combo box", "password text"}
INPUTS = frozenset({"entry", "spin button", "combo box", "slider"})
_HEADERS = frozenset({"column header", "table column header"})
_WINDOWS = frozenset(
    {"application", "frame", "window", "dialog", "alert", "file chooser", "document web", "document frame"}
)
_WIDE_ROW = 30  # number of cells from which a row, as in a sheet, says nothing about a single cell
_COMPARED = _CONTENTS | _NAMED  # roles that are compared with the first screen
_BUTTONS = frozenset({"push button", "button"})


def content_of(element: Element, seen: Observation) -> str:
    """Return the content of an element in words, with its states, its groups and, for a cell, its row and column."""
    value = "" if element.value is None else f"{element.value:g}"
    own = (element.role, element.name, element.label, element.text, value, element.description)
    states = [*sorted(element.states), *(["unchecked"] if element.role in SWITCHES and not is_on(element) else [])]
    parts = (part.partition(":") for part in element.path)
    groups = [name for role, _, name in parts if role not in _WINDOWS]
    return " ".join((*filter(None, own), *states, *groups, *_row_and_column(element, seen)))


def _row_and_column(cell: Element, seen: Observation) -> list[str]:
    """Return the name of a cell's column and of the other cells in its row; empty for other elements."""
    if cell.role != "table cell":
        return []
    row = [
        one.name
        for one in seen.elements
        if one.role == "table cell"
        and one.window_id == cell.window_id
        and one.rect.y == cell.rect.y
        and one is not cell
    ]
    return [_name_of(cell, seen), *(row if len(row) < _WIDE_ROW else [])]


def _name_of(element: Element, seen: Observation) -> str:
    """Return the name of a control, or the column name of a table cell."""
    if element.role != "table cell":
        return element.name or element.label
    x = element.rect.center.x
    over = (
        one
        for one in seen.elements
        if one.role in _HEADERS and one.window_id == element.window_id and one.rect.x <= x < one.rect.right
    )
    return next((one.name for one in over), "")


def title_of(element: Element, seen: Observation) -> str:
    """Return the title of an element's window."""
    return next((one.title for one in seen.windows if one.id == element.window_id), "")


def find_element(citation: Citation, claim: Statement, context: VerifyContext) -> Evidence:
    """Return the evidence that a cited element gives for a claim.

    Raises:
        NoEvidence: The element does not exist, does not match the quote, or shows no result.
    """
    seen = context.observation
    element = seen.by_id.get(citation.number) if citation.number is not None else None
    if element is None:
        raise NoEvidence(f"element {citation.number} is not on the screen")
    content, title, quoted = content_of(element, seen), title_of(element, seen), normalized(citation.quote)
    empty = element.text is not None and not element.text.strip()
    says = holds(normalized(content), quoted) if quoted else empty and claim.denies
    if not says:
        raise NoEvidence(f"element {element.id} does not say what is quoted")
    lasting = element.states & {"checked", "pressed"}
    if element.role in _TRIGGERS and not lasting:
        raise NoEvidence(f"the {element.role} {element.name!r} shows what can be done, not that it was done")
    better = _better_named(element, claim, seen)
    if better is not None:
        raise NoEvidence(f"the point is about element {better.id} {better.name or better.label!r}")
    if _is_unconfirmed(element, context):
        raise NoEvidence("its dialog can still be cancelled; confirm it, or cite what shows the result")
    shows = is_on(element) if element.role in SWITCHES else not (empty and claim.denies)
    words = f"{element.role} {element.name or element.label!r} shows {citation.quote or 'nothing'!r}"
    drawn = element.role in _CONTENTS or element.source == "ocr"
    exact = (element.text or "").strip() in claim.values
    filled, control = element.role in INPUTS and not drawn, element.role in _NAMED
    return Evidence(words, content, shows, place=title, drawn=drawn, filled=filled, control=control, exact=exact)


def is_on(element: Element) -> bool:
    """Return whether a switch is on."""
    return bool(element.states & ({"checked", "pressed"} if element.role == "toggle button" else {"checked"}))


def _better_named(element: Element, claim: Statement, seen: Observation) -> Element | None:
    """Return another control, or another column's header, whose name fits the claim better than the element's."""
    is_cell = element.role == "table cell" and _name_of(element, seen)
    if element.role not in _NAMED and not is_cell:
        return None
    kind = _HEADERS if is_cell else _NAMED
    topics = frozenset().union(*claim.topics)

    def score(named: str) -> int:
        stems = stems_of(named)
        return 2 * len(topics & stems) + sum(2 for value in claim.values if holds(named, value)) - len(stems - topics)

    own = max(0, score(_name_of(element, seen)))
    others = [one for one in seen.elements if one.role in kind and one.app == element.app]
    better = [one for one in others if score(one.name or one.label) > own]
    return max(better, key=lambda one: score(one.name or one.label), default=None)


def _is_unconfirmed(element: Element, context: VerifyContext) -> bool:
    """Return whether an element is in a dialog that was filled in and neither confirmed nor cancelled."""
    buttons = [
        one.name.strip()
        for one in context.observation.elements
        if one.window_id == element.window_id and one.role in _BUTTONS and "disabled" not in one.states
    ]
    if not any(label("applies").fullmatch(name) for name in buttons):
        confirms = any(label("accepts").fullmatch(name) for name in buttons)
        if not (confirms and any(label("discards").fullmatch(name) for name in buttons)):
            return False
    targets = (acted_on(step.response.action, step.observation) for _, steps in context.done for step in steps)
    return any(target is not None and target.window_id == element.window_id for target in targets)


def find_window(citation: Citation, seen: Observation) -> Evidence:
    """Return the evidence that a cited window title gives.

    Raises:
        NoEvidence: No window title matches the quote.
    """
    quoted = normalized(citation.quote)
    title = next((one.title for one in seen.windows if quoted and holds(normalized(one.title), quoted)), None)
    if title is None:
        raise NoEvidence(f"no window has {citation.quote!r} in its title")
    return Evidence(f"a window is called {title!r}", title)


def find_unchanged(citation: Citation, claim: Statement, context: VerifyContext) -> Evidence:
    """Return the evidence that an element, or without a number everything else, is as on the first screen.

    Raises:
        NoEvidence: Something has changed, or there is nothing to compare with.
    """
    seen, start = context.observation, context.start
    if start is None:
        raise NoEvidence("the first screen is not known")
    if citation.number is not None:
        now = seen.by_id.get(citation.number)
        if now is None or now.id not in start.by_id:
            raise NoEvidence(f"element {citation.number} is not both on the first and on the current screen")
        compared = [now]
    else:
        targets = (acted_on(step.response.action, step.observation) for step, _ in steps_of(context))
        used = {target.id for target in targets if target is not None}
        compared = [
            one for one in seen.elements if one.id in start.by_id and one.id not in used and one.role in _COMPARED
        ]
        others = [one.what for one in context.differences if one.kind == "file" and not _is_named(one.what, context)]
        if others:
            raise NoEvidence(f"{others[0]} was changed too")
    changed = next((one for one in compared if _state(one) != _state(start.by_id[one.id])), None)
    if changed is not None:
        raise NoEvidence(f"element {changed.id} has changed since the start")
    words = (
        f"{compared[0].role} {compared[0].name!r}" if citation.number is not None else "everything else on the screen"
    )
    content = " ".join(content_of(one, seen) for one in compared)
    return Evidence(f"{words} is as it was", content, shows=not claim.denies)


def _state(element: Element) -> tuple[str, str | None, float | None, bool]:
    return element.name, element.text, element.value, is_on(element)


def _is_named(path: str, context: VerifyContext) -> bool:
    return any(holds(text, PurePosixPath(path).name) for text in (context.task.instruction, *context.points))
