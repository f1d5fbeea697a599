"""Checks whether a replayed step had its learned effect, and whether the replay ended as it did when it was learned."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from aci.acting.actions import Click, SwitchApplications
from aci.observation.identity import ElementDescription, find_again, titles_agree
from aci.observation.observation import Element, Observation, Window
from aci.observation.sheet_places import AXES
from agent_s.records import ElementState, GroundedStep, Step
from agent_s.replay.grounded_steps import acted_on, marks_of, state_of, staying, typed_text
from agent_s.replay.template import values_shown
from intents.alignment import holds
from intents.intent import Switch
from intents.reader import read
from intents.text import tokens

SHARE = 0.5
"""Share of the learned appearing and vanishing controls that must do so again; names contain counters and dates."""

_TELLING = 2  # least number of appearing and vanishing controls that show whether something is on; names may coincide
_NUMBERS = re.compile(r"\d+")
_TYPESET = str.maketrans("−×÷‘’“”", "-*/''\"\"")  # how applications show characters that keyboards have


@dataclass(frozen=True, slots=True)
class Done:
    """A replayed step."""

    learned: GroundedStep  # the learned step, with the current values
    step: Step | None  # the step as it was done; None if its effect was already there
    before: Observation  # the screen before it


def differs(learned: GroundedStep, step: Step, after: Observation) -> str:
    """Return how the effect of a step differs from the learned one; empty if it does not."""
    before = step.observation
    return (
        ("" if learned.untried else _windows_differ(learned, before, after))
        or _element_differs(learned, acted_on(step.response.action, before), after)
        or _marks_differ(learned, before, after)
    )


def shows(learned: GroundedStep) -> bool:
    """Return whether the effect of a step is visible."""
    changed = any(learned.names_of("opened", "closed", "appeared", "vanished"))
    return changed or learned.state_before != learned.state_after


def is_so_already(learned: GroundedStep, element: Element | None) -> bool:
    """Return whether a click would switch something back, since it is already in the state that the click led to."""
    was, became = learned.state_before, learned.state_after
    if element is None or was is None or became is None or not isinstance(learned.action, Click):
        return False
    switched = set(was.states) ^ set(became.states)
    if not switched & {"checked", "pressed", "expanded"} or learned.names_of("opened", "closed"):
        return False
    return switched & element.states == switched & set(became.states)


def switched_already(learned: GroundedStep, element: Element | None) -> str:
    """Return a problem if the state of a menu entry differs from the learned one before the step.

    The state after the step is unknown, since the menu closes.
    """
    was = learned.state_before
    if element is None or was is None or learned.state_after is not None or element.role != "check menu item":
        return ""
    on = "checked" in element.states
    return "" if on == ("checked" in was.states) else f"{_called(learned)} is {'on' if on else 'off'} already"


def overwrites(learned: GroundedStep, element: Element | None) -> str:
    """Return a problem if typing would replace a content that was not there when learned.

    Typing into a cell of a sheet replaces what it holds, which is meant if the task says which cell it is.
    """
    described, was = _description(learned), learned.state_before
    if described is None or described.cell is None or len(described.cell.said) == len(AXES):
        return ""
    typed = typed_text(learned.action)
    if element is None or not typed or was is None or was.text or element.text in (None, "", typed.strip()):
        return ""
    return f"{_called(learned)} was empty, and holds {element.text[:80]!r} now"


def is_done_already(steps: Sequence[GroundedStep], wording: str, seen: Observation) -> bool:
    """Return whether what is to be switched on is already on the screen, or what is to be switched off is not.

    Switches in menus do not always show their state; the bars and panes that they show and hide do.

    Args:
        steps: The learned steps.
        wording: The instruction.
        seen: The screen.
    """
    appeared = {_plain(mark) for step in steps for mark in step.names_of("appeared")}
    vanished = {_plain(mark) for step in steps for mark in step.names_of("vanished")}
    intent = read(wording)
    if not isinstance(intent, Switch) or intent.state == "toggle":
        return False
    if len(appeared | vanished) < _TELLING or appeared & vanished:
        return False
    now = {_plain(mark) for mark in marks_of(seen, staying(seen, seen))}
    return appeared <= now and not vanished & now


def end_differs(done: Sequence[Done], after: Observation, wording: str, exists: Callable[[str], bool]) -> str:
    """Return how the end differs from the learned one; empty if it does not.

    Args:
        done: The replayed steps.
        after: The screen now.
        wording: The instruction; contents that it names must be equal.
        exists: Returns whether a file was written since the replay began.
    """
    named = named_files([one.learned for one in done])
    typed_into = {_what(one.learned) for one in done if typed_text(one.learned.action)}
    problems = (
        _end_state_differs(one, after, named, exists)
        # Typed contents are compared with the typed text; results, such as a sum, are unknown.
        or ("" if _what(one.learned) in typed_into else _named_differs(one, after, wording))
        for one in done
    )
    return next((problem for problem in problems if problem), "")


def proofs(done: Sequence[Done], after: Observation, varied: bool) -> Iterator[str]:
    """Yield what the end was checked against, in words.

    A field that reads what was typed into it proves nothing.

    Args:
        done: The replayed steps.
        after: The screen now.
        varied: Whether values differ from the learned ones.
    """
    for one in done:
        yield from _proofs_of(one, after, varied)


def split_by_proof(
    done: Sequence[Done],
    after: Observation,
    values: Collection[str],
    shows_in_file: Callable[[str, str], bool],
    earlier: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return those of the values used that an effect in an application shows, and those that none shows.

    A saved file, the title of a window, another element than the one typed into, and the effect of a click are effects.

    Args:
        done: The replayed steps.
        after: The screen now.
        values: The values.
        shows_in_file: Returns whether a file, named from "/" or "~", contains a value.
        earlier: Values that earlier subtasks used and that nothing has shown yet.
    """
    used = {*earlier, *(value for one in done for value in _used(one, values))}
    files = [file for one in done for file in one.learned.end.files]
    shown = _shown_newly(done, after)
    clicked = [one for one in done if not typed_text(one.learned.action) and any(_proofs_of(one, after, True))]
    proven = {value for one in clicked for value in _used(one, values)} | {
        value
        for value in used
        if any(holds(text, value) for text in (*files, *shown)) or any(shows_in_file(file, value) for file in files)
    }
    return tuple(sorted(proven)), tuple(sorted(used - proven))


