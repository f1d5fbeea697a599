"""Applications that live while they are looked at, and are seen as they are, one or more of each toolkit.

Each application of `benchmarks/data/toolkits.yaml` is used on a private desktop and looked at `LOOKS` times. It is
started again for the scene of `benchmarks.settle` that the file names, with looks after each action and pauses: objects
of closed dialogs and menus are what crashes an application when it is asked about them. It counts for `toolkits_alive`
if it still runs, and if what is seen agrees with what pyatspi reports at the same moments or, for a toolkit without
accessibility, with the texts on its screen. Those that are not installed are named and not counted.
One that refuses to run as root is looked at by a process of its own in a user namespace (`python -m
benchmarks.support.truth.toolkits NAME LOOKS`, whose output is the outcome as JSON).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from aci.acting.actions import Action, Click, Hotkey, Type
from aci.applications.launching import Process
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.observation import Element, Observation
from agent_s.settings import configs_folder
from agent_s.terminal.system_packages import read_packages
from benchmarks.support import person
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import compare, read_reference
from benchmarks.support.settling import SCENES

SIZE = (1280, 900)
LOOKS = 50
QUICK_LOOKS = 12
LOOKS_PER_STEP = 4
NAMES = ("toolkits_alive",)
PAUSE_S = 1.5
"""Pause after each action of a scene; the memory of a closed dialog's objects is only used again after a while."""
WHOLE_EVERY = 5
"""Every so many looks, everything is read again instead of what changed."""
ENOUGH = 0.97
"""Least share of objects that are seen as pyatspi or the screen shows them."""
COMPARISONS = 3
"""Attempts at a comparison: the two readings are not of quite the same moment."""
START_LIMIT_S = 180.0
_PROCESS_LIMIT_S = 900.0

_FOLDER = Path(__file__).parents[2]
PROGRAMS = _FOLDER / "fixtures" / "toolkits"
PAGE = """<!DOCTYPE html><html lang="en"><title>Shopping list</title><h1>Shopping list</h1>
<form id="form"><label>Article <input id="article"></label> <label><input type="checkbox"> Urgent</label>
<button>Add article</button></form><ul id="items"><li>Bread</ul>
<script>document.getElementById("form").onsubmit = () => {
  document.getElementById("items").appendChild(document.createElement("li")).textContent =
      document.getElementById("article").value;
  document.getElementById("article").value = "";
  return false;
};</script></html>
"""

Step = Literal["compare"] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Application:
    """An application made with a toolkit; see `benchmarks/data/toolkits.yaml`."""

    argv: Sequence[str]
    packages: Sequence[str]
    ready: Mapping[str, str]
    use: Sequence[Step]
    refuses_root: bool = False
    texts: Sequence[str] = ()
    scene: str = ""

    @property
    def obstacle(self) -> str:
        """Why it cannot be started here; "" if it can."""
        present = {package.names[0]: package.present for package in read_packages(configs_folder() / _LIST)}
        absent = [name for name in self.packages if not present[name]]
        if absent:
            return f"not installed: {', '.join(absent)} (make setup-toolkits)"
        if self.refuses_root and person.obstacle():
            return f"{self.argv[0]} refuses to run as root, and {person.obstacle()}"
        return ""


@dataclass(slots=True)
class Outcome:
    """What came of using and looking at an application."""

    looks: int = 0  # how often it was looked at
    actions: int = 0  # how many actions were carried out in between
    end: str = ""  # how it ended; "" while it runs
    # least share of objects that are seen as pyatspi or the screen shows them; 0 if never compared
    agreement: float = 0.0
    differences: list[str] = field(default_factory=list)  # what differed

    @property
    def good(self) -> bool:
        """Whether the application lives and is seen as it is."""
        return not self.end and self.agreement >= ENOUGH


_LIST = "debian-packages.txt"


@cache
def applications() -> dict[str, Application]:
    """Return the applications by the name of their toolkit."""
    table = yaml.safe_load((_FOLDER / "data" / "toolkits.yaml").read_text(encoding="utf-8"))
    return {name: Application(**entry) for name, entry in table.items()}


def measure(figures: Figures, quick: bool) -> None:
    """Set `toolkits_alive`."""
    outcomes: dict[str, Outcome] = {}
    for name, application in applications().items():
        if application.obstacle:
            tell(f"{name}: {application.obstacle}")
            continue
        try:
            outcomes[name] = outcome_of(name, QUICK_LOOKS if quick else LOOKS)
        except AciError as error:
            outcomes[name] = Outcome(end=str(error))
        one = outcomes[name]
        state = one.end or "alive"
        tell(f"{name}: {state}, {one.looks} looks, {one.actions} actions, agreement {one.agreement:.3f}")
        for difference in one.differences[:10]:
            tell(f"    {difference}")
    if not outcomes:
        raise NotMeasured("no application is installed")
    figures.set("toolkits_alive", sum(one.good for one in outcomes.values()) / len(outcomes))


