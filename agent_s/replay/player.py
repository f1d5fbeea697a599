"""Replays a verified experience without a model: grounds each step on the screen, checks its effect, then the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from aci.acting.actions import Action, SwitchApplications, Wait
from aci.acting.result import Refusal
from aci.acting.settle import Settles
from aci.observation.identity import find_again
from aci.observation.observation import Element, Observation
from aci.observation.sheet_text import is_sheet_cell
from agent_s.events import Event, ReplayStarted, ReplayStopped
from agent_s.llm.protocol import ActResponse
from agent_s.probes.preferences import cannot_switch, differing, read_settings
from agent_s.records import Derived, GroundedStep, Step, Subtask
from agent_s.replay.derived import entered
from agent_s.replay.effect_checks import (
    Done,
    differs,
    end_differs,
    files_in,
    is_done_already,
    is_so_already,
    overwrites,
    proofs,
    shows,
    split_by_proof,
    switched_already,
    windows_missing,
)
from agent_s.replay.effect_signs import Sign, sign_of
from agent_s.replay.grounded_steps import FIELDS, Fields, acted_on, fields_of, rewritten
from agent_s.replay.grounding import ground
from agent_s.replay.home_folder import names_home, with_home
from agent_s.replay.out_of_sight import Wheel
from agent_s.replay.placeholders import has_placeholder
from agent_s.replay.readings import Readings
from agent_s.replay.screen import Screen
from agent_s.replay.seen_texts import SeenTexts
from agent_s.replay.template import Mismatch, Replayable, with_parameters
from agent_s.replay.ways import Ways
from agent_s.replay.written_files import FileContents, was_written, without_files
from intents.alignment import Parameters

PATIENCE_S = 6.0  # longest wait for the expected screen, s
STILL_S = 1.5  # the same while nothing stirs and no application works, s
WINDOWS_S = 1.0  # wait for windows alone, before the rest of the screen is looked at, s
SCROLL_AFTER_S = 1.0  # wait for what a step needs before it is looked for out of sight, s
POLL_S = 0.1  # longest wait for a change before another look, s
NOTHING_DONE: frozenset[Refusal] = frozenset({"stale", "covered"})  # the target was changing, and got no input
TEXT_ROLE = "text line"  # role of texts that OCR recognized


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay."""

    finished: bool  # whether all steps were done and the end is the one that was learned
    evidence: tuple[str, ...] = ()  # what the end was checked against; empty if nothing in it could be checked
    # values that were typed or chosen for this task so far, and effects that nobody had seen, which nothing shows
    unproven: tuple[str, ...] = ()
    problem: str = ""  # why it stopped
    stale: str = ""  # the learned value that it did not type because nothing says what it is now; may be empty


@dataclass(frozen=True, slots=True)
class _Taken:
    """A step that was carried out."""

    step: Step | None  # as it was done; None if its effect was already there
    before: Observation  # the screen before it
    element: Element | None  # what it acted on
    sign: Sign | None  # says whether its effect is there; None if only a look does