def _shown_newly(done: Sequence[Done], after: Observation) -> list[str]:
    """Return the titles and texts that were not there before, without those of fields that were typed into."""
    if not done:
        return []
    typed_into = {one.id for step in done if typed_text(step.learned.action) and (one := _same(step, after))}
    old = set(_texts_of(done[0].before))
    fresh = {text for element in after.elements if element.id not in typed_into for text in _texts_in(element)}
    return [text for text in {*fresh, *(window.title for window in after.windows)} if text not in old]


def _texts_of(seen: Observation) -> Iterator[str]:
    yield from (window.title for window in seen.windows)
    for element in seen.elements:
        yield from _texts_in(element)


def _texts_in(element: Element) -> Iterator[str]:
    yield from (text for text in (element.name, element.text) if text)


def _used(one: Done, values: Collection[str]) -> set[str]:
    texts = list(values_shown([one.learned]))
    return {value for value in values if any(holds(text, value) for text in texts)}


def _proofs_of(one: Done, after: Observation, varied: bool) -> Iterator[str]:
    learned, end = one.learned, one.learned.end
    yield from (f"the file {file} was written" for file in end.files)
    if end.element is not None and learned.state_before not in (None, end.element):
        if not typed_text(learned.action) and _is_as_learned(one, end.element, after, varied):
            yield f"{_called(learned)} is as it was when learned"
    elif any(learned.names_of("opened", "closed", "appeared", "vanished")):  # a menu has no name, and closes again
        yield f"{learned.intent or learned.action.action}: it opened and closed what it did when learned"


def _is_as_learned(one: Done, end: ElementState, after: Observation, varied: bool) -> bool:
    """Return whether a content is the learned one for the same values."""
    before = one.learned.state_before
    if before is None or end.text is None or end.text == before.text:
        return True  # compared before, as a state or a value
    element = _same(one, after)
    return not varied and element is not None and element.text == end.text


