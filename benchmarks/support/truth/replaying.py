"""How often a replay with other values ends as done although the result is wrong.

`silent_wrong`: number of replays that ended as done with a wrong file, cell, document or form, that typed an old result
before they handed over, or that were verified although wrong. `replays_done` and `replays_handed_over` count the
others; handing over everything would be no success. Each task is learned once from a scripted model, with its result
checked, and replayed on fresh desktops with other values, where the right result is known by construction
(`benchmarks.support.truth.replay_tasks`) and read from the file, the application or the web server. Most have results
that stand in no wording: sums, copied codes, prices, counts and dates.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from aci.acting.actions import Done, Fail, Type
from aci.desktop.virtual import VirtualDesktop
from agent_s.events import ActionPerformed, Event, ReplayStopped, RunEnded
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, PlannedNode, PlanResponse
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.records import Outcome, Status, Task, Verdict
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.truth.replay_tasks import DOCUMENT, NOTE, SENT, SHEET, TASKS, LearnedTask, Move, Values
from evaluation.state.server import FormServer
from memory_store import HashingEmbedder, MemoryStore

NAMES = ("silent_wrong", "replays_done", "replays_handed_over")
_QUICK = 4
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>{body}</body></html>'
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a replay ended."""

    outcome: Outcome
    right: bool  # whether the result is right
    typed: tuple[str, ...]  # what was typed
    stopped: str  # why it stopped; empty if it did not

    @property
    def done(self) -> bool:
        """Whether the replay did the whole task."""
        return self.outcome.status == "done" and self.outcome.replayed

    def is_silently_wrong(self, values: Values, learned: Values) -> bool:
        """Return whether something wrong was done without a word."""
        old = learned.result or ""
        stale = old != values.result and old not in values.said.values() and old in self.typed
        return stale or (not self.right and (self.outcome.status == "done" or self.outcome.verified is True))


def measure(figures: Figures, quick: bool) -> None:
    """Learn and replay all tasks, or a few."""
    count(figures, TASKS[:_QUICK] if quick else TASKS)


def count(figures: Figures, tasks: Sequence[LearnedTask]) -> None:
    """Learn and replay tasks, and set the figures."""
    ended: list[tuple[LearnedTask, Values, Ended]] = []
    for task in tasks:
        with tempfile.TemporaryDirectory(prefix="agent-s-truth-") as name:
            ended += ((task, values, one) for values, one in _replays(task, Path(name)))
    wrong = [one.is_silently_wrong(values, task.learned) for task, values, one in ended]
    done = [one.done for _, _, one in ended]
    derived = [task.derived for task, _, _ in ended]
    tell(
        f"{len(ended)} replays, {sum(derived)} of them with derived results, of which {_both(done, derived)} were done"
    )
    figures.set("silent_wrong", sum(wrong))
    figures.set("replays_done", _both(done, [not one for one in wrong]))
    figures.set("replays_handed_over", sum(not one and not bad for one, bad in zip(done, wrong, strict=True)))


def _both(first: Sequence[bool], second: Sequence[bool]) -> int:
    return sum(one and other for one, other in zip(first, second, strict=True))


def _replays(task: LearnedTask, folder: Path) -> Iterator[tuple[Values, Ended]]:
    with MemoryStore.open(folder / "learned.sqlite", embedder=HashingEmbedder()) as memory:
        ended = _run(task, task.learned, memory, _teacher(task), learns=True)
        if ended.outcome.verified is not True:
            raise NotMeasured(f"{task.name!r} was not learned: {ended.outcome.reason}; typed {ended.typed}")
        for values in task.now:
            ended = _run(task, values, memory, _giving_up(), learns=False)
            bad = ended.is_silently_wrong(values, task.learned)
            how = "SILENTLY WRONG" if bad else "done" if ended.done else "handed over"
            tell(
                f"{task.name}: {dict(values.said)} {values.hard}: {how}, {ended.outcome.status}, verified "
                f"{ended.outcome.verified}, typed {ended.typed} {ended.stopped or ended.outcome.reason}"
            )
            yield values, ended
            for experience in memory.list_experiences():
                memory.release(experience.id)


