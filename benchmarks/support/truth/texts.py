"""How long the texts are that a model gets of a run, and whether they lose anything.

Each application of `benchmarks/data/texts.yaml` is used on a private desktop with text recognition. `text_bytes_ratio`:
bytes of the first observation's text and of the difference after each step, divided by those of a table of all elements
at each step, with an id and the columns that OSWorld's runners send (tag, name, text, class, description, position,
size); the largest of the applications that the goal names. `text_answers`: share of questions about the screen that a
scripted reader answers right from these texts alone. The questions and their answers come from the accessibility tree
as pyatspi reads it, at every few steps; they are about what is shown in the window in front, and is the only one of its
role and name there.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import yaml

from aci.acting.actions import Wait
from aci.errors import AciError
from aci.observation.geometry import Rect
from aci.observation.observation import Observation, Window
from benchmarks.fixtures.documents import write_letter, write_sales
from benchmarks.fixtures.feed_page import write_feed
from benchmarks.fixtures.fields_page import write_fields
from benchmarks.support import person
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import Seen, read_reference, same_role
from benchmarks.support.screens import desktop_with_ocr
from benchmarks.support.truth.text_reader import Known, TextReader
from benchmarks.support.truth.toolkits import Application, action_of, until_ready

NAMES = ("text_bytes_ratio", "text_questions", "text_answers")
ASKED_EVERY = 3
"""Steps between questions; pyatspi takes seconds."""
MOST_OF_A_KIND = 6
"""Questions of one kind about one screen."""
LEAST_VISIBLE = 0.6
LONGEST_ASKED = 80
_SIZE = (1280, 800)
_PROCESS_LIMIT_S = 600.0
_FOLDER = Path(__file__).parents[2]
_NAMED_BY_GOAL = ("Calc with a chart", "GIMP, preferences", "VLC, preferences", "Feed in Chromium")
_BOXES = frozenset({"check box", "radio button", "check menu item", "radio menu item", "toggle button"})
_CONTROLS = _BOXES | {"push button", "button", "menu item", "menu"}
_ENTRIES = frozenset({"menu", "menu item", "check menu item", "radio menu item", "list item"})
_FIELDS = frozenset({"text", "entry", "spin button", "slider"})
_TABS = frozenset({"page tab", "list item", "table cell"})
_CHROMIUM_ADDS = re.compile(r" - Memory usage - [0-9.,]+ [KMGT]?B$")  # to the names of tabs
_WORDS = frozenset({"label", "static", "heading", "paragraph", "link"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question about what is called `name`, and the right answer."""

    kind: str  # "checked", "enabled", "selected", "value", "cell", "shown", "active window", or one of these + ", now"
    role: str
    name: str
    answer: str


@dataclass(slots=True)
class Outcome:
    """What came of using an application."""

    told: int = 0  # bytes of the texts
    table: int = 0  # bytes of the tables
    short: int = 0  # bytes of tables of id, tag, name and text alone
    steps: int = 0  # actions that were carried out
    asked: dict[str, int] = field(default_factory=dict)  # questions, by kind
    wrong: list[str] = field(default_factory=list)  # lines about questions that were answered wrong


@cache
def applications() -> dict[str, Application]:
    """Return the applications by name."""
    table = yaml.safe_load((_FOLDER / "data" / "texts.yaml").read_text(encoding="utf-8"))
    return {name: Application(**entry) for name, entry in table.items()}


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    outcomes: dict[str, Outcome] = {}
    for name, application in applications().items():
        if application.obstacle or (quick and name not in _NAMED_BY_GOAL):
            tell(f"{name}: {application.obstacle or 'not measured with --quick'}")
            continue
        try:
            outcomes[name] = outcome_of(name)
        except (AciError, NotMeasured) as error:
            tell(f"{name}: {error}")
            continue
        _tell(name, outcomes[name])
    ratios = [one.told / one.table for name, one in outcomes.items() if name in _NAMED_BY_GOAL]
    if not ratios:
        raise NotMeasured("no application could be used")
    asked, wrong = (
        sum(sum(one.asked.values()) for one in outcomes.values()),
        sum(len(one.wrong) for one in outcomes.values()),
    )
    figures.set("text_bytes_ratio", max(ratios))
    figures.set("text_questions", asked)
    figures.set("text_answers", 1 - wrong / asked)


