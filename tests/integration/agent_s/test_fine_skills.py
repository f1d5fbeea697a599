"""Spans and paths that one Worker found are kept as skills, and replayed by another on another desktop."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from aci.acting.actions import Action, Done, DragAndDrop, Fail, Hotkey, SelectText
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from agent_s import AgentS, Task
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.options import Options
from agent_s.records import Outcome, Status, Verdict
from benchmarks.support.reports import wait_until
from memory_store import HashingEmbedder, MemoryStore
from tests.integration.aci.seeing import until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

Step = Callable[[Observation], Action]
RED = (201, 33, 30)
LINE = ((60, 60), (240, 60), (240, 240))
"""A path in a red picture of 300 x 300 px."""
SAVED_LIMIT_S = 20.0


def trace(seen: Observation) -> DragAndDrop:
    """Return a drag along the line, by the pixels of the screen that show it."""
    red = (np.abs(seen.screenshot.astype(int) - RED) <= 2).all(axis=2)
    left, top = int(np.flatnonzero(red.sum(axis=0) > 200)[0]), int(np.flatnonzero(red.sum(axis=1) > 200)[0])
    first, *path, last = ((left + x, top + y) for x, y in LINE)
    return DragAndDrop(from_at=first, path=tuple(path), drop_at=last)


def work(
    desktop: VirtualDesktop, memory: MemoryStore, task: str, steps: Sequence[Step], done: Callable[[], bool]
) -> Outcome:
    """Carry out a task with a model that knows the steps; without steps, with memory only."""
    left: Iterator[Step] = iter([*steps, lambda seen: Done()])

    def answer(request: ModelRequest) -> ActResponse:
        assert isinstance(request.context, ActContext)
        return ActResponse(action=next(left, lambda seen: Fail())(request.context.observation))

    def check(status: Status) -> Verdict:
        written = status == "done" and wait_until(done, SAVED_LIMIT_S)
        return Verdict(verified=written, by="state check", evidence=("the file",))

    model = ScriptedModel({"act": [answer] * (len(steps) + 3)} if steps else {})
    options = Options(
        planner="flat", evaluator=False, reflect=False, summaries=False, replay="only" if not steps else True
    )
    agent = AgentS(model=model, desktop=desktop, memory=memory, options=options)
    return agent.run(Task(instruction=task), check)


def words_are_cut(folder: Path) -> tuple[list[str], list[Step], Callable[[], bool]]:
    file = folder / "story.txt"
    file.write_text("The quick brown fox and the lazy dog.\n", encoding="utf-8")

    def select(seen: Observation) -> SelectText:
        text = next(one for one in seen.elements if "quick brown" in (one.text or ""))
        return SelectText(element_id=text.id, text="brown fox and")

    keys: list[Step] = [lambda seen, key=key: Hotkey(keys=("ctrl", key)) for key in "xs"]  # type: ignore[misc]
    return ["mousepad", str(file)], [select, *keys], lambda: file.read_text("utf-8") == "The quick  the lazy dog.\n"


def line_is_drawn(folder: Path) -> tuple[list[str], list[Step], Callable[[], bool]]:
    from PIL import Image

    file = folder / "picture.png"
    Image.new("RGB", (300, 300), RED).save(file)

    def drawn() -> bool:
        with Image.open(file) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        return [tuple(pixels[y, x]) for x, y in ((150, 60), (240, 150))] == [(0, 0, 0)] * 2

    steps: list[Step] = [
        lambda seen: Hotkey(keys=("shift", "b")),  # the bucket, since a pencil may be the tool already
        lambda seen: Hotkey(keys=("n",)),
        trace,
        lambda seen: Hotkey(keys=("alt", "f")),
        lambda seen: Hotkey(keys=("w",)),  # overwrite
    ]
    return ["gimp", "--no-splash", str(file)], steps, drawn


@pytest.mark.parametrize(
    ("program", "task", "prepared"),
    [
        ("mousepad", "Cut 'brown fox and' out of the story and save it", words_are_cut),
        ("gimp", "Draw the line in the picture and overwrite the file", line_is_drawn),
    ],
)
def test_what_one_worker_found_is_replayed_by_another(
    program: str,
    task: str,
    prepared: Callable[[Path], tuple[list[str], list[Step], Callable[[], bool]]],
    tmp_path: Path,
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    with MemoryStore.open(tmp_path / "memory.db", HashingEmbedder(), busy_timeout_s=60) as memory:
        for learned in (False, True):
            argv, steps, done = prepared(tmp_path)
            with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
                desktop.launch(argv, timeout_s=180.0)
                until(desktop, lambda seen: len(seen.elements) > 4)
                outcome = work(desktop, memory, task, [] if learned else steps, done)
            assert (outcome.status, outcome.verified) == ("done", True), outcome.reason
            assert outcome.replayed == learned