@dataclass(eq=False)
class Replay:
    """Replays learned steps."""

    session: Screen  # the desktop of the run
    home: Path | None = None  # home of the desktop's applications; None if its files cannot be read
    # what the run has seen; without it, no value that came from a screen is typed
    seen_texts: SeenTexts = field(default_factory=SeenTexts)
    _stale: str = field(default="", init=False)
    _values: dict[str, str] = field(default_factory=dict, init=False)  # what was read in place of each placeholder
    _unproven: tuple[str, ...] = field(default=(), init=False)
    _untried: tuple[str, ...] = field(default=(), init=False)
    _fields: Fields = field(default_factory=dict, init=False)
    _chosen: set[int] = field(default_factory=set, init=False)
    _at: int = field(default=-1, init=False)
    _ways: Ways = field(default_factory=Ways, init=False)

    def run(
        self, subtask: Subtask, learned: Replayable, steps: list[Step], last: bool = True
    ) -> Generator[Event, None, Replayed]:
        """Replay learned steps one by one, and stop at the first that finds or leaves an unexpected screen.

        Args:
            subtask: The subtask.
            learned: The learned steps.
            steps: Receives each step as it is done, so that a Worker that takes over knows them.
            last: Whether the task ends with it, so that the screen must be at rest after it.
        """
        yield ReplayStarted(subtask=subtask, experience_id=learned.experience_id, steps=len(learned.steps))
        done: list[Done] = []
        self._stale = ""
        if names_home(learned.steps):
            if self.home is None:
                problem = "it types the path of the home folder, which is not known here"
                yield ReplayStopped(subtask=subtask, experience_id=learned.experience_id, reason=problem)
                return Replayed(False, problem=problem)
            learned = replace(learned, steps=with_home(learned.steps, self.home))
        if self.home is None:  # nobody can say whether the files were written, which must not prove the end
            learned = replace(learned, steps=without_files(learned.steps))
        with nullcontext() if names_texts(learned.steps) else self.session.without_ocr():
            if (yield from self._is_done_already(learned)):
                return Replayed(True, ("what it shows or hides is already so",))
            if is_hidden_switch(learned.steps) and self._settings_made(learned):
                problem = ""  # it is already so, which nothing on the screen would show
            else:
                problem = yield from self._do(learned, steps, done, last)
            if problem:
                yield ReplayStopped(subtask=subtask, experience_id=learned.experience_id, reason=problem)
                return Replayed(False, problem=problem, stale=self._stale)
            seen = yield from self.session.look(check=last and not _shows_its_end(learned))
        done = self._filled_in(done)
        read = {self._values[mark] for mark in learned.marks.values() if mark in self._values}
        values = {*learned.parameters.pairs.values(), *read}
        files = FileContents(self.home)
        shown, self._unproven = split_by_proof(done, seen, values, files.show, self._unproven)
        # The way to a step that nobody has done before says nothing about its effect.
        self._untried += tuple(
            f"the effect of {one.learned.action.action}"
            for one in done
            if one.learned.untried and not any(proofs([one], seen, bool(values)))
        )
        evidence = (
            *proofs(done, seen, bool(values)),
            *(f"the end shows {value!r}, not only where it was typed" for value in shown),
            *self._settings_made(learned),
        )
        return Replayed(True, evidence, self._unproven + self._untried)

    def _is_done_already(self, learned: Replayable) -> Generator[Event, None, bool]:
        """Return whether nothing is left to do; only a screen that lacks nothing any more can show that."""
        for check in (False, True):
            if not is_done_already(learned.steps, learned.wording, (yield from self.session.look(check=check))):
                return False
        return True

    def _filled_in(self, done: Sequence[Done]) -> list[Done]:
        return [replace(one, learned=learned) for one in done for learned in self._filled([one.learned])]

    def _filled(self, steps: Iterable[GroundedStep]) -> tuple[GroundedStep, ...]:
        """Return steps with what was read so far in place of the placeholders."""
        filled = with_parameters(tuple(steps), Parameters(self._values))
        return tuple(steps) if isinstance(filled, Mismatch) else filled

    def _do(self, learned: Replayable, steps: list[Step], done: list[Done], last: bool) -> Generator[Event, None, str]:
        began = time.time()

        def end_problem(seen: Observation) -> str:
            exists = partial(was_written, home=self.home, since=began)
            now = self._filled_in(done)
            return end_differs(now, seen, learned.wording, exists) or self._settings_differ(now)

        return (
            (yield from self._open(learned.opens, steps))
            or (yield from self._do_steps(learned, steps, done, last))
            or (yield from self._until("at the end: ", end_problem, check=last and not _shows_its_end(learned)))
        )

    def _open(self, application: str, steps: list[Step]) -> Generator[Event, None, str]:
        """Bring an application to the front, if one is given; return a problem, or an empty text."""
        if not application:
            return ""
        observation = yield from self.session.look(check=False)
        response = ActResponse(next_action=f"go to {application}", action=SwitchApplications(app_code=application))
        step = yield from self.session.step(observation, response, replayed=True)
        steps.append(step)
        return "" if step.result.ok else step.result.error or f"{application} did not come to the front"

    def _do_steps(
        self, learned: Replayable, steps: list[Step], done: list[Done], last: bool
    ) -> Generator[Event, None, str]:
        # A replay looks for what a Worker waited for, so it does only the waits that were asked for.
        waits = "wait" in learned.wording.casefold()
        begin = yield from self._beyond_the_way(learned)
        wanted = [
            at for at, step in enumerate(learned.steps) if at >= begin and (waits or not isinstance(step.action, Wait))
        ]
        readings = Readings(self.seen_texts, learned.steps, learned.marks)
        files = files_in(learned.wording)
        for at, after in zip_longest(wanted, wanted[1:]):
            problem = (yield from self._read(readings, at, learned)) or self._refused(learned, at)
            problem = problem or self._take(readings, learned.steps[at])
            if problem:
                return problem
            (step,) = self._filled([learned.steps[at]])
            following = learned.steps[after] if after is not None else None
            ends = last and following is None
            check = learned.reads or (ends and not shows(step))  # a known effect shows that nothing else comes late
            settle = check or not looked_for(step, following, learned.steps)
            problem = yield from self._do_step(step, following, steps, done, settle, check, files)
            if problem:
                return problem
        if not last:
            seen = yield from self.session.look(check=False)
            way = (*learned.steps[:begin], *(one.learned for one in done))
            self._ways.add(way, [*(one.before for one in done), seen])
        return ""

    def _beyond_the_way(self, learned: Replayable) -> Generator[Event, None, int]:
        """Return how many of the first steps an earlier replay has done for this one: those to the window in front."""
        seen = yield from self.session.look(check=False)
        gone = 0 if learned.marks else self._ways.gone(learned.steps, seen)
        following = learned.steps[gone : gone + 1] if gone else ()
        return 0 if any(isinstance(ground(step, seen), Mismatch) for step in following) else gone

    def _read(self, readings: Readings, at: int, learned: Replayable) -> Generator[Event, None, str]:
        """Read the values that the screen showed before a step; return a problem, or an empty text."""
        sources = readings.due(at)
        if not sources:
            return ""
        read = partial(readings.read, sources)
        return (yield from self._until("", lambda seen: self._unread(read(self.session.steps)), check=True))

    def _refused(self, learned: Replayable, at: int) -> str:
        """Return why a step is not replayed; empty if it is."""
        self._stale, problem = learned.refused.get(at, ("", ""))
        return problem

    def _take(self, readings: Readings, step: GroundedStep) -> str:
        """Take what was read for a step; return a problem, or an empty text."""
        values = readings.values_of(step)
        if isinstance(values, Derived):
            return self._unread(values)
        changed = [mark for mark, value in values.pairs.items() if self._values.get(mark, value) != value]
        self._values |= values.pairs
        text = entered(self._filled([step])[0].action)
        return "a value was not read" if changed or has_placeholder(text) else ""

    def _unread(self, source: Derived | None) -> str:
        self._stale = source.typed if source is not None else ""
        return f"{self._stale!r} came from the screen, which does not show clearly what it is now" if source else ""

    def _do_step(
        self,
        learned: GroundedStep,
        following: GroundedStep | None,
        steps: list[Step],
        done: list[Done],
        settle: bool,
        check: bool,
        files: frozenset[str] = frozenset(),
    ) -> Generator[Event, None, str]:
        """Do one learned step; return a problem, or an empty text.

        Args:
            learned: The step.
            following: The next step; None after the last one.
            steps: Receives it as it was done.
            done: Receives what it was learned from.
            settle: Whether to wait until the screen has come to rest.
            check: Whether to wait also for what comes late.
            files: Names of files that the wording names.
        """
        taken = yield from self._take_step(learned, following, steps, settle, files)
        if not isinstance(taken, _Taken):
            return taken
        step, element = taken.step, taken.element
        done.append(Done(learned, step, taken.before))
        if step is None:
            return ""
        self._chosen.add(element.id if element is not None else 0)

        def problem_of(seen: Observation) -> str:
            unexpected = "" if learned.untried else self._rewritten(seen, learned.names_of("rewritten"), element)
            return differs(learned, step, seen) or unexpected

        glances = taken.sign is not None and following is not None and not check
        if glances and (yield from self._glance(taken, problem_of)):
            return ""
        session, before = self.session, taken.before.windows
        deadline = session.clock() + PATIENCE_S
        session.await_windows(lambda now: not windows_missing(learned, before, now), WINDOWS_S)
        problem = yield from self._until("", problem_of, check, deadline)
        if not problem:
            self._at, self._fields = session.steps, fields_of((yield from session.look(check=False)))
        return problem

    def _take_step(
        self,
        learned: GroundedStep,
        following: GroundedStep | None,
        steps: list[Step],
        settle: bool,
        files: frozenset[str],
    ) -> Generator[Event, None, _Taken | str]:
        """Ground a step and carry it out, again if its target was just changing; return a problem if that failed."""
        session = self.session
        deadline = session.clock() + PATIENCE_S
        while True:
            action, observation = yield from self._ground(learned, steps, files)
            if isinstance(action, Mismatch):
                return action.reason
            if session.steps != self._at:  # a Worker or another replay has acted since
                self._fields, self._chosen = fields_of(observation), set()
            if problem := self._prevented(learned, action, observation):
                return problem
            element = acted_on(action, observation)
            if is_so_already(learned, _target(action, observation)):
                return _Taken(None, observation, element, None)
            response = ActResponse(next_action=learned.intent, action=action)
            sign = None if settle else sign_of(learned, following, element, session)
            settles: Settles = settle if sign is None else sign
            step = yield from session.step(observation, response, replayed=True, settle=settles)
            if step.result.refusal not in NOTHING_DONE or session.clock() > deadline:
                break
            self._at = session.steps
        steps.append(step)
        if not step.result.ok:
            return step.result.error or "the action was refused"
        return _Taken(step, observation, element, sign)

    def _glance(self, taken: _Taken, problem_of: Callable[[Observation], str]) -> Generator[Event, None, bool]:
        """Return whether a step has had its effect, by what it acted on and what must not change, without a look."""
        watched = set(self._watched(taken.before, taken.element))
        if taken.element is not None:
            watched.add(taken.element.id)
        seen = yield from self.session.glance(watched)
        if seen is None or problem_of(seen):
            return False
        known = fields_of(seen)
        self._at, self._fields = self.session.steps, {each: known[each] for each in watched & known.keys()}
        return True

    def _prevented(self, learned: GroundedStep, action: Action, observation: Observation) -> str:
        """Return why a step must not be done on this screen; empty if it may, or need not be done."""
        problem, target = self._rewritten(observation, (), None), _target(action, observation)
        if problem or is_so_already(learned, target):
            return problem
        return (
            switched_already(learned, target)
            or overwrites(learned, acted_on(action, observation))
            or cannot_switch(learned.end.settings, read_settings(self.home))
        )

    def _ground(
        self, learned: GroundedStep, steps: list[Step], files: frozenset[str]
    ) -> Generator[Event, None, tuple[Action | Mismatch, Observation]]:
        """Wait for the elements of a step, and scroll to them where they are out of sight."""
        session, began, scrolled = self.session, self.session.clock(), False
        observation = yield from session.look(check=False, glanced=True)
        while isinstance(action := ground(learned, observation, files), Mismatch):
            if session.glanced:
                observation = yield from session.look(check=False)
                continue
            waited_s = session.clock() - began
            if waited_s > PATIENCE_S or self._rests():
                break
            missing = next((one for one in learned.targets.values() if find_again(one, observation) is None), None)
            if missing is not None and waited_s > SCROLL_AFTER_S and not scrolled:
                scrolled = True
                observation = yield from Wheel(session, missing, steps).search(observation)
            else:
                observation = yield from session.look_again(POLL_S)
        return action, observation

    def _watched(self, seen: Observation, element: Element | None) -> Fields:
        """Return the known fields and choices that must not change, on a screen after an input into an element."""
        focus = element if seen.focus_id is None else seen.focused
        follow = focus is not None and is_sheet_cell(focus)  # input line and sidebar show what the selected cell holds
        return {
            number: shown
            for number, shown in self._fields.items()
            if number in self._chosen or (not follow and shown[0].partition(":")[0] in FIELDS)
        }

    def _rewritten(self, seen: Observation, expected: tuple[str, ...], element: Element | None) -> str:
        """Return which field, or choice made by this replay, has changed unexpectedly besides an element."""
        mine, own = self._watched(seen, element), element.id if element is not None else None
        changed = [mark for mark in rewritten(mine, seen, own) if mark not in expected]
        role, _, name = changed[0].partition(":") if changed else ("", "", "")
        return f"the {role} {name!r} is not as it was before" if changed else ""

    def _settings_made(self, learned: Replayable) -> tuple[str, ...]:
        """Return the hidden settings of steps in words, if all of them have their values."""
        wanted = {key: value for step in learned.steps for key, value in step.end.settings.items()}
        settings = read_settings(self.home)
        if settings is None or differing(wanted, settings):
            return ()
        return tuple(f"{key} is {value}" for key, value in wanted.items())

    def _settings_differ(self, done: list[Done]) -> str:
        wanted = {key: value for one in done for key, value in one.learned.end.settings.items()}
        wrong = differing(wanted, read_settings(self.home))
        return f"{wrong[0]} should be {wanted[wrong[0]]}" if wrong else ""

    def _rests(self) -> bool:
        """Return whether nothing has stirred for so long that nothing more will come."""
        return self.session.still_s > STILL_S

    def _until(
        self, where: str, problem_of: Callable[[Observation], str], check: bool, deadline: float | None = None
    ) -> Generator[Event, None, str]:
        """Look until there is no problem any more; return the one that remains."""
        deadline = self.session.clock() + PATIENCE_S if deadline is None else deadline
        seen = yield from self.session.look(check=check)
        while problem := problem_of(seen):
            if self.session.clock() > deadline or self._rests():
                return where + problem
            seen = yield from self.session.look_again(POLL_S)
        return ""


