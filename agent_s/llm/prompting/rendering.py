"""Conversations from typed contexts.

During a subtask a conversation is append-only, so that providers read most of it from their caches: instructions and
task first, the first screen in full, then each step with what it changed. Pictures are the exception. They cost as much
as pages of text, so at most `max_pictures` are sent; when one more would be added, all earlier ones are left out at
once, so that the beginning of the conversation changes once in `max_pictures` steps only. The first picture of such a
batch shows the whole screen, the others the part that changed, if it is small.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Generic, Literal, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from aci.acting.actions import PRIMITIVES, format_call
from aci.desktop.machine import Machine
from aci.observation.changes import NOTHING_CHANGED
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from aci.observation.quoting import quote
from agent_s.llm.conversation import Conversation, Message, Part, Text
from agent_s.llm.prompting.advice import Advice, advice_for
from agent_s.llm.prompting.fencing import Fence, escape_fences, sendable
from agent_s.llm.prompting.pictures import LONGEST_EDGE, OVERVIEW_EDGE, as_picture, changed_part, encode, is_all_text
from agent_s.llm.protocol import ActContext, CompareContext, Context, OfferedSkill, SummarizeContext, VerifyContext
from agent_s.records import Step
from agent_s.settings import ObservationForm
from memory_store.records.experience import Experience

MAX_WORDS = 300  # characters of a step's description, call or result; the screen shows the rest

SMALL_PART = 0.25  # share of the screen up to which only the changed part is shown

T = TypeVar("T")
Shot = Rect | Literal["screen", "close-up", "nothing"]  # the part of a screenshot that is sent


class Renderer:
    """Renders contexts with the packaged prompts.

    Args:
        secret: Secret for the fences around untrusted text; a new one for each process.
        max_pictures: Maximum number of pictures in a request; 0 for a model without vision.
        longest_edge: Longest edge of a picture, px.
        form: What is shown of a screen. With `marks`, each picture is sent as it is and marked. The judge of a finished
            task always gets the tree, since code looks up the elements that it cites.
    """

    def __init__(
        self,
        secret: bytes,
        max_pictures: int = 3,
        longest_edge: int = LONGEST_EDGE,
        form: ObservationForm = "screenshot_tree",
    ) -> None:
        if max_pictures < 0:
            raise ValueError("max_pictures is negative")
        self._max_pictures = 0 if form == "tree" else max_pictures
        self._form: ObservationForm = "tree" if max_pictures == 0 else form
        self._longest_edge = longest_edge
        self._fence = Fence(secret)
        loader = PackageLoader("agent_s.llm.prompting", "prompts")
        environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=False)
        environment.filters["escape_fences"] = escape_fences
        environment.globals |= {"fence": self._fence, "quote": _quoted, "summary": _summary, "verified": _verified}
        environment.globals |= {"escape_fences": escape_fences, "primitives": ", ".join(PRIMITIVES), "listed": _listed}
        self._templates = environment
        self._systems: dict[str, str] = {}
        self._texts: _Memo[str] = _Memo()
        self._trees: _Memo[str] = _Memo()
        self._screens: _Memo[list[Part]] = _Memo()
        self._parts_of_screens: _Memo[list[Part]] = _Memo()
        self._changed: _Memo[Rect | None] = _Memo()
        self._advices: _Memo[tuple[Advice, ...]] = _Memo()

    def render(self, context: Context, machine: Machine | None = None) -> Conversation:
        """Return the conversation that asks what the context asks, with what is known of the machine."""
        template = self._templates.get_template(f"{context.kind}.md.j2")
        listed = self._form not in ("screenshot", "coordinates")
        form = self._form if listed or not isinstance(context, VerifyContext) else "screenshot_tree"
        system = self._systems.setdefault(context.kind, _block(template, "system", {"form": form}))
        values = {name: getattr(context, name) for name in context.__dataclass_fields__} | {"machine": machine}
        request = _block(template, "request", values)
        parts = self._parts(template, context, request)
        key = hashlib.sha256(f"{context.kind}\n{request}".encode()).hexdigest()[:32]
        return Conversation(system, (Message("user", tuple(parts)),), key)

    def block(self, template: str, name: str, values: Mapping[str, Any]) -> str:
        """Return one block of a packaged template."""
        return _block(self._templates.get_template(template), name, dict(values))

    def retry(self, problem: str) -> str:
        """Return the request for another answer after an invalid one."""
        return sendable(self._templates.get_template("retry.md.j2").render(problem=_quoted(problem)))

    def _parts(self, template: Template, context: Context, request: str) -> Iterable[Part]:
        if isinstance(context, ActContext):
            return self._subtask(template, context, request)
        if isinstance(context, CompareContext):
            return [Text(request), *self._last_screens(context), Text("Answer now.")]
        observation = getattr(context, "observation", None)
        if observation is None:
            return [Text(request)]
        judges = isinstance(context, VerifyContext)
        shown = [Text(f"{request}\n{self._tree(observation) if judges else self._full(observation)}")]
        pictures = [] if isinstance(context, SummarizeContext) else self._picture(observation)
        return [*shown, *pictures, Text("Is the task done?" if judges else "Answer now.")]

    def _last_screens(self, context: CompareContext) -> Iterator[Part]:
        """Yield the last screen of each attempt, unless the model has no vision."""
        for number, attempt in context.attempts.items():
            if self._max_pictures and attempt.last_screen is not None:
                yield Text(f"The last screen of attempt {number}:")
                yield as_picture(attempt.last_screen)

    def _subtask(self, template: Template, context: ActContext, request: str) -> list[Part]:
        """Return the whole history of a subtask: the first screen in full, then what each step changed."""
        steps = context.steps
        seen = [*(step.observation for step in steps), context.observation]
        shots = self._shots(seen, [step.result.picture is not None for step in steps])
        given: set[str] = set()
        parts: list[Part] = [Text(f"{request}\n{self._full(seen[0])}{self._advice(template, seen[0], given)}")]
        parts += self._shown(seen[0], shots[0])
        for number, (step, (before, after)) in enumerate(zip(steps, pairwise(seen), strict=True), start=1):
            listed = self._form not in ("screenshot", "coordinates")
            head = _block(template, "step", {"number": number, "step": _without_changes(step) if listed else step})
            changes = self._changes(before, after, tuple(seen[: number - 1]))
            read = f"\n{self._fence(step.result.text, 'screen')}" if step.result.text else ""
            parts.append(Text(f"{head}{read}\n{changes}{self._advice(template, after, given)}"))
            if step.result.picture is not None and shots[number] != "nothing":
                parts.append(as_picture(step.result.picture))
            parts += self._shown(after, shots[number])
        parts.append(
            Text(_block(template, "turn", {name: getattr(context, name) for name in ("reflection", "unread", "unmet")}))
        )
        return parts

    def _advice(self, template: Template, seen: Observation, given: set[str]) -> str:
        """Return the advice that bears on a screen and was not given before in this conversation."""
        bearing = self._advices.get((seen,), lambda: advice_for(seen))
        fresh = [(one.topic, one.says) for one in bearing if one.topic not in given]
        given.update(topic for topic, _ in fresh)
        return f"\n{_block(template, 'advice', {'advice': fresh})}" if fresh else ""

    def _shots(self, seen: Sequence[Observation], zoomed: Sequence[bool]) -> list[Shot]:
        """Return which part of each screenshot is sent; once sent, it never changes its form.

        After a zoom, its own picture is sent.
        """
        most = self._max_pictures
        shots: list[Shot] = ["nothing"] * len(seen)
        if most == 0:
            return shots
        changed = [self._change(before, after) for before, after in pairwise(seen)]
        new = (part is not None or close for part, close in zip(changed, zoomed, strict=True))
        taken = [0, *(position for position, is_new in enumerate(new, start=1) if is_new)]
        for number in range((len(taken) - 1) // most * most, len(taken)):
            position = taken[number]
            if number % most and zoomed[position - 1]:
                shots[position] = "close-up"
                continue
            part = changed[position - 1] if number % most else None
            largest = seen[position].screen.area * SMALL_PART
            shots[position] = part if part is not None and part.area <= largest else "screen"
        return shots

    def _change(self, before: Observation, after: Observation) -> Rect | None:
        return self._changed.get((after, before), lambda: changed_part(before, after))

    def _shown(self, observation: Observation, shot: Shot) -> list[Part]:
        if shot == "screen":
            return self._picture(observation)
        if not isinstance(shot, Rect):
            return []
        caption = f"What changed, {shot.width}x{shot.height} at {shot.x},{shot.y}:"
        encoded = self._parts_of_screens.get((observation,), lambda: self._encode(observation, shot))
        return [Text(caption), *encoded]

    def _picture(self, observation: Observation) -> list[Part]:
        if self._max_pictures == 0:
            return []
        return self._screens.get((observation,), lambda: self._encode(observation))

    def _encode(self, observation: Observation, part: Rect | None = None) -> list[Part]:
        """Return the pictures of a screen; the marked one last, so that the cache ends before both or after both.

        What is said about them comes after them for the same reason.
        """
        marks = (False, True) if self._form == "marks" else (False,)
        longest = self._longest_edge
        if self._form == "screenshot_tree" and is_all_text(observation, part):
            shown = part or observation.screen
            longest = min(longest, max(max(shown.width, shown.height) // 2, OVERVIEW_EDGE))
        pictures = [encode(observation, longest, part, marked) for marked in marks]
        if part is not None or pictures[0].width == observation.screen.width:
            return [*pictures]
        return [*pictures, Text(f"Picture scaled to {pictures[0].width}x{pictures[0].height}.")]

    def _tree(self, observation: Observation) -> str:
        return self._trees.get((observation,), lambda: self._fence(observation.to_text(), "screen"))

    def _full(self, observation: Observation) -> str:
        if self._form == "coordinates":
            return self._texts.get((observation,), lambda: self._fence(_as_table(observation), "screen"))
        if self._form != "screenshot":
            return self._tree(observation)
        return self._texts.get((observation,), lambda: self._fence(_without_tree(observation).to_text(), "screen"))

    def _changes(self, before: Observation, after: Observation, earlier: tuple[Observation, ...]) -> str:
        seen = (after, before, *earlier)
        return self._texts.get(seen, lambda: self._fence(self._told_changes(before, after, earlier), "screen"))

    def _told_changes(self, before: Observation, after: Observation, earlier: tuple[Observation, ...]) -> str:
        if self._form == "coordinates":
            return _as_table(after)
        if self._form != "screenshot":
            return after.changes_since(before, earlier)
        told = _without_tree(after).changes_since(_without_tree(before))
        return "Only the picture changed." if told == NOTHING_CHANGED and self._change(before, after) else told


def _without_changes(step: Step) -> Step:
    """Return a step whose effect is only what the list of changes that follows it does not tell."""
    effect = step.result.effect
    if effect is None or effect.kind != "expected":
        return step
    left = tuple(one for one in effect.differences if one.kind in ("clipboard", "pixels"))
    result = step.result.model_copy(update={"effect": effect.model_copy(update={"differences": left})})
    return replace(step, result=result)


def _without_tree(observation: Observation) -> Observation:
    """Return an observation of which only windows, saved texts and notes are described."""
    return replace(observation, elements=(), candidates=(), focus_id=None)


def _as_table(observation: Observation) -> str:
    """Return the elements with their places and without ids, as a baseline without an interface of its own has them."""
    rows = ["role\tname\ttext\tx\ty\twidth\theight"]
    for one in observation.elements:
        words = (" ".join(text.split()) for text in (one.role, one.name or one.label, one.text or ""))
        rows.append("\t".join((*words, *map(str, (one.rect.x, one.rect.y, one.rect.width, one.rect.height)))))
    return "\n".join(rows)


class _Memo(Generic[T]):
    """A cache keyed by observations; entries live as long as their observations."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[tuple[weakref.ref[Observation], ...], T]] = {}

    def get(self, observations: tuple[Observation, ...], make: Callable[[], T]) -> T:
        """Return the cached value, or make it now."""
        key = tuple(id(observation) for observation in observations)
        found = self._known.get(key)
        if found is not None and all(ref() is it for ref, it in zip(found[0], observations, strict=True)):
            return found[1]
        value = make()
        refs = tuple(weakref.ref(observation, lambda _: self._known.pop(key, None)) for observation in observations)
        self._known[key] = (refs, value)
        return value