def outcome_of(name: str, looks: int) -> Outcome:
    """Look at the application of a toolkit, as an ordinary user if it refuses to run as root.

    Raises:
        LaunchFailed: It did not start.
        NotMeasured: It never showed what it starts with, pyatspi is missing, or the process that looked at it failed.
    """
    application = applications()[name]
    if not application.refuses_root or os.geteuid() != 0:
        return look_at(application, looks)
    argv = person.as_person([sys.executable, "-m", "benchmarks.support.truth.toolkits", name, str(looks)])
    run = subprocess.run(argv, capture_output=True, text=True, timeout=_PROCESS_LIMIT_S, check=False)
    if run.returncode != 0:
        raise NotMeasured(run.stderr)
    return Outcome(**json.loads(run.stdout))


def look_at(application: Application, looks: int) -> Outcome:
    """Start an application on a private desktop, use it, and look at it.

    Raises:
        LaunchFailed: It did not start.
        NotMeasured: It never showed what it starts with, or pyatspi is missing.
    """
    outcome = Outcome()
    with _started(application) as (desktop, process):
        _use(desktop, process, application, looks, outcome)
    if application.scene and not outcome.end:
        with _started(application) as (desktop, process):
            _play(desktop, process, application, outcome)
    return outcome


@contextmanager
def _started(application: Application) -> Iterator[tuple[VirtualDesktop, Process]]:
    with VirtualDesktop(size=SIZE, ocr="auto" if application.texts else None) as desktop:
        page = desktop.home / "list.html"
        page.write_text(PAGE, encoding="utf-8")
        places = {"programs": str(PROGRAMS), "page": page.as_uri()}
        argv = [part.format(**places) for part in application.argv]
        yield desktop, desktop.launch(argv, timeout_s=START_LIMIT_S)


def _use(desktop: VirtualDesktop, process: Process, application: Application, looks: int, outcome: Outcome) -> None:
    seen = until_ready(desktop, application)
    agreements: list[float] = []
    steps = list(application.use)
    number = 0
    while outcome.looks < looks or number < len(steps):
        step = steps[number % len(steps)]
        number += 1
        if step == "compare":
            if number <= len(steps):  # pyatspi takes its time
                agreements.append(_compared(desktop, application, outcome))
        elif (action := action_of(step, seen)) is not None:
            outcome.actions += desktop.perform(action).ok
        seen = _looked(desktop, process, outcome)
        if outcome.end:
            return
    outcome.agreement = min(agreements)


def _play(desktop: VirtualDesktop, process: Process, application: Application, outcome: Outcome) -> None:
    seen = until_ready(desktop, application)
    for act in next(scene.acts for scene in SCENES if scene.name == application.scene):
        if (action := act.choose(seen)) is not None:
            outcome.actions += desktop.perform(action).ok
        desktop.observe()
        time.sleep(PAUSE_S)
        seen = _looked(desktop, process, outcome)
        if outcome.end:
            outcome.end += f" ({application.scene}: {act.name})"
            return


def _looked(desktop: VirtualDesktop, process: Process, outcome: Outcome) -> Observation:
    """Look several times, since another look at the same screen must do no harm either; return the last observation."""
    for _ in range(LOOKS_PER_STEP):
        seen = desktop.observe()
        outcome.looks += 1
        if outcome.looks % WHOLE_EVERY == 0:
            desktop.x11.accessibility.read(desktop.x11.screen.windows(), desktop.x11.screen.rect)
        crash = next((note for note in seen.notes if "crashed" in note), "")
        if crash or not process.running:
            outcome.end = crash or f"ended with {process.returncode} at look {outcome.looks}"
            break
    return seen


def until_ready(desktop: VirtualDesktop, application: Application) -> Observation:
    """Return the first observation that shows what an application starts with.

    Raises:
        NotMeasured: It never did.
    """
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        seen = desktop.observe()
        if _found(seen, application.ready) is not None:
            return seen
        if time.monotonic() > deadline:
            raise NotMeasured(f"{application.argv[0]} shows no {application.ready} within {START_LIMIT_S:g} s")


def _found(seen: Observation, wanted: Mapping[str, str]) -> Element | None:
    [(role, name)] = wanted.items()
    return next((one for one in seen.elements if one.role == role and name in (one.name, one.label)), None)


def action_of(step: Mapping[str, Any], seen: Observation) -> Action | None:
    """Return the action of a step; None where its target is not on the screen."""
    match step:
        case {"click": wanted}:
            target = _found(seen, wanted)
            return None if target is None else Click(element_id=target.id)
        case {"press": keys}:
            return Hotkey(keys=tuple(keys))
        case {"type": text}:
            return Type(text=text)
        case _:
            raise ValueError(f"a step is to click, press, type or compare, not {step}")


def _compared(desktop: VirtualDesktop, application: Application, outcome: Outcome) -> float:
    """Return the best share of several comparisons."""
    best, differences = 0.0, [""]
    for _ in range(COMPARISONS):
        seen = desktop.observe()
        if application.texts:
            known = " ".join(element.name or element.text or "" for element in seen.elements)
            differences = [f"not seen: {text}" for text in application.texts if text not in known]
            share = 1 - len(differences) / len(application.texts)
        else:
            found = compare(seen, read_reference(desktop.environment, seen))
            share, differences = found.share if found.total else 0.0, found.unexplained
        best = max(best, share)
        if best >= ENOUGH:
            return best
    outcome.differences += differences
    return best


if __name__ == "__main__":
    print(json.dumps(asdict(look_at(applications()[sys.argv[1]], int(sys.argv[2])))))
