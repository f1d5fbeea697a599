"""How well, and how fast, what was learned is done again without a model, and whether it stops where it must.

```
python -m benchmarks.replay --json
```

`success`: share of the replays of demo tasks that the state check confirms with no call of a model; each task is
learned once, then done again on fresh desktops with other texts, numbers and file names, another size, theme, icons
and place of the windows. `model_calls`: calls in all of them together. `speedup`: time of the first run, without what
the offline model itself took, over that of its replays; the median over tasks. `stopped_at_mismatch`: share of the runs
on a page that was changed since (a button, field or box renamed, gone or disabled, a dialog in between, other effects)
in which the replay stopped and nothing was sent that was not asked for. `program_without_harm`: share of the runs in a
GTK program that was changed since (also twins, other orders, windows on top, what is out of sight) that did just what
was asked for, or stopped and did nothing else. `documents_without_harm`: the same for tasks in documents of LibreOffice
that were changed since (rows, columns, sheets, protection, dialogs, views); the saved file decides, after a stop the
file with everything that the replay left unsaved. The demo task that carries a text from the screen is not among them:
what a screen said is never done again. Neither is the one that nobody can do.

Neither side of `speedup` counts starting the desktop, preparing the task (which starts the applications of three of the
four tasks; the text editor is started by the run) and the state check at the end.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

from agent_s.settings import Settings, configs_folder, load_settings
from benchmarks.support.figures import Figures, command, tell
from benchmarks.support.office_changes import JOBS
from benchmarks.support.orders import AS_IT_WAS, WANTED, changes, is_good, order
from benchmarks.support.repeating import (
    CHANGES,
    Attempt,
    Look,
    any_look,
    carry_out,
    changed_pages,
    demo_with_other_values,
    is_harm,
    sign,
)
from evaluation.osworld.task import load_task
from memory_store import HashingEmbedder, MemoryStore

NAMES = ("success", "model_calls", "speedup", "stopped_at_mismatch", "program_without_harm", "documents_without_harm")
TIMES, FEW = 20, 3


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures = Figures(NAMES)
    with tempfile.TemporaryDirectory(prefix="agent-s-replay-") as name:
        folder = Path(name)
        with figures.part("success", "model_calls", "speedup"):
            _demo(figures, folder, FEW if wanted.quick else wanted.times, wanted.only)
        with figures.part("stopped_at_mismatch"):
            _mismatches(figures, folder, 6 if wanted.quick else 50, wanted.only)
        with figures.part("program_without_harm"):
            _program(figures, folder, 4 if wanted.quick else 50, wanted.only)
        with figures.part("documents_without_harm"):
            _documents(figures, folder, 2 if wanted.quick else 50, wanted.only)
    return figures


def _settings(folder: Path, replay: bool | str) -> Settings:
    return load_settings(
        None, {"model": "offline", "runs_dir": str(folder / "runs"), "memory.path": str(folder / "m"), "replay": replay}
    )


def _demo(figures: Figures, folder: Path, times: int, only: list[str]) -> None:
    chance = random.Random(7)
    right, calls, runs = 0, 0, 0
    speedups: list[float] = []
    for stem in CHANGES:
        if only and stem not in only:
            continue
        with MemoryStore.open(folder / f"{stem}.sqlite") as memory:
            original = load_task(configs_folder() / "demo" / f"{stem}.json")
            first = carry_out(original, _settings(folder, True), memory, Look())
            _tell(stem, "learned", first)
            took: list[float] = []
            for number in range(times):
                place = folder / f"{stem}-{number}"
                place.mkdir()
                task = demo_with_other_values(stem, chance, place)
                look = any_look(chance)
                again = carry_out(task, _settings(folder, "only"), memory, look)
                good = again.outcome.verified is True and again.outcome.replayed
                _tell(stem, f"{number + 1} {'good' if good else f'BAD {task.instruction} {look}'}", again)
                right, calls, runs = right + good, calls + again.outcome.usage.model_calls, runs + 1
                if good:
                    took.append(again.seconds)
            if took:
                speedups.append(first.own_seconds / statistics.median(took))
                tell(
                    f"{stem}: {speedups[-1]:.2f} times faster, "
                    f"{first.own_seconds:.2f} s, then {statistics.median(took):.2f} s"
                )
    if runs:
        figures.set("success", right / runs)
        figures.set("model_calls", calls)
    if speedups:
        figures.set("speedup", statistics.median(speedups))


def _mismatches(figures: Figures, folder: Path, most: int, only: list[str]) -> None:
    if only and "mismatch" not in only:
        return
    pages = folder / "pages"
    pages.mkdir()
    changes = list(changed_pages())
    if most < len(changes):
        changes = random.Random(3).sample(changes, most)
    stopped = 0
    with MemoryStore.open(folder / "book.sqlite") as memory:
        first, sent = sign(pages, None, _settings(folder, True), memory)
        _tell("guest book", "learned", first)
        memory.mark_verified(
            verified=not is_harm(sent) and len(sent) == 1, by="what was sent", run_id=first.outcome.run_id
        )
        again, sent = sign(pages, None, _settings(folder, "only"), memory)
        _tell("guest book", f"unchanged, {len(sent)} sent", again)
        for change in changes:
            attempt, sent = sign(pages, change, _settings(folder, "only"), memory)
            good = attempt.outcome.status == "failed" and not is_harm(sent)
            stopped += good
            _tell(change.name, f"{'good' if good else 'BAD'}, {len(sent)} sent", attempt)
            for experience in memory.list_experiences():
                memory.release(experience.id)
    figures.set("stopped_at_mismatch", stopped / len(changes))


def _program(figures: Figures, folder: Path, most: int, only: list[str]) -> None:
    if only and "program" not in only:
        return
    names = changes()
    if most < len(names):
        names = random.Random(3).sample(names, most)
    good = 0
    with MemoryStore.open(folder / "orders.sqlite") as memory:
        first, written = order(AS_IT_WAS, _settings(folder, True), memory)
        _tell("orders", "learned", first)
        memory.mark_verified(verified=written == WANTED, by="what was ordered", run_id=first.outcome.run_id)
        again, written = order(AS_IT_WAS, _settings(folder, "only"), memory)
        _tell("orders", f"unchanged, {'good' if again.outcome.replayed and written == WANTED else 'BAD'}", again)
        for name in names:
            attempt, written = order(name, _settings(folder, "only"), memory)
            good += is_good(attempt, written)
            _tell(name, f"{'good' if is_good(attempt, written) else f'BAD {written}'}", attempt)
            for experience in memory.list_experiences():
                memory.release(experience.id)
    figures.set("program_without_harm", good / len(names))


def _documents(figures: Figures, folder: Path, most: int, only: list[str]) -> None:
    harmless: list[bool] = []
    for name, job in JOBS.items():
        if only and name not in only:
            continue
        with MemoryStore.open(folder / f"{name}.sqlite", embedder=HashingEmbedder()) as memory:
            _tell(name, "learned", job.learn(memory))
            for change in [*job.changes()][:most]:
                attempt, verdict = job.repeat(change, memory)
                harmless.append(verdict in ("right", "harmless"))
                _tell(f"{name}, {change.name}", verdict, attempt)
                for experience in memory.list_experiences():
                    memory.release(experience.id)
    if harmless:
        figures.set("documents_without_harm", sum(harmless) / len(harmless))


def _tell(name: str, what: str, attempt: Attempt) -> None:
    outcome = attempt.outcome
    calls = outcome.usage.model_calls
    tell(
        f"{name}: {what}: {outcome.status}, verified {outcome.verified}, {attempt.seconds:.1f} s, "
        f"{attempt.steps} steps,"
        f" {calls} calls, plan {attempt.plan or '-'} {attempt.stopped or outcome.reason}"
    )


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=TIMES, help="how often each task is done again")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="only this task, by its file's name; mismatch; program; count; address; or letter",
    )


if __name__ == "__main__":
    sys.exit(command("replay", (__doc__ or "").partition("\n")[0], measure, _options))