def _block(template: Template, name: str, values: dict[str, Any]) -> str:
    """Render one block of a template."""
    return sendable("".join(template.blocks[name](template.new_context(values))).strip())


def _summary(step: Step) -> str:
    """Return a step in one line: its purpose, the primitive, the result, and what was dropped after it."""
    purpose = f"{_quoted(step.response.next_action, MAX_WORDS)}: " if step.response.next_action else ""
    dropped = ""
    if step.dropped is not None:
        rest = ", ".join(map(format_call, step.dropped.actions))
        dropped = f"; then dropped, since {step.dropped.reason}: {rest[:MAX_WORDS]}"
    return escape_fences(f"{purpose}{step}{dropped}")


def _listed(skills: Sequence[OfferedSkill]) -> str:
    """Return numbered skills, one line each."""
    lines = []
    for number, skill in enumerate(skills, start=1):
        where = skill.description[:MAX_WORDS] or f"in {skill.application}"
        values = f" Values: {json.dumps(skill.parameters, ensure_ascii=False)}" if skill.parameters else ""
        lines.append(" ".join(f"[skill {number}] {skill.name}: {where}{values}".split()))
    return "\n".join(lines)


def _quoted(text: str, longest: int = 2 * MAX_WORDS) -> str:
    return escape_fences(quote(text, longest))


def _verified(experience: Experience) -> str:
    words = {True: "verified", False: "a check contradicted it", None: "not verified"}
    return words[experience.provenance.verified]
