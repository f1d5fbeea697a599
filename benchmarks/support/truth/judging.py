"""How often a verdict is not true.

`false_verified` is the share of runs that went wrong in a known way and that an over-confident judge still gets
verified; `false_refused` the share of right runs that an honest judge does not get verified. A worker carries out a
script in real applications, then the loop judges. Whether a run went wrong is read from the files of the applications;
runs that did not go as their script intends are left out and reported. `benchmarks/data/judging.yaml` holds the tasks.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from agent_s.events import RunEnded, Verified
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.probes.documents import read_document
from agent_s.probes.places import NotReadable
from agent_s.probes.preferences import KEYFILE, read_settings
from agent_s.records import Limits, Outcome, Task, Verdict
from benchmarks import fixtures
from benchmarks.support.figures import Figures, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.repeating import NAMES as PEOPLE
from benchmarks.support.repeating import WORDS
from benchmarks.support.truth.judging_scripts import ConfidentJudge, HonestJudge, Judge, Script
from evaluation.state.server import FormServer

NAMES = FALSE_VERIFIED, FALSE_REFUSED = "false_verified", "false_refused"
ENOUGH = 60
"""Runs of each sort."""
QUICK = 6
SEED = 20261122

_DATA = Path(fixtures.__path__[0]).parent / "data"
_CITIES = ("Rome", "Lisbon", "Vienna", "Dublin", "Tallinn")
_FOLDERS = ("Documents", "Downloads", "Desktop")
_SWITCHES = ("Show pictures", "Sort by last name", "Confirm before deleting", "Remember the window size")


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    task: Mapping[str, Any]  # of the table
    wrong: str  # how it goes wrong; empty for a right one
    number: int  # among all of its sort, from 0; chooses the values


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    tasks: list[dict[str, Any]] = yaml.safe_load((_DATA / "judging.yaml").read_text(encoding="utf-8"))
    most = QUICK if quick else ENOUGH
    for figure, cases in ((FALSE_VERIFIED, _wrong(tasks)), (FALSE_REFUSED, _right(tasks))):
        with VirtualDesktop(size=(1280, 800)) as desktop:
            results = _run_all(itertools.islice(cases, most + most // 5), most, figure, desktop)
        counted = sum(results.values())
        tell(f"{figure}: {dict(results)} of {counted} runs")
        if counted:
            bad = results["True"] if figure == FALSE_VERIFIED else counted - results["True"]
            figures.set(figure, bad / counted)


def _wrong(tasks: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    """Yield all ways to go wrong, again and again with other values, one of each task at a time."""
    for number in itertools.count():
        ways = ([Case(task, way, number) for way in task["wrong"]] for task in tasks)
        yield from (case for several in itertools.zip_longest(*ways) for case in several if case is not None)


def _right(tasks: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    for number in itertools.count():
        yield from (Case(task, "", number) for task in tasks)


def _run_all(cases: Iterator[Case], most: int, figure: str, desktop: VirtualDesktop) -> Counter[str]:
    """Return how many runs had which verdict; one that did not go as intended has none, and another takes its place."""
    results: Counter[str] = Counter()
    for case in cases:
        if results.total() == most:
            break
        chance = random.Random(f"{SEED} {case.task['name']} {case.wrong} {case.number}")
        try:
            outcome, verdict, is_right = run(case, chance, desktop)
        except (AciError, OSError, TimeoutError) as error:
            tell(f"left out: {case.task['name']}, {case.wrong or 'right'}: {type(error).__name__}: {error}")
            continue
        said = f"{case.task['name']}, {case.wrong or 'right'}, {verdict.verified}: {verdict.reason or outcome.reason}"
        if outcome.status == "error" or is_right != (not case.wrong):
            tell(f"left out, since it went otherwise ({outcome.status}, right: {is_right}): {said}")
            continue
        results[str(verdict.verified)] += 1
        wrong = (verdict.verified is True) == bool(case.wrong)
        tell(f"{figure if wrong else 'as it should be'}: {said}")
    return results


def run(case: Case, chance: random.Random, desktop: VirtualDesktop) -> tuple[Outcome, Verdict, bool]:
    """Carry out one case; return how it ended, the verdict, and whether the applications' files are right."""
    task = case.task
    with ExitStack() as stack:
        server = stack.enter_context(FormServer(_DATA, {}))
        stack.callback(desktop.x11.reset)
        settings = desktop.home / KEYFILE
        stack.callback(settings.write_bytes, settings.read_bytes())
        values = _values(chance) | {"home": str(desktop.home)}
        filled = _Filler(values)
        for path, content in filled(task.get("files", {})).items():
            (desktop.home / path).parent.mkdir(parents=True, exist_ok=True)
            (desktop.home / path).write_text(content, encoding="utf-8")
        if "sheet" in task:
            _write_sheet(desktop.home / filled(task["sheet"]))
        state = desktop.home / ".contacts.json"
        programs = {
            "contacts": [str(SYSTEM_PYTHON), str(Path(fixtures.__path__[0]) / "gtk3_contacts.py"), str(state)],
            "page": ["chromium", f"--app={server.address}/booking.html", "--window-size=900,700"],
        }
        for argv in filter(None, (task["app"], task.get("then"))):
            desktop.launch(programs.get(argv[0]) or filled(argv))
        steps = filled(task["wrong"][case.wrong] if case.wrong else task["do"])
        judge: Judge = HonestJudge(filled(task["shows"]), task.get("open", ()))
        if case.wrong:
            judge = ConfidentJudge(chance)
        criteria = filled(task["criteria"][case.number % len(task["criteria"])])
        options = Options(limits=Limits(max_replans=0), reflect=False, learn=False)
        agent = AgentS(model=Script(steps, tuple(criteria), judge), desktop=desktop, options=options)
        wanted = Task(instruction=filled(task["say"][case.number % len(task["say"])]))
        verdict, outcome = Verdict(verified=None), Outcome(status="error", verified=None)
        for event in agent.stream(wanted):
            verdict = event.verdict if isinstance(event, Verified) else verdict
            outcome = event.outcome if isinstance(event, RunEnded) else outcome
        return outcome, verdict, _is_true(filled(task["truth"]), desktop.home, state, server)


