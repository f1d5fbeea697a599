"""Secrets that are typed and never seen: `{{secret:NAME}}` stands for one everywhere but at the moment of input.

The model, events, records and memory only ever hold the placeholder. What is seen afterwards is searched for the values
that were typed: in texts the placeholder takes their place, and the elements that show them are blackened in the
screenshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aci.acting.actions import Action, Type
from aci.desktop.desktop import ActionResult, Desktop
from aci.observation.observation import Element, Observation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.desktop.x11 import X11Desktop

PLACEHOLDER = re.compile(r"\{\{secret:([A-Za-z0-9_-]{1,64})\}\}")
VARIABLE_PREFIX = "AGENT_S_SECRET_"
SHORTEST = 4
"""Characters; what is shorter could not be found again without finding half of the screen with it."""

Find = Callable[[str], str | None]
"""Returns the secret of a name, or None where there is none."""


class Secrets:
    """Finds secrets, and remembers those that were used in order to keep them out of what is seen.

    Args:
        find: Returns the secret of a name.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._used: dict[str, str] = {}

    def __repr__(self) -> str:
        """Name the secrets that were used, never what they are."""
        return f"Secrets(used={sorted(self._used)})"

    def value(self, name: str) -> str | None:
        """Return a secret, or None where there is none that can be used."""
        value = self._used.get(name) or self._find(name)
        if value is None or len(value) < SHORTEST:
            return None
        self._used[name] = value
        return value

    @property
    def any_used(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._used)

    def hide(self, text: str) -> str:
        """Return a text with the placeholders of used secrets in place of what they are, longest first."""
        for name, value in sorted(self._used.items(), key=lambda item: -len(item[1])):
            text = text.replace(value, f"{{{{secret:{name}}}}}")
        return text


class SecretDesktop:
    """A desktop on which placeholders are typed as what they stand for, and on which that is not seen.

    Args:
        desktop: What is seen and acted on.
        secrets: Finds and hides them.
        allowed: Names that may be used: those that the person wrote into the task. A text on the screen that talks a
            model into typing another one gets nothing.
    """

    def __init__(self, desktop: Desktop, secrets: Secrets, allowed: frozenset[str]) -> None:
        self._desktop = desktop
        self._secrets = secrets
        self._allowed = allowed

    def observe(self) -> Observation:
        """Look at the screen, with used secrets hidden."""
        seen = self._desktop.observe()
        if not self._secrets.any_used:
            return seen
        hide = self._secrets.hide
        elements = tuple(self._hidden(element) for element in seen.elements)
        showing = [old for old, new in zip(seen.elements, elements, strict=True) if old is not new]
        windows = tuple(replace(window, title=hide(window.title)) for window in seen.windows)
        notes, buffer = tuple(map(hide, seen.notes)), tuple(map(hide, seen.buffer))
        if not showing and (windows, notes, buffer) == (seen.windows, seen.notes, seen.buffer):
            return seen
        pixels = _blackened(seen.screenshot, showing)
        return replace(seen, elements=elements, windows=windows, screenshot=pixels, notes=notes, buffer=buffer)

    def perform(self, action: Action, settle: bool = True) -> ActionResult:
        """Carry out one primitive, typing what placeholders stand for; only some desktops need not wait afterwards."""
        if isinstance(action, Type):
            names = frozenset(PLACEHOLDER.findall(action.text))
            values = {name: self._secrets.value(name) if name in self._allowed else None for name in names}
            missing = sorted(name for name, value in values.items() if value is None)
            if missing:
                return ActionResult(ok=False, error=self._refusal(missing[0]))
            text = PLACEHOLDER.sub(lambda match: values[match[1]] or "", action.text)
            action = action.model_copy(update={"text": text})
        result = self._desktop.perform(action) if settle else self._hurried(action)
        error = None if result.error is None else self._secrets.hide(result.error)
        return result.model_copy(update={"error": error, "note": self._secrets.hide(result.note)})

    @contextmanager
    def without_texts(self) -> Iterator[None]:
        """Leave texts that are only pixels unread, where the desktop can and no secret could be in one."""
        desktop = self._x11()
        if desktop is None or self._allowed or not desktop.reads_texts:
            yield
            return
        desktop.reads_texts = False
        try:
            yield
        finally:
            desktop.reads_texts = True

    def _hurried(self, action: Action) -> ActionResult:
        desktop = self._x11()
        return self._desktop.perform(action) if desktop is None else desktop.perform(action, settle=False)

    def _x11(self) -> X11Desktop | None:
        from aci.desktop.virtual import VirtualDesktop
        from aci.desktop.x11 import X11Desktop

        desktop = self._desktop.x11 if isinstance(self._desktop, VirtualDesktop) else self._desktop
        return desktop if isinstance(desktop, X11Desktop) else None

    def __getattr__(self, name: str) -> Any:
        """Pass on what some desktops can do besides, such as letting go of all keys."""
        return getattr(self._desktop, name)

    def _refusal(self, name: str) -> str:
        if name not in self._allowed:
            return f"the task does not name the secret {name}, so that it is not typed"
        return f"there is no secret {name} of at least {SHORTEST} characters; the user can set {VARIABLE_PREFIX}{name}"

    def _hidden(self, element: Element) -> Element:
        """Return the element itself where it shows no secret."""
        hide = self._secrets.hide
        hidden = replace(
            element,
            name=hide(element.name),
            text=None if element.text is None else hide(element.text),
            label=hide(element.label),
            description=hide(element.description),
            path=tuple(map(hide, element.path)),
        )
        return element if hidden == element else hidden


def named_in(text: str) -> frozenset[str]:
    """Return the names of the secrets whose placeholders stand in a text."""
    return frozenset(PLACEHOLDER.findall(text))


def find_in(environment: Mapping[str, str]) -> Find:
    """Return a finder that looks into the environment, then into a keyring where that package is installed.

    Args:
        environment: Such as `os.environ`; holds `AGENT_S_SECRET_NAME`.
    """

    def find(name: str) -> str | None:
        from agent_s.llm.providers.api_keys import from_keyring

        variable = f"{VARIABLE_PREFIX}{name}"
        return environment.get(variable) or from_keyring(variable) or None

    return find


def _blackened(screenshot: NDArray[np.uint8], elements: list[Element]) -> NDArray[np.uint8]:
    if not elements:
        return screenshot
    pixels = screenshot.copy()
    for element in elements:
        rect = element.rect
        pixels[max(0, rect.y) : max(0, rect.bottom), max(0, rect.x) : max(0, rect.right)] = 0
    return pixels
