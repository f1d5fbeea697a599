"""Doing tasks again in documents of LibreOffice that were changed since, or that another screen shows.

The saved file decides: it is written and read as XML in an archive, without LibreOffice.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aci.acting.actions import Action, Click, Done, Hotkey, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, PlannedNode, PlanResponse
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.records import Status, Task, Verdict
from benchmarks.fixtures.open_documents import Book, Letter
from benchmarks.support.figures import NotMeasured
from benchmarks.support.repeating import Attempt, watched
from memory_store import MemoryStore

Contents = dict[tuple[str, int, int], str]
Move = Callable[[Observation], Action]
Prepare = Callable[[VirtualDesktop, Path], None]
"""Changes what the screen shows, given the folder of the documents."""

_SHOWN_LIMIT_S, _SAVED_LIMIT_S = 60.0, 4.0


@dataclass(frozen=True, slots=True)
class Change:
    """A change since a task was learned.

    Attributes:
        name: What is changed.
        document: The document as it is now.
        prepare: Changes what the screen shows of it.
        size: Size of the screen, px.
        mode: Of the file.
        beside: Other documents in its folder.
    """

    name: str
    document: Book | Letter
    prepare: Prepare = lambda desktop, folder: None
    size: tuple[int, int] = (1280, 800)
    mode: int = 0o644
    beside: Mapping[str, Book | Letter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A task in a document.

    Attributes:
        wording: The instruction.
        file: Name of the document.
        program: What opens it.
        document: The document when it is learned.
        moves: What a model does then.
        read: Returns the contents of a file by their places.
        wanted: Returns what it should hold after the task; None where the task cannot be done.
        changes: Yields the changes after which it is done again.
    """

    wording: str
    file: str
    program: str
    document: Book | Letter
    moves: tuple[Move, ...]
    read: Callable[[Path], Contents]
    wanted: Callable[[Contents], Contents | None]
    changes: Callable[[], Iterator[Change]]

    def learn(self, memory: MemoryStore) -> Attempt:
        """Do it for the first time.

        Raises:
            NotMeasured: It did not do what it should.
        """
        acts: list[Answer] = [*map(_answer, self.moves), ActResponse(next_action="done", action=Done())]
        model = ScriptedModel({"plan": [PlanResponse(nodes=(PlannedNode(name=self.wording),))], "act": acts})
        attempt, verdict = self._run(Change("as it was", self.document), memory, model, Options())
        if verdict != "right":
            raise NotMeasured(f"{self.wording!r} was not learned: {verdict}, {attempt.outcome.reason}")
        return attempt

    def repeat(self, change: Change, memory: MemoryStore) -> tuple[Attempt, str]:
        """Do it again by the replay alone.

        Returns:
            The run, and "right" or "harmless", or what is wrong: with the file, after a run that is said to be done, or
            with what the document holds after one that stopped.
        """
        return self._run(change, memory, ScriptedModel({}), Options(learn=False, replay="only"))

    def _run(self, change: Change, memory: MemoryStore, model: ScriptedModel, options: Options) -> tuple[Attempt, str]:
        with tempfile.TemporaryDirectory(prefix="agent-s-documents-") as name, VirtualDesktop(change.size) as desktop:
            documents = {self.file: change.document, **change.beside}
            for file, document in documents.items():
                document.write(Path(name) / file)
            path = Path(name) / self.file
            path.chmod(change.mode)
            before = {file: self.read(Path(name) / file) for file in documents}
            wanted = self.wanted(before[self.file])
            desktop.launch([self.program, str(path)], timeout_s=90)
            _await(desktop, lambda seen: seen.active_window is not None and self.file in seen.active_window.title)
            change.prepare(desktop, Path(name))

            def held() -> dict[str, Contents]:
                return {file: self.read(Path(name) / file) for file in documents}

            def check(status: Status) -> Verdict:
                return Verdict(verified=held() == {**before, self.file: wanted}, by="the saved file")

            agent = AgentS(model=model, desktop=desktop, memory=memory, options=options)
            attempt = watched(agent.stream(Task(instruction=self.wording), check if options.learn else None))
            if attempt.outcome.status == "done":
                now = held()
                right = now == {**before, self.file: wanted}
                return attempt, "right" if right else f"WRONG {_differences(before, now)}"
            _save(desktop, path)
            differences = _differences(before, held())
            harm = {at: both for at, both in differences.items() if both[1] != (wanted or {}).get(at[1:])}
            harm |= {at: both for at, both in differences.items() if at[0] != self.file}
            return attempt, f"HARM {harm}" if harm else "harmless"