def _teacher(task: LearnedTask) -> ScriptedModel:
    parts = task.parts(task.learned)
    plan = PlanResponse(nodes=tuple(PlannedNode(name=name) for name, _ in parts))
    acts: list[Answer] = []
    for _, moves in parts:
        acts += [*map(_answer, moves), ActResponse(next_action="done", action=Done())]
    return ScriptedModel({"plan": [plan], "act": acts})


def _answer(move: Move) -> Answer:
    def answer(request: ModelRequest) -> ActResponse:
        assert isinstance(request.context, ActContext)
        return ActResponse(next_action="as planned", action=move(request.context.observation))

    return answer


def _giving_up() -> ScriptedModel:
    """Return a model that does nothing, so that only the replay acts."""
    fail = ActResponse(next_action="give up", action=Fail(reason="handed over"))
    return ScriptedModel({"plan": [PlanResponse(gives_up="handed over")] * 9, "act": [fail] * 9})


def _run(task: LearnedTask, values: Values, memory: MemoryStore, model: ScriptedModel, learns: bool) -> Ended:
    with _prepared(task, values) as (desktop, server):

        def check(status: Status) -> Verdict:
            return Verdict(verified=_is_right(task, values, desktop, server), by="state check")

        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(learn=learns))
        events = list(agent.stream(Task(instruction=task.instruction(values)), check if learns else None))
        return _ended(events, _is_right(task, values, desktop, server))


def _ended(events: Sequence[Event], right: bool) -> Ended:
    typed = (event.action for event in events if isinstance(event, ActionPerformed))
    stopped = (event.reason for event in events if isinstance(event, ReplayStopped))
    outcome = next(event.outcome for event in events if isinstance(event, RunEnded))
    return Ended(outcome, right, tuple(one.text for one in typed if isinstance(one, Type)), next(iter(stopped), ""))


@contextmanager
def _prepared(task: LearnedTask, values: Values) -> Iterator[tuple[VirtualDesktop, FormServer]]:
    """Give a fresh desktop with the programs of a task, and the server of its page."""
    with ExitStack() as stack:
        pages = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent-s-pages-")))
        for title, body in (("start", values.page), ("sent", "<h1>Thank you</h1>")):
            (pages / f"{title}.html").write_text(_PAGE.replace("{title}", title.capitalize()).replace("{body}", body))
        server = stack.enter_context(FormServer(pages, {}))
        desktop = stack.enter_context(VirtualDesktop())
        (desktop.home / "notes.txt").write_text("")
        commands = {
            "note": ["mousepad", str(desktop.home / "notes.txt")],
            "page": ["chromium", f"{server.address}/start.html"],
            "calc": ["libreoffice", "--calc"],
            "writer": ["libreoffice", "--writer"],
        }
        for program in task.programs:
            desktop.launch(commands.get(program, [program]), timeout_s=90)
        yield desktop, server


def _is_right(task: LearnedTask, values: Values, desktop: VirtualDesktop, server: FormServer) -> bool:
    """Return whether the result is the right one, as the file, the application or the server has it."""
    if values.result is None:
        return False
    match task.place:
        case place if place == NOTE:
            return (desktop.home / "notes.txt").read_text().strip() == values.result
        case place if place == SENT:
            wanted = {"name": values.said["name"], "seats": values.said["seats"]}
            return [one.fields for one in server.submissions] == [wanted]
        case place:
            seen = desktop.observe()
            if place == SHEET:
                cells = [one.text for one in seen.elements if one.role == "table cell" and one.name == "A1"]
                return cells == [values.result]
            assert place == DOCUMENT
            return any(values.result in (one.text or one.name) for one in seen.elements if one.role == "paragraph")
