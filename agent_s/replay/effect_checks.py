"""Checks that a replayed step had its learned effect, and that the replay ended in the learned state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from aci.acting.actions import Click, SwitchApplications
from aci.observation.identity import ElementDescription, find_again, titles_agree
from aci.observation.observation import Element, Observation, Window
from aci.observation.sheet_places import AXES
from agent_s.records import ElementState, GroundedStep, Step
from agent_s.replay.grounded_steps import acted_on, lasting_windows, marks_of, mask_numbers, state_of, typed_text
from agent_s.replay.template import values_shown
from intents.alignment import holds
from intents.intent import Switch
from intents.reader import read
from intents.text import tokens

MIN_SHARE = 0.5
"""Minimum share of learned appearing and vanishing controls that must do so again; names may contain counters."""

_MIN_MARKS = (
    2  # minimum number of appearing and vanishing controls that show a switch's state; single names may coincide
)
_TYPESET = str.maketrans("−×÷‘’“”", "-*/''\"\"")  # typographic forms of characters on keyboards


@dataclass(frozen=True, slots=True)
class Done:
    """A replayed step."""

    learned: GroundedStep  # the learned step, with the current values
    step: Step | None  # the performed step; None if its effect was already there
    before: Observation  # the screen before it


def effect_difference(learned: GroundedStep, step: Step, after: Observation) -> str:
    """Return how the effect of a step differs from the learned one; empty if it does not."""
    before = step.observation
    return (
        ("" if learned.untried else _window_difference(learned, before, after))
        or _element_difference(learned, acted_on(step.response.action, before), after)
        or _mark_difference(learned, before, after)
    )


def has_visible_effect(learned: GroundedStep) -> bool:
    """Return whether a step has a known visible effect."""
    changed = any(learned.names_of("opened", "closed", "appeared", "vanished"))
    return changed or learned.state_before != learned.state_after


def is_already_switched(learned: GroundedStep, element: Element | None) -> bool:
    """Return whether an element is already in the state that a click led to, so that a click would switch it back."""
    was, became = learned.state_before, learned.state_after
    if element is None or was is None or became is None or not isinstance(learned.action, Click):
        return False
    switched = set(was.states) ^ set(became.states)
    if not switched & {"checked", "pressed", "expanded"} or learned.names_of("opened", "closed"):
        return False
    return switched & element.states == switched & set(became.states)


def find_switched_menu_entry(learned: GroundedStep, element: Element | None) -> str:
    """Return the problem that a menu entry is already in the other state; empty if it is not.

    The state after a click on an entry is never recorded, since the menu closes.
    """
    was = learned.state_before
    if element is None or was is None or learned.state_after is not None or element.role != "check menu item":
        return ""
    on = "checked" in element.states
    return "" if on == ("checked" in was.states) else f"{_target_name(learned)} is {'on' if on else 'off'} already"


def find_overwritten_content(learned: GroundedStep, element: Element | None) -> str:
    """Return the problem that typing would overwrite content that was not there when learned; empty if there is none.

    Typing into a cell of a sheet replaces its content, which is intended if the task itself names the cell.
    """
    described, was = _target_description(learned), learned.state_before
    if described is None or described.cell is None or len(described.cell.said) == len(AXES):
        return ""
    typed = typed_text(learned.action)
    if element is None or not typed or was is None or was.text or element.text in (None, "", typed.strip()):
        return ""
    return f"{_target_name(learned)} was empty, and holds {element.text[:80]!r} now"


def is_done_already(steps: Sequence[GroundedStep], wording: str, seen: Observation) -> bool:
    """Return whether something that the task switches on is visible already, or that it switches off is already hidden.

    Switches in menus do not always show their state, but the bars and panes that they control do. What happens in a
    window that the steps open says nothing while that is closed.

    Args:
        steps: The learned steps.
        wording: The instruction.
        seen: The screen.
    """
    appeared = {mask_numbers(mark) for step in steps for mark in step.names_of("appeared")}
    vanished = {mask_numbers(mark) for step in steps for mark in step.names_of("vanished")}
    intent = read(wording)
    if not isinstance(intent, Switch) or intent.state == "toggle":
        return False
    if any(name for step in steps for name in step.names_of("opened")):
        return False
    switched = appeared if intent.state == "on" else vanished
    if not switched or len(appeared | vanished) < _MIN_MARKS or appeared & vanished:
        return False
    now = {mask_numbers(mark) for mark in marks_of(seen, lasting_windows(seen, seen))}
    return appeared <= now and not vanished & now


def end_difference(done: Sequence[Done], after: Observation, wording: str, exists: Callable[[str], bool]) -> str:
    """Return how the end state differs from the learned one; empty if it does not.

    Args:
        done: The replayed steps.
        after: The current screen.
        wording: The instruction; contents that it names must be equal.
        exists: Returns whether a file was written since the replay began.
    """
    named = named_files([one.learned for one in done])
    typed_into = {_target_key(one.learned) for one in done if typed_text(one.learned.action)}
    problems = (
        _end_state_difference(one, after, named, exists)
        # Typed contents are compared with the typed text; results, such as a sum, are unknown.
        or ("" if _target_key(one.learned) in typed_into else _named_content_difference(one, after, wording))
        for one in done
    )
    return next((problem for problem in problems if problem), "")


def end_evidence(done: Sequence[Done], after: Observation, varied: bool) -> Iterator[str]:
    """Yield the evidence, in words, that a replay reached its learned end state.

    A field that contains the text that was typed into it is not evidence.

    Args:
        done: The replayed steps.
        after: The current screen.
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
    """Return the used values that an effect in an application proves, and those that nothing proves.

    Such effects are a saved file, a window title, an element other than the one typed into, and the effect of a click.

    Args:
        done: The replayed steps.
        after: The current screen.
        values: The values.
        shows_in_file: Returns whether a file, named from "/" or "~", contains a value.
        earlier: Values of earlier subtasks that nothing has proven yet.
    """
    used = {*earlier, *(value for one in done for value in _used_values(one, values))}
    files = [file for one in done for file in one.learned.end.files]
    shown = _shown_newly(done, after)
    clicked = [one for one in done if not typed_text(one.learned.action) and any(_proofs_of(one, after, True))]
    proven = {value for one in clicked for value in _used_values(one, values)} | {
        value
        for value in used
        if any(holds(text, value) for text in (*files, *shown)) or any(shows_in_file(file, value) for file in files)
    }
    return tuple(sorted(proven)), tuple(sorted(used - proven))