def outcome_of(name: str) -> Outcome:
    """Use an application, in a process of an ordinary user if it refuses to run as root.

    Raises:
        LaunchFailed: It did not start.
        NotMeasured: It never showed what it starts with, pyatspi is missing, or the process failed.
    """
    if not applications()[name].refuses_root or os.geteuid() != 0:
        return _use(applications()[name])
    argv = person.as_person([sys.executable, "-P", "-m", "benchmarks.support.truth.texts", name])
    run = subprocess.run(argv, capture_output=True, text=True, timeout=_PROCESS_LIMIT_S, check=False)
    if run.returncode != 0:
        raise NotMeasured(run.stderr)
    return Outcome(**json.loads(run.stdout.splitlines()[-1]))


def looks(application: Application) -> Iterator[tuple[Observation, Mapping[str, str]]]:
    """Yield the first observation of an application and the one after each step, with the environment to ask it in."""
    with desktop_with_ocr(_SIZE) as desktop:
        home = desktop.home
        places = {
            "sales": str(write_sales(home)),
            "feed": write_feed(home).as_uri(),
            "form": write_fields(home).as_uri(),
            "letter": str(write_letter(home)),
        }
        desktop.launch([part.format(**places) for part in application.argv], timeout_s=120.0)
        seen = until_ready(desktop, application)
        desktop.perform(Wait(time=1))
        seen = desktop.observe()
        yield seen, desktop.environment
        for step in application.use:
            action = action_of(step, seen)  # type: ignore[arg-type]
            if action is None:
                tell(f"    not there: {step}")
                continue
            desktop.perform(action)
            seen = desktop.observe()
            yield seen, desktop.environment


def _use(application: Application) -> Outcome:
    outcome, reader, chance = Outcome(), TextReader(), random.Random(7)
    asked: Counter[str] = Counter()
    seen: list[Observation] = []
    before: list[Seen] = []
    for number, (now, environment) in enumerate(looks(application)):
        text = now.changes_since(seen[-1], seen[:-1]) if seen else now.to_text()
        reader.read(text)
        seen.append(now)
        outcome.told += len(text.encode())
        outcome.table += len(_table(now).encode())
        outcome.short += sum(len(f"{e.id}\t{e.role}\t{e.name}\t{e.text or ''}\n".encode()) for e in now.elements)
        if number % ASKED_EVERY and number != len(application.use):
            before = []
            continue
        tree = read_reference(environment, now)
        for question in _questions(now, tree, before, chance):
            asked[question.kind] += 1
            given = _answer(reader, question)
            if given != question.answer:
                outcome.wrong.append(f"step {number}: {question}, answered {given!r}")
        before = tree
    outcome.steps, outcome.asked = len(seen) - 1, dict(asked)
    return outcome


def _table(observation: Observation) -> str:
    rows = ["id\ttag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"]
    rows += [
        f"{e.id}\t{e.role}\t{e.name}\t{e.text or e.value or ''}\t\t{e.description}\t"
        f"({e.rect.x}, {e.rect.y})\t({e.rect.width}, {e.rect.height})"
        for e in observation.elements
    ]
    return "\n".join(rows)


def _questions(now: Observation, tree: Sequence[Seen], before: Sequence[Seen], chance: random.Random) -> list[Question]:
    front = next((window for window in now.windows if window.active), None)
    popups = [window for window in now.windows if window.popup]
    by_kind: dict[str, list[Question]] = defaultdict(list)
    if front is not None and not popups:
        by_kind["active window"].append(Question("active window", "", "", _collapse(front.title)))
    shown = list(_shown(now, popups[0] if popups else front, tree))
    counts = Counter((_kind_of_role(seen.role), _name(seen)) for seen in shown)
    for seen in shown:
        if counts[_kind_of_role(seen.role), _name(seen)] == 1 and 0 < len(_name(seen)) <= LONGEST_ASKED:
            for question in _about(seen):
                by_kind[question.kind].append(question)
    return [
        each for questions in by_kind.values() for each in chance.sample(questions, min(len(questions), MOST_OF_A_KIND))
    ]


