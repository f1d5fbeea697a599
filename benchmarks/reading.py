"""How well a model on a server of one's own reads the requests of a Worker, of which a small model gets many wrong.

```
python -m benchmarks.reading --model http://localhost:8000/v1 --json
```

Each request shows the tree of a real application and asks to click one of its controls by role and name, which only
one of them has. The controls are chosen at random, always the same ones on the same screens.

right    share of the answers that click the control
present  share whose ids are all on the screen; any other is refused before anything is touched
first    share that could be read at the first attempt
seconds  median time of an answer, s
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aci.acting.actions import ID_FIELDS, Click, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from agent_s.errors import MalformedResponse, ModelError, ResponseCutOff
from agent_s.llm.build import build_model
from agent_s.llm.protocol import ActContext, ActResponse, Model, ModelRequest
from agent_s.llm.providers.provider import ProviderModel
from agent_s.records import Subtask, Task
from agent_s.settings import ProviderSettings
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.reports import wait_until

FIGURES = ("right", "present", "first", "seconds")
APPLICATIONS: Mapping[str, Sequence[str]] = {
    "mousepad": ["mousepad"],
    "calculator": ["gnome-calculator"],
    "thunar": ["thunar"],
    "kcalc": ["kcalc"],
    "featherpad": ["featherpad"],
    "writer": ["lowriter", "--norestore"],
}
"""Commands, by a part of their windows' application."""
ROLES = ("push button", "toggle button", "menu", "list item", "table cell", "page tab", "check box", "combo box")
OPEN_LIMIT_S = 60.0
SETTINGS = ProviderSettings(max_pictures=0, max_output_tokens=512, timeout_s=600)


def measure(wanted: argparse.Namespace) -> Figures:
    """Ask for controls of each application."""
    figures = Figures(FIGURES)
    if not wanted.model:
        for name in FIGURES:
            figures.lack(name, "no server was named")
        return figures
    model = build_model(wanted.model, os.environ, SETTINGS, observation="tree")
    assert isinstance(model, ProviderModel), "only a model behind a server can be measured"
    rows = []
    with figures.part(*FIGURES):
        try:
            model.check()
        except ModelError as error:
            raise NotMeasured(str(error)) from error
        for observation in _screens():
            for element in _choose(observation, 2 if wanted.quick else wanted.each):
                rows.append(_ask(model, observation, element))
        for place, name in enumerate(FIGURES[:-1]):
            figures.set(name, statistics.fmean(row[place] for row in rows))
        figures.set("seconds", statistics.median(row[-1] for row in rows))
    return figures


def _screens() -> Iterator[Observation]:
    """Yield the screen of each application, alone on a desktop."""
    for app, argv in APPLICATIONS.items():
        with VirtualDesktop() as desktop:
            desktop.launch(argv)

            def is_open(app: str = app, desktop: VirtualDesktop = desktop) -> bool:
                return any(app in window.app.casefold() for window in desktop.observe().windows)

            if not wait_until(is_open, OPEN_LIMIT_S):
                raise NotMeasured(f"there is no window of {app}")
            desktop.perform(Wait(time=2))  # controls may follow their window
            yield desktop.observe()


def _choose(observation: Observation, count: int) -> list[Element]:
    """Return some of the controls that role and name tell from all others."""
    named = Counter((each.role, each.name) for each in observation.elements)
    alone = [
        each
        for each in observation.elements
        if each.name and each.role in ROLES and each.point is not None and named[each.role, each.name] == 1
    ]
    return random.Random(3).sample(alone, min(count, len(alone)))


def _ask(model: Model, observation: Observation, element: Element) -> tuple[bool, bool, bool, float]:
    """Return whether the answer is right, its ids are present and the first one was valid, and the time it took."""
    subtask = Subtask(name=f'Click the {element.role} "{element.name}"', info="")
    context = ActContext(Task(instruction=f"{subtask.name}."), subtask, observation)
    exchanges: list[object] = []
    began = time.monotonic()
    try:
        answer = model.complete(ModelRequest(context, on_exchange=exchanges.append)).output
    except (MalformedResponse, ResponseCutOff) as error:
        tell(f"{element.id} {subtask.name}: {error}")
        return False, False, False, time.monotonic() - began
    seconds = time.monotonic() - began
    assert isinstance(answer, ActResponse)
    ids = [one for action in answer.actions for name in ID_FIELDS if (one := getattr(action, name, None)) is not None]
    action = answer.action
    right = isinstance(action, Click) and action.element_id == element.id
    tell(f"{'right' if right else 'WRONG'}, {seconds:.0f} s: {element.id} {subtask.name}: {action}")
    return right, all(one in observation.by_id for one in ids), len(exchanges) == 1, seconds


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="", help="address of the server, with #NAME of its model")
    parser.add_argument("--each", type=int, default=8, help="controls of each application; by default 8")


if __name__ == "__main__":
    sys.exit(command("reading", (__doc__ or "").partition("\n")[0], measure, _options))