def _shown_newly(done: Sequence[Done], after: Observation) -> list[str]:
    """Return the titles and texts that are new, without those of fields that were typed into."""
    if not done:
        return []
    typed_into = {one.id for step in done if typed_text(step.learned.action) and (one := _current_element(step, after))}
    old = set(_texts_of(done[0].before))
    fresh = {text for element in after.elements if element.id not in typed_into for text in _texts_in(element)}
    return [text for text in {*fresh, *(window.title for window in after.windows)} if text not in old]


def _texts_of(seen: Observation) -> Iterator[str]:
    yield from (window.title for window in seen.windows)
    for element in seen.elements:
        yield from _texts_in(element)


def _texts_in(element: Element) -> Iterator[str]:
    yield from (text for text in (element.name, element.text) if text)


def _used_values(one: Done, values: Collection[str]) -> set[str]:
    texts = list(values_shown([one.learned]))
    return {value for value in values if any(holds(text, value) for text in texts)}


def _proofs_of(one: Done, after: Observation, varied: bool) -> Iterator[str]:
    learned, end = one.learned, one.learned.end
    yield from (f"the file {file} was written" for file in end.files)
    if end.element is not None and learned.state_before not in (None, end.element):
        if not typed_text(learned.action) and _is_as_learned(one, end.element, after, varied):
            yield f"{_target_name(learned)} is as it was when learned"
    elif any(learned.names_of("opened", "closed", "appeared", "vanished")):  # menus have no title, and close again
        yield f"{learned.intent or learned.action.action}: it opened and closed what it did when learned"


def _is_as_learned(one: Done, end: ElementState, after: Observation, varied: bool) -> bool:
    """Return whether a changed content is the learned one; with other values, it cannot be."""
    before = one.learned.state_before
    if before is None or end.text is None or end.text == before.text:
        return True  # states and values were compared before
    element = _current_element(one, after)
    return not varied and element is not None and element.text == end.text


