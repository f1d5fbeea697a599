"""Best-of-N: make several attempts at a task on identical private desktops, and choose the best one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from aci.errors import AciError
from agent_s.errors import AgentError, TrajectoryError
from agent_s.llm.protocol import Model
from agent_s.records import Task, Usage
from agent_s.roles.comparer import Choice, choose
from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.narrative import narrate
from evaluation.harness.recording import Recording
from evaluation.harness.results import Job, Result, effort_of, place_in
from memory_store import HashingEmbedder, MemoryStore, MemoryStoreError, export_store, merge_export

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from agent_s.loop.agent import AgentS
    from agent_s.settings import Settings

LEARNED_FILE = "learned.jsonl"  # memory export in the recording folder of an attempt


@dataclass(frozen=True, slots=True)
class AttemptBench:
    """Runs attempts sequentially, each on a fresh private desktop."""

    settings: Settings
    task: Task
    files: Path | None = None  # folder copied to the home of each desktop; None for an empty home
    # agent factory, called with the desktop, the job and the store for learned experience; None uses the settings
    new_agent: Callable[[VirtualDesktop, Job, MemoryStore | None], AgentS] | None = None

    def run(self, job: Job) -> Result:
        """Make the attempt whose number is the seed of the job; errors are returned as results."""
        from agent_s.terminal.kept_files import keep_files
        from agent_s.terminal.progress import choose_display

        recording = Recording(self.settings.runs_folder)
        try:
            with (
                self.settings.desktop.new_virtual(files=self.files) as desktop,
                separate_memory(self.settings) as learned,
            ):
                since = time.time()
                for event in (self.new_agent or self._from_settings)(desktop, job, learned).stream(self.task):
                    recording(event)
                if recording.folder is not None:
                    keep_files(desktop.home, recording.folder, choose_display(quiet=True, json=True), since)
                    write_learned(learned, recording.folder)
        except (AciError, AgentError, MemoryStoreError) as error:
            return Result.broken(job, str(error))
        finally:
            recording.close()
        outcome, report = recording.outcome, recording.write_report()
        if outcome is None or recording.folder is None:
            return Result.broken(job, recording.problem or "the run was interrupted")
        return Result(
            task=job.task,
            seed=job.seed,
            outcome="error" if outcome.status == "error" else "success" if outcome.status == "done" else "failure",
            instruction=self.task.instruction,
            seconds=recording.seconds,
            trajectory=place_in(self.settings.runs_folder, recording.folder),
            report=place_in(self.settings.runs_folder, report),
            **outcome.model_dump(include={"status", "reason", "run_id"}),
            **effort_of(outcome.usage),
        )

    def _from_settings(self, desktop: VirtualDesktop, job: Job, learned: MemoryStore | None) -> AgentS:
        from agent_s.loop.agent import AgentS

        return AgentS.from_settings(self.settings, desktop, learned=learned)


@contextmanager
def separate_memory(settings: Settings) -> Iterator[MemoryStore | None]:
    """Yield an empty store for what an attempt learns, or None if learning is off.

    Attempts read the shared memory but do not write to it: an attempt must not see what another has learned, and
    only the chosen attempt may change the memory.
    """
    if not settings.memory.enabled or not settings.memory.continual_update:
        yield None
        return
    # This store is never searched, so a cheap embedder will do.
    with (
        TemporaryDirectory(prefix="agent-s-") as folder,
        MemoryStore.open(Path(folder) / "learned.sqlite", HashingEmbedder()) as store,
    ):
        yield store


def write_learned(learned: MemoryStore | None, folder: Path) -> None:
    """Export what an attempt learned to the folder of its recording."""
    if learned is not None:
        export_store(learned, folder / LEARNED_FILE)


def merge_learned(settings: Settings, folder: Path) -> bool:
    """Merge what an attempt learned into the memory; return False if its folder has no export.

    Raises:
        MemoryStoreError: The memory cannot be written; it is unchanged.
    """
    from agent_s.memory import open_memory

    if not (folder / LEARNED_FILE).exists():
        return False
    with open_memory(settings) as memory:
        merge_export(memory, folder / LEARNED_FILE)
    return True


def total_usage(attempts: Iterable[Result], choice: Usage) -> Usage:
    """Return the total usage of all attempts and of the choice among them."""
    fields = {"steps", "model_calls", "input_tokens", "output_tokens", "dollars"}
    return sum((Usage(**one.model_dump(include=fields)) for one in attempts), choice)


def choose_attempt(model: Model, task: Task, folders: Mapping[int, Path]) -> Choice | None:
    """Choose the best of several recorded attempts; return None if no recording can be read.

    Args:
        model: Model that compares the attempts.
        task: The task.
        folders: Recording folders by attempt number.
    """
    attempts = {}
    for number, folder in sorted(folders.items()):
        try:
            attempts[number] = narrate(read_trajectory(folder))
        except TrajectoryError:
            continue
    if not attempts:
        return None
    return choose(model, task, attempts)