def windows_missing(learned: GroundedStep, before: Sequence[Window], now: Sequence[Window]) -> str:
    """Return which window has not opened or closed yet as it did when learned; empty if all have."""
    # Popups open by themselves; only those that a click opens count.
    opened = [title for title in learned.names_of("opened") if title or isinstance(learned.action, Click)]
    if missing := _unmatched(opened, [window.title for window in _besides(now, before)]):
        return f"{_window(missing[0])} should have opened"
    if missing := _unmatched(
        [title for title in learned.names_of("closed") if title], [window.title for window in _besides(before, now)]
    ):
        return f"{_window(missing[0])} should have closed"
    return ""


def _besides(windows: Sequence[Window], others: Sequence[Window]) -> list[Window]:
    ids = {window.id for window in others}
    return [window for window in windows if window.id not in ids]


def _windows_differ(learned: GroundedStep, before: Observation, after: Observation) -> str:
    """Return which window did not open or close as it did when learned, or opened unexpectedly."""
    if missing := windows_missing(learned, before.windows, after.windows):
        return missing
    came, expected = _besides(after.windows, before.windows), learned.names_of("opened")
    # An application that was there already when this was learned may have to be started.
    starts = isinstance(learned.action, SwitchApplications)
    for window in came if not starts else ():
        matters = not window.popup and (window.active or window.modal)
        if matters and not any(titles_agree(title, window.title) for title in expected):
            return f"{_window(window.title)} opened, which it did not when learned"
    return ""


def _unmatched(titles: Sequence[str], windows: Sequence[str]) -> list[str]:
    left = list(windows)
    missing = []
    for title in titles:
        found = next((window for window in left if titles_agree(title, window)), None)
        if found is None:
            missing.append(title)
        else:
            left.remove(found)
    return missing


def _element_differs(learned: GroundedStep, element: Element | None, after: Observation) -> str:
    was, became = learned.state_before, learned.state_after
    if was is None or element is None:
        return ""
    now = after.by_id.get(element.id)
    if became is None:
        # An element of a window that closes may stay for a moment.
        return f"{_called(learned)} should be gone" if now is not None and not learned.names_of("closed") else ""
    if now is None:
        # Some applications replace a cell when its content changes.
        now = _described(learned, after)
    if now is None:
        return f"{_called(learned)} is gone"
    return state_differs(learned, was, became, state_of(element), state_of(now))


def state_differs(
    learned: GroundedStep, was: ElementState, became: ElementState, before: ElementState, now: ElementState
) -> str:
    """Compare the learned change of an element with the present one."""
    switched = set(was.states) ^ set(became.states)
    if switched & set(became.states) != switched & set(now.states):
        return f"{_called(learned)} should be {_in_words(became.states, switched)}"
    if not _reads_right(learned, was.text, became.text, before.text, now.text):
        return f"{_called(learned)} should read {(became.text or '')[:80]!r}, not {(now.text or '')[:80]!r}"
    if became.value is not None and became.value != was.value and now.value not in (became.value, None):
        return f"{_called(learned)} should be {became.value:g}, not {now.value:g}"
    return ""


def _reads_right(
    learned: GroundedStep, was: str | None, became: str | None, before: str | None, now: str | None
) -> bool:
    """Return whether a content contains the typed text, and no more if it did not when learned; others must change."""
    if became is None or became == was or now is None:
        return True
    typed = typed_text(learned.action).strip()
    if typed and typed in became:
        typed, now = typed.translate(_TYPESET), now.translate(_TYPESET)
        return now.strip() == typed if became.strip() == typed else typed in now
    return now == became or now != before


def _marks_differ(learned: GroundedStep, before: Observation, after: Observation) -> str:
    appeared, vanished = learned.names_of("appeared"), learned.names_of("vanished")
    counters = {_plain(mark) for mark in appeared} & {_plain(mark) for mark in vanished}  # their number changed
    appeared = tuple(mark for mark in appeared if _plain(mark) not in counters)
    vanished = tuple(mark for mark in vanished if _plain(mark) not in counters)
    stayed = staying(before, after)
    if not appeared and not vanished:
        shown_otherwise = learned.state_before != learned.state_after
        return "" if shown_otherwise else _same_number(counters, *(marks_of(seen, stayed) for seen in (before, after)))
    old, new = ({_plain(mark) for mark in marks_of(seen, stayed)} for seen in (before, after))
    missing = [mark for mark in appeared if _plain(mark) not in new]
    if len(missing) > SHARE * len(appeared):
        return f"{_mark(missing[0])} should have appeared"
    there = [mark for mark in vanished if _plain(mark) in old]
    still_there = [mark for mark in there if _plain(mark) in new]
    return f"{_mark(still_there[0])} should have vanished" if len(still_there) > SHARE * max(1, len(there)) else ""