def find_missing_window(learned: GroundedStep, before: Sequence[Window], now: Sequence[Window]) -> str:
    """Return which window has not yet opened or closed as it did when learned; empty if all have."""
    # Popups may open by themselves; count only those that a click opens.
    opened = [title for title in learned.names_of("opened") if title or isinstance(learned.action, Click)]
    if missing := _unmatched(opened, [window.title for window in _without(now, before)]):
        return f"{_name_window(missing[0])} should have opened"
    if missing := _unmatched(
        [title for title in learned.names_of("closed") if title], [window.title for window in _without(before, now)]
    ):
        return f"{_name_window(missing[0])} should have closed"
    return ""


def _without(windows: Sequence[Window], others: Sequence[Window]) -> list[Window]:
    ids = {window.id for window in others}
    return [window for window in windows if window.id not in ids]


def _window_difference(learned: GroundedStep, before: Observation, after: Observation) -> str:
    """Return which window did not open or close as learned, or opened unexpectedly; empty if none."""
    if missing := find_missing_window(learned, before.windows, after.windows):
        return missing
    came, expected = _without(after.windows, before.windows), learned.names_of("opened")
    # An application that was running when the step was learned may have to be started now.
    starts = isinstance(learned.action, SwitchApplications)
    for window in came if not starts else ():
        matters = not window.popup and (window.active or window.modal)
        if matters and not any(titles_agree(title, window.title) for title in expected):
            return f"{_name_window(window.title)} opened, which it did not when learned"
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


def _element_difference(learned: GroundedStep, element: Element | None, after: Observation) -> str:
    was, became = learned.state_before, learned.state_after
    if was is None or element is None:
        return ""
    now = after.by_id.get(element.id)
    if became is None:
        # An element of a window that closes may stay for a moment.
        return f"{_target_name(learned)} should be gone" if now is not None and not learned.names_of("closed") else ""
    if now is None:
        # Some applications replace a cell when its content changes.
        now = _find_described(learned, after)
    if now is None:
        return f"{_target_name(learned)} is gone"
    return state_difference(learned, was, became, state_of(element), state_of(now))


def state_difference(
    learned: GroundedStep, was: ElementState, became: ElementState, before: ElementState, now: ElementState
) -> str:
    """Return how the change of an element differs from the learned one; empty if it does not."""
    switched = set(was.states) ^ set(became.states)
    if switched & set(became.states) != switched & set(now.states):
        return f"{_target_name(learned)} should be {_describe_states(became.states, switched)}"
    if not _is_expected_text(learned, was.text, became.text, before.text, now.text):
        return f"{_target_name(learned)} should read {(became.text or '')[:80]!r}, not {(now.text or '')[:80]!r}"
    if became.value is not None and became.value != was.value and now.value not in (became.value, None):
        return f"{_target_name(learned)} should be {became.value:g}, not {now.value:g}"
    return ""


def _is_expected_text(
    learned: GroundedStep, was: str | None, became: str | None, before: str | None, now: str | None
) -> bool:
    """Return whether a content is as expected.

    A typed text must be in the content, and be all of it if it was when learned. Any other content must have changed.
    """
    if became is None or became == was or now is None:
        return True
    typed = typed_text(learned.action).strip()
    if typed and typed in became:
        typed, now = typed.translate(_TYPESET), now.translate(_TYPESET)
        return now.strip() == typed if became.strip() == typed else typed in now
    return now == became or now != before


def _mark_difference(learned: GroundedStep, before: Observation, after: Observation) -> str:
    appeared, vanished = learned.names_of("appeared"), learned.names_of("vanished")
    counters = {mask_numbers(mark) for mark in appeared} & {
        mask_numbers(mark) for mark in vanished
    }  # only their number changed
    appeared = tuple(mark for mark in appeared if mask_numbers(mark) not in counters)
    vanished = tuple(mark for mark in vanished if mask_numbers(mark) not in counters)
    stayed = lasting_windows(before, after)
    if not appeared and not vanished:
        shown_otherwise = learned.state_before != learned.state_after
        return (
            ""
            if shown_otherwise
            else _find_unchanged_counter(counters, *(marks_of(seen, stayed) for seen in (before, after)))
        )
    old, new = ({mask_numbers(mark) for mark in marks_of(seen, stayed)} for seen in (before, after))
    missing = [mark for mark in appeared if mask_numbers(mark) not in new]
    if len(missing) > MIN_SHARE * len(appeared):
        return f"{_name_mark(missing[0])} should have appeared"
    there = [mark for mark in vanished if mask_numbers(mark) in old]
    still_there = [mark for mark in there if mask_numbers(mark) in new]
    return (
        f"{_name_mark(still_there[0])} should have vanished"
        if len(still_there) > MIN_SHARE * max(1, len(there))
        else ""
    )


