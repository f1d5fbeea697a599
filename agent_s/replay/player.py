"""Replay of a verified experience without a model: it grounds each step, checks its effect, and then the end state."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from aci.acting.actions import Action, Click, Hotkey, SwitchApplications, Wait
from aci.acting.result import Refusal
from aci.acting.settle import Settles
from aci.observation.identity import find_again
from aci.observation.observation import Element, Observation
from aci.observation.sheet_text import is_sheet_cell
from agent_s.events import Event, ReplayStarted, ReplayStopped
from agent_s.llm.protocol import ActResponse
from agent_s.probes.preferences import cannot_switch, differing, read_settings
from agent_s.records import Derived, GroundedStep, Step, Subtask
from agent_s.replay.derived import entered_text
from agent_s.replay.effect_checks import (
    Done,
    effect_difference,
    end_difference,
    end_evidence,
    files_in,
    find_missing_window,
    find_overwritten_content,
    find_switched_menu_entry,
    has_visible_effect,
    is_already_switched,
    is_done_already,
    split_by_proof,
)
from agent_s.replay.effect_signs import Sign, sign_of
from agent_s.replay.first_dialogs import no_answers
from agent_s.replay.grounded_steps import FIELDS, Fields, acted_on, changed_fields, fields_of
from agent_s.replay.grounding import ground
from agent_s.replay.home_folder import names_home, with_home
from agent_s.replay.out_of_sight import ScrollSearch
from agent_s.replay.placeholders import has_placeholder
from agent_s.replay.readings import Readings
from agent_s.replay.screen import Screen
from agent_s.replay.seen_texts import SeenTexts
from agent_s.replay.template import Mismatch, Replayable, with_parameters
from agent_s.replay.ways import WindowPaths
from agent_s.replay.written_files import FileContents, was_written, without_files
from intents.alignment import Parameters

PATIENCE_S = 6.0  # longest wait for the expected screen, s
STILL_S = 1.5  # longest wait while the screen does not change and applications are idle, s
WINDOWS_S = 1.0  # longest wait for windows alone, before a full observation, s
SCROLL_AFTER_S = 1.0  # wait for a missing target before scrolling to find it, s
POLL_S = 0.1  # longest wait for a change before another observation, s
NO_INPUT: frozenset[Refusal] = frozenset({"stale", "covered"})  # the target was changing, and received no input
TEXT_ROLE = "text line"  # role of text elements found by OCR


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay."""

    finished: bool  # whether all steps were performed and the end state is the learned one
    evidence: tuple[str, ...] = ()  # evidence of the end state; empty if nothing about it could be checked
    # values used for this task so far, and effects of untried steps, that nothing proves
    unproven: tuple[str, ...] = ()
    problem: str = ""  # why it stopped
    stale: str = ""  # the learned value that was not typed since its current value is unknown; may be empty
    greyed_out: bool = False  # whether it stopped because a target is disabled, which says nothing about the steps


@dataclass(frozen=True, slots=True)
class _Performed:
    """A step that was performed, but whose effect is not checked yet."""

    step: Step | None  # None if its effect was already there
    before: Observation  # the screen before it
    element: Element | None  # its target
    sign: Sign | None  # checks whether its effect is there; None if that takes a full observation