def _answer(move: Move) -> Answer:
    def answer(request: ModelRequest) -> ActResponse:
        assert isinstance(request.context, ActContext)
        return ActResponse(next_action="as planned", action=move(request.context.observation))

    return answer


def _differences(
    before: Mapping[str, Contents], now: Mapping[str, Contents]
) -> dict[tuple[str, str, int, int], tuple[str, str]]:
    both = {
        (file, *at): (before[file].get(at, ""), now[file].get(at, ""))
        for file in before
        for at in {**before[file], **now[file]}
    }
    return {at: (old, new) for at, (old, new) in both.items() if old != new}


def _await(desktop: VirtualDesktop, holds: Callable[[Observation], bool]) -> Observation:
    deadline = time.monotonic() + _SHOWN_LIMIT_S
    while not holds(seen := desktop.observe(read_texts=False)):
        if time.monotonic() > deadline:
            raise NotMeasured(f"the screen shows {[window.title for window in seen.windows]}")
    return seen


def _save(desktop: VirtualDesktop, path: Path) -> None:
    """Save what is in front, so that the file shows what a replay left in the document."""
    written = path.stat().st_mtime_ns
    for keys in (("escape",), ("escape",), ("ctrl", "s")):
        desktop.observe(read_texts=False)
        desktop.perform(Hotkey(keys=keys))
    deadline = time.monotonic() + _SAVED_LIMIT_S
    while path.stat().st_mtime_ns == written and time.monotonic() < deadline:
        time.sleep(0.1)


def _at(role: str, name: str, seen: Observation) -> int:
    """Return the id of an element, of the active window if that has one."""
    front = seen.active_window
    found = [one for one in seen.elements if (one.role, one.name or one.label) == (role, name)]
    return min(found, key=lambda one: front is None or one.window_id != front.id).id


def type_into(role: str, name: str, text: str, **more: bool) -> Move:
    """Type into an element."""
    return lambda seen: Type.model_validate({"text": text, "element_id": _at(role, name, seen), **more})


def click(role: str, name: str, times: int = 1) -> Move:
    """Click an element."""
    return lambda seen: Click(element_id=_at(role, name, seen), num_clicks=times)


def press(*keys: str) -> Move:
    """Press keys together."""
    return lambda seen: Hotkey(keys=keys)


def also_open(program: str, file: str) -> Prepare:
    """Open another document, whose window lies in front."""

    def prepare(desktop: VirtualDesktop, folder: Path) -> None:
        desktop.launch([program, str(folder / file)], timeout_s=90)
        _await(desktop, lambda seen: seen.active_window is not None and file in seen.active_window.title)

    return prepare


def by(*moves: Move) -> Prepare:
    """Prepare the screen by primitives, each as soon as it can be done."""

    def prepare(desktop: VirtualDesktop, folder: Path) -> None:
        for move in moves:
            deadline = time.monotonic() + _SHOWN_LIMIT_S
            while True:
                try:
                    action = move(desktop.observe(read_texts=False))
                    break
                except ValueError:  # what it needs is not there yet
                    if time.monotonic() > deadline:
                        raise NotMeasured("what prepares a change is not on the screen") from None
            result = desktop.perform(action)
            if not result.ok:
                raise NotMeasured(f"{action}: {result.error}")

    return prepare
