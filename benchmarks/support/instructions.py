"""Instructions that name an effect and not the way to it, written before any exploration, and checks of the state."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aci.acting.actions import Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.observation import Element, Observation
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.offline import OfflineModel
from agent_s.records import Limits, Task
from exploration.errors import ApplicationUnusable
from exploration.search.controls import called
from exploration.search.homes import read_home
from exploration.search.navigator import Navigator, new_desktop
from memory_store import MemoryStore

INSTRUCTIONS = Path(__file__).parents[1] / "data" / "instructions.json"
LIMITS = Limits(max_steps=15, max_seconds=30, max_replans=1)


def instructions(app: str) -> list[dict[str, Any]]:
    """Return the instructions for an application, each with how its end is checked."""
    found: list[dict[str, Any]] = json.loads(INSTRUCTIONS.read_text(encoding="utf-8"))[app]
    return found


def carried_out(argv: tuple[str, ...], task: dict[str, Any], memory: MemoryStore) -> bool:
    """Let the offline model carry out one instruction on a fresh desktop, and look at the state afterwards.

    The application is open, unless the instruction is to open it (`closed`).
    """
    with new_desktop() as desktop:
        if not task.get("closed", False):
            _open(desktop, argv)
        agent = AgentS(
            model=OfflineModel(),
            desktop=desktop,
            memory=memory,
            options=Options(learn=False, limits=LIMITS),
        )
        agent.run(Task(instruction=task["instruction"]))
        return _holds(task["check"], desktop) or (
            not {"setting", "file"}.isdisjoint(task["check"]) and _holds_at_its_end(task["check"], desktop)
        )


def _open(desktop: VirtualDesktop, argv: tuple[str, ...]) -> None:
    navigator = Navigator(desktop, argv)
    try:
        navigator.restart()
    except ApplicationUnusable:
        navigator.restart()  # about one start of PCManFM-Qt in 30 hangs, in its own code


def _holds(check: dict[str, Any], desktop: VirtualDesktop) -> bool:
    deadline = time.monotonic() + 2.0
    while not (held := _holds_now(check, desktop)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return held


def _holds_at_its_end(check: dict[str, Any], desktop: VirtualDesktop) -> bool:
    """Quit the application and look again: some write their settings only then."""
    for keys in (("Escape",), ("ctrl", "q")):
        desktop.perform(Hotkey(keys=keys))
    return _holds(check, desktop)


def _holds_now(check: dict[str, Any], desktop: VirtualDesktop) -> bool:
    try:
        seen = desktop.observe()
    except AciError:
        return False
    return all(_CHECKS[name](check, seen, desktop) for name in check if name in _CHECKS)


def _setting(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    value = read_home(desktop.home).settings.get(check["setting"], "")
    return value.removeprefix("uint32 ").removeprefix("int32 ") == str(check["is"])


def _file(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    path = desktop.home / check["file"]
    return path.exists() and re.search(check["has"], path.read_text(encoding="utf-8")) is not None


def _shown(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    title = any(check["element"] in window.title for window in seen.windows)
    named = any(check["element"] in (element.name, called(element)) for element in seen.elements)
    return (title or named) == bool(check.get("shown", True))


def _state(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    return any(e.name == check["element"] and check["state"] in e.states for e in seen.elements)


def _text(check: dict[str, Any], seen: Observation, desktop: VirtualDesktop) -> bool:
    return any(element.text == check["text"] for element in seen.elements)


def _document(seen: Observation) -> Iterator[Element]:
    return (element for element in seen.elements if element.role == "text" and "multi_line" in element.states)


_CHECKS: dict[str, Callable[[dict[str, Any], Observation, VirtualDesktop], bool]] = {
    "setting": _setting,
    "file": _file,
    "windows": lambda check, seen, _: sum(not window.popup for window in seen.windows) >= check["windows"],
    "window": lambda check, seen, _: any(check["window"] in window.title for window in seen.windows),
    "text": _text,
    "state": _state,
    "shown": _shown,
    "fullscreen": lambda check, seen, _: any(w.rect.height >= seen.screenshot.shape[0] for w in seen.windows),
    "read_only": lambda check, seen, _: all("editable" not in element.states for element in _document(seen)),
}