def _find_unchanged_counter(counters: Collection[str], before: Collection[str], after: Collection[str]) -> str:
    """Return a control with a counter that should have changed; empty if any of the counters has."""
    counted = sorted(mark for mark in before if mask_numbers(mark) in counters)
    return f"{_name_mark(counted[0])} should have changed" if counted and all(mark in after for mark in counted) else ""


def _end_state_difference(one: Done, after: Observation, named: frozenset[str], exists: Callable[[str], bool]) -> str:
    learned, end, was_learned = one.learned, one.learned.end, one.learned.state_before
    missing = next((file for file in end.files if not exists(file)), "")
    if missing:
        return f"the file {missing} was not written"
    if end.title and (problem := _title_difference(end.title, after, named)):
        return problem
    if end.element is None or was_learned is None or was_learned == end.element:
        return ""
    element = _current_element(one, after)
    if element is None:
        return f"{_target_name(learned)} is not there at the end"
    before = acted_on(one.step.response.action, one.before) if one.step is not None else element
    was = state_of(before) if before is not None else was_learned
    return state_difference(learned, was_learned, end.element, was, state_of(element))


def _named_content_difference(one: Done, after: Observation, wording: str) -> str:
    """Return which content differs from the one that the instruction names, such as another choice in a list."""
    end = one.learned.end.element
    if end is None or not end.text or not holds(wording, end.text):
        return ""
    element = _current_element(one, after)
    if element is None or element.text is None or element.text.strip() == end.text.strip():
        return ""
    return f"{_target_name(one.learned)} should read {end.text[:80]!r}, not {element.text[:80]!r}"


def _title_difference(title: str, after: Observation, named: frozenset[str]) -> str:
    """Return how the title of the active window differs; a file name that was in it must be there again."""
    front = after.active_window
    shown = front.title if front is not None else ""
    agrees = titles_agree(title, shown) and all(name in shown for name in named if name in title)
    return "" if agrees else f"{_name_window(title)} should be in front, not {_name_window(shown)}"


def _current_element(one: Done, after: Observation) -> Element | None:
    """Return the target element of a step on the current screen."""
    if one.step is not None:
        element = acted_on(one.step.response.action, one.before)
        if element is not None and element.id in after.by_id:
            return after.by_id[element.id]
    return _find_described(one.learned, after)


def _find_described(learned: GroundedStep, seen: Observation) -> Element | None:
    description = _target_description(learned)
    return find_again(description, seen) if description is not None else None


def _target_description(learned: GroundedStep) -> ElementDescription | None:
    return learned.targets.get("drop_on_id") or learned.targets.get("element_id") or learned.focus


def _target_key(learned: GroundedStep) -> tuple[str, ...]:
    """Return a key that identifies the target element of a step; empty if it has none."""
    description = _target_description(learned)
    if description is None:
        return ()
    return (description.role, description.name, description.label, *description.path)


def named_files(steps: Sequence[GroundedStep]) -> frozenset[str]:
    """Return the file names that steps type."""
    return frozenset(file for step in steps for file in files_in(typed_text(step.action)))


def files_in(text: str) -> frozenset[str]:
    """Return the file names in a text."""
    return frozenset(token.value for token in tokens(text) if token.sort == "file")


def _target_name(learned: GroundedStep) -> str:
    described = next(iter(learned.targets.values()), learned.focus)
    if described is None:
        return "it"
    return f"the {described.role} {(described.name or described.label or described.description)!r}"


def _name_window(title: str) -> str:
    return f"the window {title!r}" if title else "a popup, or a window without a title,"


def _name_mark(mark: str) -> str:
    role, _, name = mark.partition(":")
    return f"the {role} {name!r}"


def _describe_states(states: Sequence[str], switched: set[str]) -> str:
    return ", ".join(f"{'' if state in states else 'not '}{state}" for state in sorted(switched))
