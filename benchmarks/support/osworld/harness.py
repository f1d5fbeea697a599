"""Tasks run end to end by OSWorld's own environment on a served desktop, and judged there by this program as well."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import yaml

import evaluation.machine.provider as provider
from agent_s.settings import DesktopSettings
from benchmarks.support.osworld.agreement import TOLERANCE
from evaluation.machine.desktop import DesktopMachine
from evaluation.machine.http import MachineServer
from evaluation.osworld.runner import StateChecker
from evaluation.osworld.task import load_task
from evaluation.state.context import TaskContext
from evaluation.state.downloads import Downloads
from evaluation.state.machine import machine_values

TASKS = Path(__file__).parents[2] / "data/osworld_harness.yaml"
_URL = "https://files.example.org/"


@dataclass(frozen=True, slots=True)
class Judged:
    """One task, judged twice."""

    task: str  # its id
    original: float | str  # the score of OSWorld's environment, or why it has none
    ours: float | str  # this program's score on the same desktop, or why it has none

    @property
    def ran(self) -> bool:
        """Whether OSWorld's environment ran it to the end."""
        return not isinstance(self.original, str)

    @property
    def equal(self) -> bool:
        """Whether both give the same verdict."""
        if isinstance(self.original, str) or isinstance(self.ours, str):
            return False
        return abs(self.original - self.ours) <= TOLERANCE


def scripted_tasks() -> list[dict[str, Any]]:
    """Return the tasks, with the key `actions`, and `space` where that is not `pyautogui`."""
    tasks: list[dict[str, Any]] = yaml.safe_load(TASKS.read_text(encoding="utf-8"))
    return tasks


def run_tasks(python: Path, tasks: Sequence[dict[str, Any]]) -> Iterator[Judged]:
    """Run tasks on one served desktop, which is reset before each.

    Args:
        python: The Python that has OSWorld's package.
        tasks: From `scripted_tasks`.
    """
    with ExitStack() as resources:
        place = Path(resources.enter_context(TemporaryDirectory(prefix="agent-s-osworld-")))
        files = place / "files"
        make_files(files)
        machine = resources.enter_context(DesktopMachine.start(DesktopSettings(ocr="none")))
        server = resources.enter_context(MachineServer(machine.endpoints, token="t0ken"))
        address = f"http://t0ken@127.0.0.1:{server.server_port}"
        environment = resources.enter_context(_Environment(python, address, place))
        for task in tasks:
            answer = environment.run(task, machine.desktop.size, files)
            if "error" in answer:
                yield Judged(task["id"], answer["error"], "not judged")
            else:
                yield Judged(task["id"], answer["score"], _own_score(task, machine, place, files, answer["actions"]))


class _Environment:
    """The process in which OSWorld's environment runs."""

    def __init__(self, python: Path, address: str, place: Path) -> None:
        script = Path(__file__).with_name("environment.py").resolve()
        self._place = place
        self._log = (place / "log.txt").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [str(python.absolute()), str(script), str(Path(str(provider.__file__)).resolve()), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=place,
            text=True,
        )

    def __enter__(self) -> _Environment:
        """Return it; it has started."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def run(self, task: dict[str, Any], size: tuple[int, int], files: Path) -> dict[str, Any]:
        """Return its answer for a task."""
        content = {key: value for key, value in task.items() if key not in ("actions", "space")}
        cache = self._place / "cache"
        _fill(cache / task["id"], content, files)
        space, actions = task.get("space", "pyautogui"), task["actions"]
        job = {"task": content, "space": space, "actions": actions, "cache": str(cache), "size": list(size)}
        assert self._process.stdin is not None and self._process.stdout is not None  # both are pipes
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"error": self._end()}
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": self._end()}
        return answer

    def _end(self) -> str:
        self._log.seek(0)
        return f"OSWorld's environment ended: {self._log.read()[-600:]}"


def _own_score(
    task: dict[str, Any], machine: DesktopMachine, place: Path, files: Path, actions: list[Any]
) -> float | str:
    path = place / f"{task['id']}.json"
    content = {key: value for key, value in task.items() if key not in ("actions", "space")}
    path.write_text(json.dumps(content), encoding="utf-8")
    with ExitStack() as resources:
        context = TaskContext(
            machine.desktop,
            machine.desktop.x11.screen,
            place,
            values=machine_values(*machine.desktop.size),
            downloads=Downloads(files),
            commands=True,
            actions=actions,
            resources=resources,
        )
        checker = StateChecker(load_task(path), context)
        verdict = checker("infeasible" if actions and actions[-1] == "FAIL" else "done")
    return checker.score if checker.score is not None else verdict.reason


def make_files(folder: Path) -> None:
    """Write what the tasks download, under the names that `--files` expects."""
    import docx
    import openpyxl
    from PIL import Image

    folder.mkdir(parents=True)
    for name, total in (("budget.xlsx", None), ("budget_gold.xlsx", 60)):
        book = openpyxl.Workbook()
        for row in (("item", "price"), ("pens", 20), ("paper", 40), ("total", total)):
            book.active.append(row)
        book.save(_file(folder, name))
    for name, lines in (("letter.docx", ("Dear Ada",)), ("letter_gold.docx", ("Dear Ada", "Yours sincerely"))):
        document = docx.Document()
        for text in lines:
            document.add_paragraph(text)
        document.save(str(_file(folder, name)))
    Image.linear_gradient("L").resize((64, 48)).convert("RGB").save(_file(folder, "photo.png"))
    _file(folder, "poem_gold.txt").write_text("a\nb\nc\nd\ne\n", encoding="utf-8")


def _file(folder: Path, name: str) -> Path:
    return folder / f"{uuid.uuid5(uuid.NAMESPACE_URL, _URL + name)}_{name}"


def _fill(cache: Path, task: dict[str, Any], files: Path) -> None:
    """Put the downloads of a task where OSWorld's package keeps them."""
    cache.mkdir(parents=True)
    for step in task["config"]:
        for file in step["parameters"].get("files", ()):
            known, name = _file(files, file["url"].removeprefix(_URL)), Path(file["path"]).name
            copyfile(known, cache / f"{uuid.uuid5(uuid.NAMESPACE_URL, file['url'])}_{name}")
    sources = task["evaluator"].get("expected") or []
    for source in sources if isinstance(sources, list) else [sources]:
        if source["type"] == "cloud_file":
            copyfile(_file(files, source["path"].removeprefix(_URL)), cache / source["dest"])