@dataclass(eq=False)
class Replay:
    """Replays learned steps."""

    session: Screen  # the desktop of the run
    home: Path | None = None  # home directory of the desktop's applications; None if its files cannot be read
    # texts that the run has seen; without them, no value that came from a screen is typed
    seen_texts: SeenTexts = field(default_factory=SeenTexts)
    # returns the steps that answer what an application shows at its start
    first_answers: Callable[[str], Sequence[GroundedStep]] = no_answers
    _stale: str = field(default="", init=False)
    _greyed_out: bool = field(default=False, init=False)
    _values: dict[str, str] = field(default_factory=dict, init=False)  # current value of each placeholder
    _unproven: tuple[str, ...] = field(default=(), init=False)
    _untried: tuple[str, ...] = field(default=(), init=False)
    _fields: Fields = field(default_factory=dict, init=False)  # fields and choices that must not change unexpectedly
    _chosen: set[int] = field(default_factory=set, init=False)  # ids of the targets of this replay
    _known_at: int = field(default=-1, init=False)  # number of steps of the run for which `_fields` holds
    _paths: WindowPaths = field(default_factory=WindowPaths, init=False)  # steps that opened windows

    def run(
        self, subtask: Subtask, learned: Replayable, steps: list[Step], last: bool = True
    ) -> Generator[Event, None, Replayed]:
        """Replay learned steps one by one; stop at the first that finds or leaves an unexpected screen.

        Args:
            subtask: The subtask.
            learned: The learned steps.
            steps: Performed steps are appended here, so that a Worker that takes over knows them.
            last: Whether it is the last subtask, so that the screen must have settled after it.
        """
        yield ReplayStarted(subtask=subtask, experience_id=learned.experience_id, steps=len(learned.steps))
        done: list[Done] = []
        self._stale, self._greyed_out = "", False
        if names_home(learned.steps):
            if self.home is None:
                problem = "it types the path of the home folder, which is not known here"
                yield ReplayStopped(subtask=subtask, experience_id=learned.experience_id, reason=problem)
                return Replayed(False, problem=problem)
            learned = replace(learned, steps=with_home(learned.steps, self.home))
        if self.home is None:  # without access to files, they must not count as evidence
            learned = replace(learned, steps=without_files(learned.steps))
        with nullcontext() if needs_ocr(learned.steps) else self.session.without_ocr():
            if (yield from self._is_done_already(learned)):
                return Replayed(True, ("what it shows or hides is already so",))
            if is_hidden_switch(learned.steps) and self._settings_evidence(learned):
                problem = ""  # the switch is already set, which the screen would not show
            else:
                problem = yield from self._perform(learned, steps, done, last)
            if problem:
                yield ReplayStopped(subtask=subtask, experience_id=learned.experience_id, reason=problem)
                return Replayed(False, problem=problem, stale=self._stale, greyed_out=self._greyed_out)
            seen = yield from self.session.look(check=last and not _has_visible_end(learned))
        done = self._fill_done(done)
        read = {self._values[mark] for mark in learned.marks.values() if mark in self._values}
        values = {*learned.parameters.pairs.values(), *read}
        files = FileContents(self.home)
        shown, self._unproven = split_by_proof(done, seen, values, files.show, self._unproven)
        # Steps that lead to an untried step say nothing about its effect.
        self._untried += tuple(
            f"the effect of {one.learned.action.action}"
            for one in done
            if one.learned.untried and not any(end_evidence([one], seen, bool(values)))
        )
        evidence = (
            *end_evidence(done, seen, bool(values)),
            *(f"the end shows {value!r}, not only where it was typed" for value in shown),
            *self._settings_evidence(learned),
        )
        return Replayed(True, evidence, self._unproven + self._untried)

    def _is_done_already(self, learned: Replayable) -> Generator[Event, None, bool]:
        """Return whether there is nothing to do; a screen that may still change is checked twice."""
        for check in (False, True):
            if not is_done_already(learned.steps, learned.wording, (yield from self.session.look(check=check))):
                return False
        return True

    def _fill_done(self, done: Sequence[Done]) -> list[Done]:
        return [replace(one, learned=learned) for one in done for learned in self._fill_placeholders([one.learned])]

    def _fill_placeholders(self, steps: Iterable[GroundedStep]) -> tuple[GroundedStep, ...]:
        """Return steps with the values read so far in place of their placeholders."""
        filled = with_parameters(tuple(steps), Parameters(self._values))
        return tuple(steps) if isinstance(filled, Mismatch) else filled

    def _perform(
        self, learned: Replayable, steps: list[Step], done: list[Done], last: bool
    ) -> Generator[Event, None, str]:
        began = time.time()

        def end_problem(seen: Observation) -> str:
            exists = partial(was_written, home=self.home, since=began)
            now = self._fill_done(done)
            return end_difference(now, seen, learned.wording, exists) or self._settings_difference(now)

        return (
            (yield from self._activate(learned.opens, steps))
            or (yield from self._perform_steps(learned, steps, done, last))
            or (yield from self._wait_until("at the end: ", end_problem, check=last and not _has_visible_end(learned)))
        )

    def _activate(self, application: str, steps: list[Step]) -> Generator[Event, None, str]:
        """Bring an application to the front, if one is named; return a problem, or an empty text."""
        if not application:
            return ""
        observation = yield from self.session.look(check=False)
        response = ActResponse(next_action=f"go to {application}", action=SwitchApplications(app_code=application))
        step = yield from self.session.step(observation, response, replayed=True)
        steps.append(step)
        return "" if step.result.ok else step.result.error or f"{application} did not come to the front"

    def _perform_steps(
        self, learned: Replayable, steps: list[Step], done: list[Done], last: bool
    ) -> Generator[Event, None, str]:
        # A replay waits for what it needs by itself, so it performs only waits that the task asks for.
        waits = "wait" in learned.wording.casefold()
        begin = yield from self._skip_shared_steps(learned)
        answered = 0
        if not begin:
            answered = yield from self._answer_first_dialogs(learned, steps)
            yield from self._close_dialog_in_front(learned.steps[0], steps)
        wanted = [
            at for at, step in enumerate(learned.steps) if at >= begin and (waits or not isinstance(step.action, Wait))
        ]
        readings = Readings(self.seen_texts, learned.steps, learned.marks)
        files = files_in(learned.wording)
        for at, after in zip_longest(wanted, wanted[1:]):
            problem = (yield from self._read_sources(readings, at, learned)) or self._find_refusal(learned, at)
            problem = problem or self._use_readings(readings, learned.steps[at])
            if problem:
                return problem
            (step,) = self._fill_placeholders([learned.steps[at]])
            following = learned.steps[after] if after is not None else None
            ends = last and following is None
            # Nothing else is expected after a known effect.
            check = learned.reads or (ends and not has_visible_effect(step))
            settle = check or not is_effect_awaited(step, following, learned.steps)
            problem = yield from self._perform_step(step, following, steps, done, settle, check, files)
            # A dialog may come late, as behind a splash screen.
            blocked = problem and not (begin or done)
            if blocked and (yield from self._answer_first_dialogs(learned, steps, answered)) > answered:
                problem = yield from self._perform_step(step, following, steps, done, settle, check, files)
            if problem:
                return problem
        if not last:
            seen = yield from self.session.look(check=False)
            path = (*learned.steps[:begin], *(one.learned for one in done))
            self._paths.add(path, [*(one.before for one in done), seen])
        return ""

    def _skip_shared_steps(self, learned: Replayable) -> Generator[Event, None, int]:
        """Return how many of the first steps an earlier replay already performed: those that led to this window."""
        seen = yield from self.session.look(check=False)
        shared = 0 if learned.marks else self._paths.shared_steps(learned.steps, seen)
        following = learned.steps[shared : shared + 1] if shared else ()
        return 0 if any(isinstance(ground(step, seen), Mismatch) for step in following) else shared

    def _answer_first_dialogs(
        self, learned: Replayable, steps: list[Step], answered: int = 0
    ) -> Generator[Event, None, int]:
        """Answer what an application shows at its start, as its exploration did.

        Args:
            learned: What is replayed.
            steps: Performed steps are appended here.
            answered: Number of dialogs that have been answered before.

        Returns:
            The number of dialogs that have been answered now.
        """
        seen = yield from self.session.look(check=False)
        front = seen.active_window
        answers = self.first_answers(learned.opens or (front.app if front is not None else ""))[answered:]
        for step in with_home(answers, self.home) if self.home is not None else answers:
            action = ground(step, seen)
            if isinstance(action, Mismatch):
                break
            response = ActResponse(next_action=step.intent, action=action)
            steps.append((yield from self.session.step(seen, response, replayed=True)))
            if not steps[-1].result.ok:
                break
            answered += 1
            seen = yield from self.session.look(check=False)
        return answered

    def _close_dialog_in_front(self, first: GroundedStep, steps: list[Step]) -> Generator[Event, None, None]:
        """Close a dialog that an earlier replay left open if it blocks the first step."""
        seen = yield from self.session.look(check=False)
        dialog = self._paths.left_open(seen)
        if dialog is not None and isinstance(ground(first, seen), Mismatch):
            response = ActResponse(next_action=f"close {dialog.title}", action=Hotkey(keys=("escape",)))
            steps.append((yield from self.session.step(seen, response, replayed=True)))

    def _read_sources(self, readings: Readings, at: int, learned: Replayable) -> Generator[Event, None, str]:
        """Read the derived values that are due before a step; return a problem, or an empty text."""
        sources = readings.due(at)
        if not sources:
            return ""
        read = partial(readings.read, sources)
        return (yield from self._wait_until("", lambda seen: self._unreadable(read(self.session.steps)), check=True))

    def _find_refusal(self, learned: Replayable, at: int) -> str:
        """Return why a step must not be replayed; empty if it may."""
        self._stale, problem = learned.refused.get(at, ("", ""))
        return problem

    def _use_readings(self, readings: Readings, step: GroundedStep) -> str:
        """Use the values that were read for a step; return a problem, or an empty text."""
        values = readings.values_of(step)
        if isinstance(values, Derived):
            return self._unreadable(values)
        changed = [mark for mark, value in values.pairs.items() if self._values.get(mark, value) != value]
        self._values |= values.pairs
        text = entered_text(self._fill_placeholders([step])[0].action)
        return "a value was not read" if changed or has_placeholder(text) else ""

    def _unreadable(self, source: Derived | None) -> str:
        self._stale = source.typed if source is not None else ""
        return f"{self._stale!r} came from the screen, which does not show clearly what it is now" if source else ""

    def _perform_step(
        self,
        learned: GroundedStep,
        following: GroundedStep | None,
        steps: list[Step],
        done: list[Done],
        settle: bool,
        check: bool,
        files: frozenset[str] = frozenset(),
    ) -> Generator[Event, None, str]:
        """Perform one learned step and check its effect; return a problem, or an empty text.

        A click is repeated once if it should have opened a menu and no window has opened: an application that has just
        started may not have seen the first one, or have closed the menu at once.

        Args:
            learned: The step.
            following: The next step; None after the last one.
            steps: The performed step is appended here.
            done: The performed step is appended here with the learned one.
            settle: Whether to wait until the screen has settled.
            check: Whether to wait for late changes as well.
            files: File names in the wording.
        """
        count = len(done)
        problem = yield from self._perform_once(learned, following, steps, done, settle, check, files)
        if problem and len(done) > count and opens_menu(learned):
            before, seen = done[-1].before.windows, (yield from self.session.look(check=False))
            if find_missing_window(learned, before, seen.windows):
                done.pop()
                problem = yield from self._perform_once(learned, following, steps, done, settle, check, files)
        return problem

    def _perform_once(
        self,
        learned: GroundedStep,
        following: GroundedStep | None,
        steps: list[Step],
        done: list[Done],
        settle: bool,
        check: bool,
        files: frozenset[str],
    ) -> Generator[Event, None, str]:
        """Perform one learned step as `_perform_step` does."""
        taken = yield from self._ground_and_perform(learned, following, steps, settle, files)
        if not isinstance(taken, _Performed):
            return taken
        step, element = taken.step, taken.element
        done.append(Done(learned, step, taken.before))
        if step is None:
            return ""
        self._chosen.add(element.id if element is not None else 0)

        def problem_of(seen: Observation) -> str:
            unexpected = (
                "" if learned.untried else self._find_unexpected_change(seen, learned.names_of("rewritten"), element)
            )
            return effect_difference(learned, step, seen) or unexpected

        glances = taken.sign is not None and following is not None and not check
        if glances and (yield from self._glance(taken, problem_of)):
            return ""
        session, before = self.session, taken.before.windows
        deadline = session.clock() + PATIENCE_S
        session.await_windows(lambda now: not find_missing_window(learned, before, now), WINDOWS_S)
        problem = yield from self._wait_until("", problem_of, check, deadline)
        if not problem:
            self._known_at, self._fields = session.steps, fields_of((yield from session.look(check=False)))
        return problem

    def _ground_and_perform(
        self,
        learned: GroundedStep,
        following: GroundedStep | None,
        steps: list[Step],
        settle: bool,
        files: frozenset[str],
    ) -> Generator[Event, None, _Performed | str]:
        """Ground a step and perform it; retry if its target was just changing. Return a problem if that fails."""
        session = self.session
        deadline = session.clock() + PATIENCE_S
        while True:
            action, observation = yield from self._ground(learned, steps, files)
            if isinstance(action, Mismatch):
                self._greyed_out = action.greyed_out
                return action.reason
            if session.steps != self._known_at:  # a Worker or another replay has acted in between
                self._fields, self._chosen = fields_of(observation), set()
            if problem := self._find_obstacle(learned, action, observation):
                return problem
            element = acted_on(action, observation)
            if is_already_switched(learned, _named_element(action, observation)):
                return _Performed(None, observation, element, None)
            response = ActResponse(next_action=learned.intent, action=action)
            sign = None if settle else sign_of(learned, following, element, session)
            settles: Settles = settle if sign is None else sign
            step = yield from session.step(observation, response, replayed=True, settle=settles)
            if step.result.refusal not in NO_INPUT or session.clock() > deadline:
                break
            self._known_at = session.steps
        steps.append(step)
        if not step.result.ok:
            return step.result.error or "the action was refused"
        return _Performed(step, observation, element, sign)

    def _glance(self, taken: _Performed, problem_of: Callable[[Observation], str]) -> Generator[Event, None, bool]:
        """Return whether a step has had its effect, without a full observation.

        Only its target and the fields that must not change are refreshed.
        """
        watched = set(self._watched(taken.before, taken.element))
        if taken.element is not None:
            watched.add(taken.element.id)
        seen = yield from self.session.glance(watched)
        if seen is None or problem_of(seen):
            return False
        known = fields_of(seen)
        self._known_at, self._fields = self.session.steps, {each: known[each] for each in watched & known.keys()}
        return True

    def _find_obstacle(self, learned: GroundedStep, action: Action, observation: Observation) -> str:
        """Return why a step must not be performed on this screen; empty if it may, or if it is unnecessary."""
        problem, target = self._find_unexpected_change(observation, (), None), _named_element(action, observation)
        if problem or is_already_switched(learned, target):
            return problem
        return (
            find_switched_menu_entry(learned, target)
            or find_overwritten_content(learned, acted_on(action, observation))
            or cannot_switch(learned.end.settings, read_settings(self.home))
        )

    def _ground(
        self, learned: GroundedStep, steps: list[Step], files: frozenset[str]
    ) -> Generator[Event, None, tuple[Action | Mismatch, Observation]]:
        """Wait for the elements of a step, and scroll to find them if they do not appear."""
        session, began, scrolled = self.session, self.session.clock(), False
        observation = yield from session.look(check=False, glanced=True)
        while isinstance(action := ground(learned, observation, files), Mismatch):
            if session.glanced:
                observation = yield from session.look(check=False)
                continue
            waited_s = session.clock() - began
            if waited_s > PATIENCE_S or self._is_idle():
                break
            missing = next((one for one in learned.targets.values() if find_again(one, observation) is None), None)
            if missing is not None and waited_s > SCROLL_AFTER_S and not scrolled:
                scrolled = True
                observation = yield from ScrollSearch(session, missing, steps).search(observation)
            else:
                observation = yield from session.look_again(POLL_S)
        return action, observation

    def _watched(self, seen: Observation, element: Element | None) -> Fields:
        """Return the known fields and choices that must not change when an element receives input."""
        focus = element if seen.focus_id is None else seen.focused
        follow = focus is not None and is_sheet_cell(focus)  # input line and sidebar follow the selected cell
        return {
            number: shown
            for number, shown in self._fields.items()
            if number in self._chosen or (not follow and shown[0].partition(":")[0] in FIELDS)
        }

    def _find_unexpected_change(self, seen: Observation, expected: tuple[str, ...], element: Element | None) -> str:
        """Return which field, or choice made by this replay, has changed unexpectedly, except the given element."""
        watched, own = self._watched(seen, element), element.id if element is not None else None
        changed = [mark for mark in changed_fields(watched, seen, own) if mark not in expected]
        role, _, name = changed[0].partition(":") if changed else ("", "", "")
        return f"the {role} {name!r} is not as it was before" if changed else ""

    def _settings_evidence(self, learned: Replayable) -> tuple[str, ...]:
        """Return the hidden settings of steps in words, if all of them have the learned values."""
        wanted = {key: value for step in learned.steps for key, value in step.end.settings.items()}
        settings = read_settings(self.home)
        if settings is None or differing(wanted, settings):
            return ()
        return tuple(f"{key} is {value}" for key, value in wanted.items())

    def _settings_difference(self, done: list[Done]) -> str:
        wanted = {key: value for one in done for key, value in one.learned.end.settings.items()}
        wrong = differing(wanted, read_settings(self.home))
        return f"{wrong[0]} should be {wanted[wrong[0]]}" if wrong else ""

    def _is_idle(self) -> bool:
        """Return whether the screen has been unchanged, and the applications idle, long enough to stop waiting."""
        return self.session.still_s > STILL_S

    def _wait_until(
        self, where: str, problem_of: Callable[[Observation], str], check: bool, deadline: float | None = None
    ) -> Generator[Event, None, str]:
        """Observe until there is no problem; return the remaining one, or an empty text."""
        deadline = self.session.clock() + PATIENCE_S if deadline is None else deadline
        seen = yield from self.session.look(check=check)
        while problem := problem_of(seen):
            if self.session.clock() > deadline or self._is_idle():
                return where + problem
            seen = yield from self.session.look_again(POLL_S)
        return ""


