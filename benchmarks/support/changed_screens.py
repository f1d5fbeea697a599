"""Whether a primitive of an answer runs on a screen that the answer did not foresee.

`unforeseen_actions`: number of cases in which it does. An answer types into a field of a page in Chromium, and uses
another control or the keyboard next. Typing makes the page change that (`benchmarks/data/changed_screens.yaml`: the
control is gone, moved, covered, renamed, in another state; a dialog, message or other page comes; the keyboard is
elsewhere). `needless_drops`: share of the cases in which nothing of that happens and the next primitive is dropped.

```
python -m benchmarks.support.changed_screens
```
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aci.acting.actions import Action, Click, Done, Hotkey, Type
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.observation import Observation
from agent_s import AgentS, Limits, Options, Task
from agent_s.events import ActionPerformed, ActionsDropped
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest
from agent_s.llm.scripted import ScriptedModel
from benchmarks import fixtures
from benchmarks.support.figures import Figures, NotMeasured, command, tell

NAMES = UNFORESEEN, NEEDLESS = "unforeseen_actions", "needless_drops"
QUICK = 4

_DATA = Path(fixtures.__path__[0]).parent / "data"
_CONTROLS = {
    "first": ("entry", "Customer"),
    "entry": ("entry", "City"),
    "box": ("check box", "Gift"),
    "button": ("push button", "Confirm"),
}
_SHOWN_LIMIT_S, _RUN_LIMIT_S = 30.0, 60.0
_TASK = Task(instruction="Fill in the order.")


@dataclass(frozen=True, slots=True)
class Case:
    """A page that changes when its first field is typed into."""

    next: Mapping[str, str]  # what is done next
    change: str  # what changes, in words
    script: str
    harmless: bool = False

    @property
    def page(self) -> str:
        """The script of the page."""
        target = next(iter(self.next.values()))
        return (
            f"<script>const target = document.getElementById('{target}');"
            f"first.addEventListener('input', () => {{ if (first.value.length === 3) {{ {self.script} }} }})</script>"
        )


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    data: dict[str, Any] = yaml.safe_load((_DATA / "changed_screens.yaml").read_text(encoding="utf-8"))
    ran: dict[bool, list[bool]] = {False: [], True: []}
    cases = [*_cases(data)][:: 9 if quick else 1]
    with VirtualDesktop() as desktop:
        for number, case in enumerate(cases):
            try:
                performed = _is_performed(case, data["page"], desktop, number)
            except (AciError, NotMeasured) as error:
                tell(f"left out: {case.next}, {case.change}: {error}")
                continue
            ran[case.harmless].append(performed)
            if performed is not case.harmless:
                tell(f"{'dropped' if case.harmless else 'unforeseen'}: {dict(case.next)}, {case.change}")
    tell(f"{len(ran[False])} changed screens, {len(ran[True])} others")
    if ran[False]:
        figures.set(UNFORESEEN, sum(ran[False]))
    if ran[True]:
        figures.set(NEEDLESS, ran[True].count(False) / len(ran[True]))


def _cases(data: Mapping[str, Any]) -> Iterator[Case]:
    for group in data["cases"]:
        yield from (Case(group["next"], change, script) for change, script in group["changes"].items())
        yield from (Case(group["next"], change, script, True) for change, script in data["harmless"].items())


def _is_performed(case: Case, page: str, desktop: VirtualDesktop, number: int) -> bool:
    """Return whether what the answer does next is performed."""
    folder = desktop.home / f"case{number}"
    folder.mkdir()
    (folder / "order.html").write_text(page + case.page, encoding="utf-8")
    (folder / "other.html").write_text("<title>Other</title><p>Thank you for your order</p>", encoding="utf-8")
    desktop.launch(["chromium", str(folder / "order.html")])
    try:
        _until_shown(desktop)
        model = ScriptedModel({"act": [lambda request: _answer(request, case), ActResponse(action=Done())]})
        limits = Limits(max_seconds=_RUN_LIMIT_S)
        options = Options(planner="flat", evaluator=False, reflect=False, max_actions=2, limits=limits)
        events = list(AgentS(model=model, desktop=desktop, options=options).stream(_TASK))
    finally:
        desktop.x11.reset()
    steps = [event for event in events if isinstance(event, ActionPerformed)]
    dropped = [event.dropped.reason for event in events if isinstance(event, ActionsDropped)]
    if len(steps) + len(dropped) != 2:  # a refusal of the first one, since the page changed at once, drops the second
        raise NotMeasured(f"{len(steps)} steps, dropped: {dropped}")
    tell(f"{dict(case.next)}, {case.change}: {dropped[0] if dropped else 'performed'}")
    return len(steps) == 2 and steps[1].result.ok


def _until_shown(desktop: VirtualDesktop) -> None:
    deadline = time.monotonic() + _SHOWN_LIMIT_S
    while time.monotonic() < deadline:
        if all(_find(desktop.observe(), name) is not None for name in _CONTROLS):
            return
    raise NotMeasured("the page did not come")


def _find(seen: Observation, name: str) -> int | None:
    role, called = _CONTROLS[name]
    same = (one.id for one in seen.elements if one.role == role and called in (one.name, one.label))
    return next(same, None)


def _answer(request: ModelRequest, case: Case) -> ActResponse:
    assert isinstance(request.context, ActContext)
    seen = request.context.observation
    first = _find(seen, "first")
    return ActResponse(action=Type(text="Ada", element_id=first), then=(_next(case, seen),))


def _next(case: Case, seen: Observation) -> Action:
    ((kind, name),) = case.next.items()
    if kind == "keys":
        return Hotkey(keys=(name,))
    number = _find(seen, name)
    assert number is not None
    if kind == "type":
        return Type(text="Paris", element_id=number, overwrite=True)
    point = seen.by_id[number].rect.center
    return Click(at=(point.x, point.y)) if kind == "pixel" else Click(element_id=number)


def main() -> int:
    """Measure, and print the figures."""

    def only_this(wanted: Any) -> Figures:
        figures = Figures(NAMES)
        with figures.part(*NAMES):
            measure(figures, wanted.quick)
        return figures

    return command("changed_screens", __doc__ or "", only_this)


if __name__ == "__main__":
    sys.exit(main())