def looked_for(step: GroundedStep, following: GroundedStep | None, steps: Sequence[GroundedStep]) -> bool:
    """Return whether the effect of a step is awaited by looking, so that the screen need not come to rest first.

    If the step has no visible effect, the next one must check the focus or the application by itself, or the end must
    show what it changed.
    """
    if shows(step):
        return True
    if following is None:
        return any(one.end.element not in (None, one.state_after, one.state_before) for one in steps)
    return following.focus is not None or isinstance(step.action, SwitchApplications)


def _shows_its_end(learned: Replayable) -> bool:
    """Return whether the last step of an experience has a known effect, after which nothing is awaited."""
    return not learned.reads and bool(learned.steps) and shows(learned.steps[-1])


def is_hidden_switch(steps: Sequence[GroundedStep]) -> bool:
    """Return whether steps only choose a switch in a menu, and no element shows whether it is on."""
    in_menu = all(target.role == "menu" for step in steps[:-1] for target in step.targets.values())
    return in_menu and bool(steps) and bool(steps[-1].end.settings)


def names_texts(steps: Sequence[GroundedStep]) -> bool:
    """Return whether steps need texts that only OCR reads."""
    if any(one.role == TEXT_ROLE for step in steps for one in step.derived or ()):
        return True
    return any(target.role == TEXT_ROLE for step in steps for target in step.targets.values())


def _target(action: Action, observation: Observation) -> Element | None:
    named: int | None = getattr(action, "element_id", None)
    return observation.by_id.get(named) if named is not None else None