def opens_menu(step: GroundedStep) -> bool:
    """Return whether a step is a click that opened a menu, or another window without a title, when it was learned."""
    return isinstance(step.action, Click) and "" in step.names_of("opened")


def is_effect_awaited(step: GroundedStep, following: GroundedStep | None, steps: Sequence[GroundedStep]) -> bool:
    """Return whether the replay waits for the effect of a step, so that the screen need not settle first.

    If the step has no visible effect, the next one must check the focus or the application, or the end state must show
    what it changed.
    """
    if has_visible_effect(step):
        return True
    if following is None:
        return any(one.end.element not in (None, one.state_after, one.state_before) for one in steps)
    return following.focus is not None or isinstance(step.action, SwitchApplications)


def _has_visible_end(learned: Replayable) -> bool:
    """Return whether the last step of an experience has a known effect, after which there is nothing to wait for."""
    return not learned.reads and bool(learned.steps) and has_visible_effect(learned.steps[-1])


def is_hidden_switch(steps: Sequence[GroundedStep]) -> bool:
    """Return whether steps only toggle a switch in a menu whose state no element shows."""
    in_menu = all(target.role == "menu" for step in steps[:-1] for target in step.targets.values())
    return in_menu and bool(steps) and bool(steps[-1].end.settings)


def needs_ocr(steps: Sequence[GroundedStep]) -> bool:
    """Return whether steps refer to texts that only OCR finds."""
    if any(one.role == TEXT_ROLE for step in steps for one in step.derived or ()):
        return True
    return any(target.role == TEXT_ROLE for step in steps for target in step.targets.values())


def _named_element(action: Action, observation: Observation) -> Element | None:
    named: int | None = getattr(action, "element_id", None)
    return observation.by_id.get(named) if named is not None else None
