"""`agent-s demo`: runs the demo tasks on private desktops, verifies each, and replays the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option, quiet_option, read_settings, settings_options

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import Display
    from evaluation.osworld.runner import TaskResult
    from evaluation.osworld.task import TaskFile
    from memory_store import MemoryStore

NOT_REPLAYED = "is not replayed: it copies text from the screen, which a model always reads again."


@dataclass(frozen=True, slots=True)
class Row:
    """One task of the demo."""

    name: str  # name in the table
    result: TaskResult
    good: bool  # whether it was verified and, for a replay, called no model


@click.command(epilog=examples("agent-s demo", "agent-s demo --only 1", "agent-s demo --json --quiet"))
@settings_options
@click.option("--only", metavar="TASK", multiple=True, help="Only this task, by number or id; repeatable.")
@click.option("--keep", is_flag=True, help="Keep the memory of the demo, which starts empty.")
@json_option("Write one JSON object; progress goes to standard error.")
@quiet_option
def demo(
    config_file: Path | None, overrides: tuple[str, ...], only: tuple[str, ...], keep: bool, as_json: bool, quiet: bool
) -> int:
    """Run the demo tasks, each on a private desktop, and verify them by the state of the applications.

    The first task is then replayed from memory, without a model. Exit status: 0 if every task was verified and the
    replay called no model.
    """
    from agent_s.settings import configs_folder
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from evaluation.commands.eval_run import refuse_missing_programs
    from evaluation.osworld.task import load_tasks

    settings = read_settings(config_file, overrides)
    tasks = choose_tasks(load_tasks(configs_folder() / "demo"), only)
    refuse_missing_programs(("base",) if only else ("base", "demo"))
    screen = choose_display(quiet=quiet, json=as_json)
    with Interrupts(screen.notice) as interrupts, _fresh_memory(settings, keep) as fresh:
        rows = run_all(tasks, fresh, screen, interrupts)
    page = write_page(rows, settings)
    show(rows, page, as_json)
    if keep:
        click.echo(f"Memory: {fresh.memory_path}", err=as_json)
    if interrupts.exit_status is not None:
        return interrupts.exit_status
    return DONE if rows and all(row.good for row in rows) else NOT_DONE


def choose_tasks(tasks: Sequence[TaskFile], only: Sequence[str]) -> list[TaskFile]:
    """Return the selected tasks in file order; without a selection, all of them.

    Raises:
        click.UsageError: A selected task does not exist.
    """
    numbered = {str(number): task for number, task in enumerate(tasks, start=1)}
    known = {**numbered, **{task.id: task for task in tasks}, **{task.path.stem: task for task in tasks}}
    listed = ", ".join(f"{number} {task.id}" for number, task in numbered.items())
    for name in only:
        if name not in known:
            raise click.UsageError(f"--only: there is no task {name!r}. Available tasks: {listed}.")
    chosen = [known[name] for name in only]
    return [task for task in tasks if not only or task in chosen]


def run_all(tasks: Sequence[TaskFile], settings: Settings, screen: Display, interrupts: Interrupts) -> list[Row]:
    """Run the tasks, then replay the first feasible one."""
    from agent_s.terminal.running import open_memory
    from evaluation.osworld.runner import run_task

    rows: list[Row] = []
    feasible = [task for task in tasks if not task.evaluator.infeasible]
    plan = [(task, False) for task in tasks] + [(task, True) for task in feasible[:1]]
    with open_memory(settings) as memory:
        for number, (task, replay) in enumerate(plan, start=1):
            if replay and memory is not None and carries_text(memory, [row.result for row in rows], task):
                screen.notice(f"{task.id} {NOT_REPLAYED}")
                continue
            name = f"{task.id}, replayed" if replay else task.id
            screen.say("")
            screen.say(f"Demo task {number} of {len(plan)}: {name}")
            with screen:
                result = run_task(task, settings, memory=memory, on_event=screen, watch=interrupts.watch)
            if interrupts.caught is not None:
                break
            good = result.verified is True and (not replay or (result.replayed and result.model_calls == 0))
            if result.trajectory is None and result.run_id:
                screen.notice("This run could not be recorded. Is the disk full?")
            rows.append(Row(name, result, good))
    return rows


def carries_text(memory: MemoryStore, results: Sequence[TaskResult], task: TaskFile) -> bool:
    """Return whether a task copied text from the screen; such tasks are never replayed."""
    from memory_store import EpisodicExperience

    runs = [result.run_id for result in results if result.task == task.id and result.verified]
    learned = [one for run_id in runs for one in memory.list_experiences("episodic", run_id=run_id)]
    return any(isinstance(one, EpisodicExperience) and not one.steps for one in learned)


def write_page(rows: Sequence[Row], settings: Settings) -> Path | None:
    """Write the HTML page that links all reports; return None if that fails."""
    from agent_s.errors import TrajectoryError
    from agent_s.trajectory.report import IndexRow, write_index

    fields = {"instruction", "status", "verified", "steps", "seconds", "model_calls", "report"}
    listed = [
        IndexRow(name=row.name, good=row.good, note=row.result.reason, **row.result.model_dump(include=fields))
        for row in rows
    ]
    path = settings.runs_folder / f"demo-{datetime.now().astimezone():%Y%m%d-%H%M%S}.html"
    try:
        return write_index("Agent S demo", listed, path)
    except TrajectoryError as error:
        click.echo(str(error), err=True)
        return None


def show(rows: Sequence[Row], page: Path | None, as_json: bool) -> None:
    """Print the results."""
    from agent_s.terminal.output import echo_json, in_words, printable, show_table

    if as_json:
        tasks = [{"name": row.name, "good": row.good, **row.result.model_dump()} for row in rows]
        echo_json({"ok": bool(rows) and all(row.good for row in rows), "tasks": tasks, "report": page})
        return
    show_table(
        ("Task", "Status", "Verified", "Steps", "Seconds", "Model calls"),
        [
            (
                f"{'✓' if row.good else '✗'} {row.name}",
                row.result.status,
                in_words(row.result.verified),
                str(row.result.steps),
                f"{row.result.seconds:.1f}",
                str(row.result.model_calls),
            )
            for row in rows
        ],
        figures=("Steps", "Seconds", "Model calls"),
    )
    for row in rows:
        if not row.good:
            click.echo(f"{row.name}: {printable(row.result.reason)}")
    if page is not None:
        click.echo(f"Report: {page}")


@contextmanager
def _fresh_memory(settings: Settings, keep: bool) -> Iterator[Settings]:
    """Yield settings with an empty memory, so that the user's own memory does not affect the demo."""
    from agent_s.runs.listing import make_private_folder

    def within(folder: Path) -> Settings:
        memory = settings.memory.model_copy(update={"enabled": True, "path": folder / "memory.sqlite", "url": None})
        return settings.model_copy(update={"memory": memory})

    if keep:
        folder = settings.runs_folder / f"demo-memory-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
        make_private_folder(folder)
        yield within(folder)
        return
    with TemporaryDirectory(prefix="agent-s-demo-") as name:
        yield within(Path(name))