def _about(seen: Seen) -> Iterator[Question]:
    name = _name(seen)
    if seen.role in _BOXES:
        yield Question("checked", seen.role, name, _yes(bool(seen.states & {"checked", "pressed"})))
    if seen.role in _CONTROLS:
        yield Question("enabled", seen.role, name, _yes("sensitive" in seen.states))
    if seen.role in _TABS and "selectable" in seen.states:
        yield Question("selected", seen.role, name, _yes("selected" in seen.states))
    if seen.role in _FIELDS and "editable" in seen.states | ({"editable"} if seen.role == "slider" else set()):
        value = seen.text if seen.text or seen.value is None else f"{seen.value:.12g}"
        yield Question("value", seen.role, name, _collapse(value or ""))
    if seen.role == "table cell" and seen.text is not None and name[:1].isupper() and name[-1:].isdigit():
        # LibreOffice sometimes gives a cell that was just created its value and no text yet.
        yield Question("cell", seen.role, name, _collapse(seen.text) or (f"{seen.value:.12g}" if seen.value else ""))
    if seen.role in _WORDS:
        yield Question("shown", seen.role, name, "yes")


def _shown(now: Observation, window: Window | None, tree: Sequence[Seen]) -> Iterator[Seen]:
    """Yield what is shown in a window, mostly in sight."""
    if window is None:
        return
    parents = {seen.id: seen for seen in tree}
    titled = any(_title(seen, parents) == window.title for seen in tree)
    for seen in tree:
        if not seen.shows or seen.rect is None or not seen.rect.area or seen.pid != window.pid:
            continue
        if seen.role not in _ENTRIES if window.popup else titled and _title(seen, parents) != window.title:
            continue
        visible: Rect | None = seen.rect.intersection(window.rect)
        above = parents.get(seen.parent)
        while above is not None and visible is not None:
            if (
                above.rect is not None
                and above.rect.area
                and above.role not in ("menu", "menu bar", "combo box", "menu item")
            ):
                visible = visible.intersection(above.rect)
            above = parents.get(above.parent)
        if visible is None or visible.area < LEAST_VISIBLE * seen.rect.area:
            continue
        top = next((one for one in now.windows if (one.frame or one.rect).contains(visible.center)), None)
        if top is not None and top.id == window.id:
            yield seen


def _title(seen: Seen, parents: Mapping[int, Seen]) -> str:
    """Return the name of the window that an object lies in."""
    top = seen
    while (above := parents.get(top.parent)) is not None and above.role != "application":
        top = above
    return top.name


def _answer(reader: TextReader, question: Question) -> str:
    if question.kind == "active window":
        return _collapse(reader.active)
    found = [each for each in reader.elements.values() if each.shown and _is_meant(each, question)]
    if question.kind == "shown":
        return _yes(bool(found))
    alike = [each for each in found if same_role(each.role, question.role)] or found
    if not alike:
        return "not found"
    element = alike[-1]
    match question.kind:
        case "checked":
            return _yes(bool(element.states & {"checked", "pressed"}))
        case "enabled":
            return _yes("disabled" not in element.states)
        case "selected":
            return _yes("selected" in element.states)
    said = _collapse(element.text or element.value)
    # A long text is cut in its middle; an application's field may say its number with a unit.
    return question.answer if _agree(said, question.answer) else said


def _is_meant(element: Known, question: Question) -> bool:
    said = [_collapse(each) for each in (element.name, element.label, element.about)]
    if question.kind == "shown":
        return any(question.name in each for each in (*said, _collapse(element.text)))
    return question.name in said


def _agree(said: str, right: str) -> bool:
    if " ... " in said:
        head, _, tail = said.partition(" ... ")
        return right.startswith(head) and right.endswith(tail)
    number = said.split(" ")[0]
    return said == right or (bool(right) and number == right)


def _name(seen: Seen) -> str:
    return _CHROMIUM_ADDS.sub("", _collapse(seen.name or seen.label))


def _kind_of_role(role: str) -> str:
    return next((min(kind) for kind in (_BOXES, _FIELDS, _WORDS) if role in kind), role)


def _collapse(text: str) -> str:
    return " ".join(text.replace("\ufffc", " ").replace("\u200b", "").split())


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _tell(name: str, one: Outcome) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in one.asked.items())
    tell(
        f"{name}: {one.steps} steps, {one.told} bytes, {one.told / one.table:.3f} of the table, "
        f"{one.told / one.short:.3f} of the short one; {len(one.wrong)} wrong of {sum(one.asked.values())} ({kinds})"
    )
    for line in one.wrong:
        tell(f"    {line}")


if __name__ == "__main__":
    print(json.dumps(asdict(_use(applications()[sys.argv[1]]))))