def _same_number(counters: Collection[str], before: Collection[str], after: Collection[str]) -> str:
    """Return which of the controls that count something should have changed; empty if any of them has."""
    counted = sorted(mark for mark in before if _plain(mark) in counters)
    return f"{_mark(counted[0])} should have changed" if counted and all(mark in after for mark in counted) else ""


def _end_state_differs(one: Done, after: Observation, named: frozenset[str], exists: Callable[[str], bool]) -> str:
    learned, end, was_learned = one.learned, one.learned.end, one.learned.state_before
    missing = next((file for file in end.files if not exists(file)), "")
    if missing:
        return f"the file {missing} was not written"
    if end.title and (problem := _title_differs(end.title, after, named)):
        return problem
    if end.element is None or was_learned is None or was_learned == end.element:
        return ""
    element = _same(one, after)
    if element is None:
        return f"{_called(learned)} is not there at the end"
    before = acted_on(one.step.response.action, one.before) if one.step is not None else element
    was = state_of(before) if before is not None else was_learned
    return state_differs(learned, was_learned, end.element, was, state_of(element))


def _named_differs(one: Done, after: Observation, wording: str) -> str:
    """Return which content is not the one that the instruction names, such as another choice of a list."""
    end = one.learned.end.element
    if end is None or not end.text or not holds(wording, end.text):
        return ""
    element = _same(one, after)
    if element is None or element.text is None or element.text.strip() == end.text.strip():
        return ""
    return f"{_called(one.learned)} should read {end.text[:80]!r}, not {element.text[:80]!r}"


def _title_differs(title: str, after: Observation, named: frozenset[str]) -> str:
    """Compare the active window; a named file that was in its title must be there again."""
    front = after.active_window
    shown = front.title if front is not None else ""
    agrees = titles_agree(title, shown) and all(name in shown for name in named if name in title)
    return "" if agrees else f"{_window(title)} should be in front, not {_window(shown)}"


def _same(one: Done, after: Observation) -> Element | None:
    """Find the element that a step acted on."""
    if one.step is not None:
        element = acted_on(one.step.response.action, one.before)
        if element is not None and element.id in after.by_id:
            return after.by_id[element.id]
    return _described(one.learned, after)


def _described(learned: GroundedStep, seen: Observation) -> Element | None:
    description = _description(learned)
    return find_again(description, seen) if description is not None else None


def _description(learned: GroundedStep) -> ElementDescription | None:
    return learned.targets.get("drop_on_id") or learned.targets.get("element_id") or learned.focus


def _what(learned: GroundedStep) -> tuple[str, ...]:
    """Return a key of the element that a step acts on; empty if it acts on none."""
    description = _description(learned)
    if description is None:
        return ()
    return (description.role, description.name, description.label, *description.path)


def named_files(steps: Sequence[GroundedStep]) -> frozenset[str]:
    """Return the file names that steps type."""
    return frozenset(file for step in steps for file in files_in(typed_text(step.action)))


def files_in(text: str) -> frozenset[str]:
    """Return the file names in a text."""
    return frozenset(token.value for token in tokens(text) if token.sort == "file")


def _called(learned: GroundedStep) -> str:
    described = next(iter(learned.targets.values()), learned.focus)
    if described is None:
        return "it"
    return f"the {described.role} {(described.name or described.label or described.description)!r}"


def _window(title: str) -> str:
    return f"the window {title!r}" if title else "a popup, or a window without a title,"


def _mark(mark: str) -> str:
    role, _, name = mark.partition(":")
    return f"the {role} {name!r}"


def _plain(mark: str) -> str:
    return _NUMBERS.sub("#", mark)


def _in_words(states: Sequence[str], switched: set[str]) -> str:
    return ", ".join(f"{'' if state in states else 'not '}{state}" for state in sorted(switched))