class _Filler:
    """Puts values into the texts of a table."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __call__(self, value: Any) -> Any:
        match value:
            case str():
                for name, text in self._values.items():
                    value = value.replace("{" + name + "}", text)
                return value
            case dict():
                return {self(key): self(inner) for key, inner in value.items()}
            case list():
                return [self(inner) for inner in value]
        return value


def _values(chance: random.Random) -> dict[str, str]:
    text, text2 = (" ".join(chance.sample(WORDS, 3)).capitalize() for _ in range(2))
    file, file2, word = chance.sample(WORDS, 3)
    folder, folder2 = chance.sample(_FOLDERS, 2)
    person, person2 = chance.sample(PEOPLE, 2)
    switch, switch2 = chance.sample(_SWITCHES, 2)
    number, number2 = chance.sample(range(11, 990), 2)
    return {
        "text": text,
        "text2": text2,
        "file": file,
        "file2": file2,
        "word": word,
        "folder": folder,
        "folder2": folder2,
        "person": person,
        "person2": person2,
        "email": f"{person.split()[0].lower()}@example.org",
        "city": chance.choice(_CITIES),
        "switch": switch,
        "switch2": switch2,
        "size": str(chance.randrange(12, 30)),
        "number": str(number),
        "number2": str(number2),
        "remark": " ".join(chance.sample(WORDS, 2)),
    }


def _write_sheet(path: Path) -> None:
    """Write an empty sheet (flat OpenDocument is enough for the application to open and save it)."""
    import zipfile

    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2"><office:body>'
        '<office:spreadsheet><table:table table:name="Sheet1"><table:table-row><table:table-cell/></table:table-row>'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest '
        'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)


def _is_true(truth: Mapping[str, Any], home: Path, state: Path, server: FormServer) -> bool:
    """Return whether the files of the applications, or what a page sent, say that a task was done."""
    match dict(truth):
        case {"text": [path, text]}:
            file = home / path
            return file.is_file() and bool(file.read_text(encoding="utf-8").strip() == text)
        case {"setting": [key, value]}:
            return bool((read_settings(home) or {}).get(key) == value)
        case {"contact": wanted}:
            return bool(wanted in json.loads(state.read_text(encoding="utf-8"))["contacts"])
        case {"preference": [name, value]}:
            return str(json.loads(state.read_text(encoding="utf-8"))["preferences"][name]) == str(value)
        case {"booking": wanted}:
            return any({name: sent.fields.get(name) for name in wanted} == wanted for sent in server.submissions)
        case {"cells": [path, wanted]}:
            try:
                cells = read_document((home / path).read_bytes()).cells
            except NotReadable:
                return False
            return all(value in cells.get(("Sheet1", cell), ()) for cell, value in wanted.items())
    raise ValueError(f"{truth} is no truth")
