"""What a search without any model finds out about applications, and what an agent can do afterwards.

```
python -m benchmarks.explore --json
```

By application: `states`, `attempts`, `skills` and `boundaries`: what the search found in its time on one desktop.
`coverage`: share of the application's menu items and toolbar buttons that were acted on; they are counted by opening
every menu here, without the search's own book-keeping. `skills_replayed`: share of skills, drawn at random, that work
again on a fresh desktop. `learned_before`, `learned_after`: share of the instructions of `data/instructions.json`,
written before any exploration, that the `offline` model carries out with an empty memory and with the one that the
search filled.
`resumed_equal`: whether a search that was killed at random moments ends with the skills of an undisturbed one.
`seconds`, `load`: how long each search took, and the machine's load when it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aci.actions import Click, Hotkey
from aci.errors import AciError
from aci.observation import Element, Observation
from aci.remains import find_remains, remove_remains
from aci.virtual import VirtualDesktop
from agent_s.agent import AgentS
from agent_s.llm.offline import OfflineModel
from agent_s.records import Limits, Task
from exploration.candidates import MENU_ROLES, called
from exploration.dfs import search
from exploration.homes import read_home
from exploration.ledger import Ledger
from exploration.records import Attempt, SearchLimits
from exploration.trying import Prober
from exploration.walking import Walker, new_desktop
from memory_store import MemoryStore

APPS: dict[str, tuple[str, ...]] = {
    "Mousepad": ("mousepad", "sample.txt"),
    "gnome-calculator": ("gnome-calculator",),
    "libreoffice-calc": ("localc", "--norestore", "--nologo", "--nofirststartwizard"),
}
INSTRUCTIONS = Path(__file__).parent / "data" / "instructions.json"
SEED = 20260314
DRAWN = 30
KILLS = 20
BUTTONS = ("push button", "toggle button", "push button menu")
FRAME = ("Minimize", "Maximize", "Close", "Restore")

Item = tuple[str, ...]
"""A menu item or button: the menus it lies in, and its name."""


@dataclass(frozen=True, slots=True)
class Explored:
    """The figures of one application; see the module's docstring."""

    states: int
    attempts: int
    skills: int
    boundaries: int
    coverage: float
    items: int
    not_covered: list[str]
    skills_replayed: float | None
    learned_before: float
    learned_after: float
    not_learned: list[str]
    seconds: float
    complete: bool
    load: float


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explore", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="one minute on one application, for a first look")
    parser.add_argument("--apps", nargs="*", choices=list(APPS), help="only these applications")
    parser.add_argument("--folder", type=Path, help="where ledgers and memories stay; by default nowhere")
    parser.add_argument(
        "--only", choices=["search", "after", "resumed"], help="only a part; needs --folder but for resumed"
    )
    parser.add_argument("--depth", type=int, default=2, help="how deep the search goes that is killed; by default 2")
    parser.add_argument("--search", nargs=2, metavar=("APP", "LEDGER"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.search:
        _search_once(wanted.search[0], Path(wanted.search[1]), wanted.depth)
        return 0
    with TemporaryDirectory() as scratch:
        figures = measure(
            wanted.apps or list(APPS), wanted.folder or Path(scratch), wanted.quick, wanted.only, wanted.depth
        )
    print(json.dumps(figures, ensure_ascii=False) if wanted.json else json.dumps(figures, indent=2, ensure_ascii=False))
    return 0


def measure(apps: list[str], folder: Path, quick: bool, only: str | None, depth: int) -> dict[str, Any]:
    """Measure what was asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    limits = SearchLimits(seconds=60 if quick else 600)
    figures: dict[str, Any] = {"seed": SEED}
    found: dict[str, Explored] = {}
    for app in apps[:1] if quick else apps:
        if only in (None, "search"):
            _explore(app, folder, limits)
        if only in (None, "after"):
            found[app] = _after(app, folder, quick)
    for name in ("coverage", "skills", "skills_replayed", "learned_before", "learned_after"):
        figures[name] = {app: getattr(each, name) for app, each in found.items()}
    figures["details"] = {app: asdict(each) for app, each in found.items()}
    if only in (None, "resumed") and not quick:
        figures["resumed_equal"], figures["kills"] = _resumed(apps[0], folder, depth)
    return figures


def _explore(app: str, folder: Path, limits: SearchLimits) -> None:
    """Search one application, with a ledger and a memory of its own."""
    with (
        new_desktop() as desktop,
        MemoryStore.open(folder / f"{app}.sqlite") as memory,
        Ledger(folder / f"{app}.jsonl", app, APPS[app]) as ledger,
    ):
        for _ in search(desktop, ledger, limits=limits, memory=memory):
            pass
    (folder / f"{app}.load").write_text(f"{os.getloadavg()[0]:.1f}")


def _after(app: str, folder: Path, quick: bool) -> Explored:
    with Ledger(folder / f"{app}.jsonl", app, APPS[app]) as ledger:
        ended = ledger.ended
        items = _inventory(app)
        covered = {_item_of(attempt) for attempt in ledger.attempts.values() if _acted(attempt)}
        missed = sorted(items - covered)
        drawn = random.Random(SEED).sample(sorted(ledger.skills), min(DRAWN, len(ledger.skills)))
        replayed = _replay(app, [ledger.attempts[key] for key in drawn[: 5 if quick else DRAWN]])
        before, after, failed = _learned(app, folder, 4 if quick else 20)
        return Explored(
            states=len(ledger.states),
            attempts=len(ledger.attempts),
            skills=len(ledger.skills),
            boundaries=len(ledger.boundaries),
            coverage=round(1 - len(missed) / max(1, len(items)), 3),
            items=len(items),
            not_covered=[" > ".join(item) for item in missed],
            skills_replayed=replayed,
            learned_before=before,
            learned_after=after,
            not_learned=failed,
            seconds=ledger.seconds,
            complete=ended is not None and ended.complete,
            load=float((folder / f"{app}.load").read_text()) if (folder / f"{app}.load").exists() else -1.0,
        )


# Coverage


def _inventory(app: str) -> set[Item]:
    """Return every menu item and toolbar button of an application, by opening all of its menus."""
    with new_desktop() as desktop:
        walker = Walker(desktop, APPS[app])
        found = set[Item]()
        start = walker.restart().observation
        home = walker.place
        for element in start.elements:
            if element.role in BUTTONS and called(element, home) not in (*FRAME, ""):
                found.add((called(element, home),))
        chains: list[tuple[Element, ...]] = [
            (element,) for element in start.elements if element.role == "menu" or _opens_menu(element)
        ]
        found |= {(called(chain[0], home),) for chain in chains if chain[0].role == "menu"}
        known = {element.id for element in start.elements}
        while chains:
            chain = chains.pop()
            for element in _open(desktop, chain):
                if element.id in known or element.role not in (*MENU_ROLES, "radio button"):
                    continue
                known.add(element.id)
                found.add(_item(element, home))
                if element.role == "menu" and "disabled" not in element.states:
                    chains.append((*chain, element))
    return found


def _opens_menu(element: Element) -> bool:
    return "has_popup" in element.states or any("MenuButton" in part for part in element.path)


def _open(desktop: VirtualDesktop, chain: tuple[Element, ...]) -> tuple[Element, ...]:
    """Open a menu by the menus that it lies in, and return what is to be seen then."""
    for _ in chain:
        desktop.perform(Hotkey(keys=("Escape",)))
    for wanted in chain:
        seen = desktop.observe().elements
        same = next((e for e in seen if (e.role, e.name, e.path) == (wanted.role, wanted.name, wanted.path)), None)
        if same is None or not desktop.perform(Click(element_id=same.id)).ok:
            return ()
    return desktop.observe().elements


def _item(element: Element, home: str) -> Item:
    menus = [part.removeprefix("menu:") for part in element.path if part.startswith("menu:")]
    return (*menus, called(element, home))


def _item_of(attempt: Attempt) -> Item:
    target = attempt.path[-1].targets.get("element_id") if attempt.path else None
    if target is None:
        return ("",)
    menus = [part.removeprefix("menu:") for part in target.path if part.startswith("menu:")]
    return (*menus, attempt.control.name)


def _acted(attempt: Attempt) -> bool:
    """Tell whether an attempt was really made, whatever came of it; what was left alone does not count."""
    return attempt.classification != "skipped"


# Skills


def _replay(app: str, attempts: list[Attempt]) -> float | None:
    """Return the share of skills that have their effect again on a fresh desktop."""
    if not attempts:
        return None
    with new_desktop() as desktop:
        prober = Prober(Walker(desktop, APPS[app]))
        return round(sum(not prober.verify(attempt)[0] for attempt in attempts) / len(attempts), 3)


# Learning


def _learned(app: str, folder: Path, most: int) -> tuple[float, float, list[str]]:
    """Return the shares of instructions done without and with what was learned, and those not done with it."""
    tasks = json.loads(INSTRUCTIONS.read_text(encoding="utf-8"))[app][:most]
    with TemporaryDirectory() as scratch, MemoryStore.open(Path(scratch) / "empty.sqlite") as empty:
        before = [_carried_out(app, task, empty) for task in tasks]
    with MemoryStore.open(folder / f"{app}.sqlite") as memory:
        after = [_carried_out(app, task, memory) for task in tasks]
    failed = [task["instruction"] for task, done in zip(tasks, after, strict=True) if not done]
    return round(sum(before) / len(tasks), 3), round(sum(after) / len(tasks), 3), failed


def _carried_out(app: str, task: dict[str, Any], memory: MemoryStore) -> bool:
    """Let the offline model carry out one instruction on a fresh desktop, and look at the state afterwards."""
    with new_desktop() as desktop:
        Walker(desktop, APPS[app]).restart()
        agent = AgentS(
            model=OfflineModel(),
            desktop=desktop,
            memory=memory,
            learn=False,
            limits=Limits(max_steps=15, max_seconds=60, max_replans=1),
        )
        agent.run(Task(instruction=task["instruction"]))
        return _holds(task["check"], desktop)


def _holds(check: dict[str, Any], desktop: VirtualDesktop) -> bool:
    deadline = time.monotonic() + 2.0
    while not (held := _holds_now(check, desktop)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return held


def _holds_now(check: dict[str, Any], desktop: VirtualDesktop) -> bool:
    try:
        seen = desktop.observe()
    except AciError:
        return False
    return all(_CHECKS[name](check, seen, desktop) for name in check if name in _CHECKS)


def _setting(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    value = read_home(desktop.home).settings.get(check["setting"], "")
    return value.removeprefix("uint32 ").removeprefix("int32 ") == str(check["is"])


def _shown(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    title = any(check["element"] in window.title for window in seen.windows)
    named = any(check["element"] == element.name for element in seen.elements)
    return (title or named) == bool(check.get("shown", True))


def _state(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    return any(e.name == check["element"] and check["state"] in e.states for e in seen.elements)


def _text(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    return any(element.text == check["text"] for element in seen.elements)


def _document(seen: Observation) -> Iterator[Element]:
    return (element for element in seen.elements if element.role == "text" and "multi_line" in element.states)


_CHECKS: dict[str, Callable[[dict[str, Any], Observation, VirtualDesktop], bool]] = {
    "setting": _setting,
    "window": lambda check, seen, _: any(check["window"] in window.title for window in seen.windows),
    "text": _text,
    "state": _state,
    "shown": _shown,
    "fullscreen": lambda check, seen, _: any(w.rect.height >= seen.screenshot.shape[0] for w in seen.windows),
    "read_only": lambda check, seen, _: all("editable" not in element.states for element in _document(seen)),
}


# Resuming


def _resumed(app: str, folder: Path, depth: int) -> tuple[bool, int]:
    """Search menus twice, the second time killed again and again; return whether the skills are the same."""
    for name in ("undisturbed", "killed"):
        (folder / f"{name}.jsonl").unlink(missing_ok=True)
    started = time.monotonic()
    _run_search(app, folder / "undisturbed.jsonl", depth, None)
    took = time.monotonic() - started
    chance, kills = random.Random(SEED), 0
    while kills < KILLS and not _run_search(
        app, folder / "killed.jsonl", depth, chance.uniform(2, max(4.0, 2 * took / KILLS))
    ):
        kills += 1
    _run_search(app, folder / "killed.jsonl", depth, None)
    return _skills_in(app, folder / "undisturbed.jsonl") == _skills_in(app, folder / "killed.jsonl"), kills


def _run_search(app: str, ledger: Path, depth: int, kill_after_s: float | None) -> bool:
    """Run a search in a process of its own and return whether it came to its end."""
    command = [sys.executable, "-m", "benchmarks.explore", "--depth", str(depth), "--search", app, str(ledger)]
    process = subprocess.Popen(command)
    try:
        return process.wait(kill_after_s) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        remove_remains(find_remains(_desktops(ledger)))  # its own alone: others may be starting just now
        return False


def _search_once(app: str, path: Path, depth: int) -> None:
    _desktops(path).mkdir(exist_ok=True)
    with new_desktop(_desktops(path)) as desktop, Ledger(path, app, APPS[app]) as ledger:
        for _ in search(desktop, ledger, limits=SearchLimits(seconds=3000, max_depth=depth)):
            pass


def _desktops(ledger: Path) -> Path:
    """Return where the desktops of one search keep their files."""
    return ledger.parent / "desktops"


def _skills_in(app: str, path: Path) -> set[tuple[str, str]]:
    with Ledger(path, app, APPS[app]) as ledger:
        return {(skill.key, skill.name) for skill in ledger.skills.values()}


if __name__ == "__main__":
    sys.exit(main())
