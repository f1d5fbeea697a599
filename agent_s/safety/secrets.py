"""Secrets: `{{secret:NAME}}` is a placeholder that is resolved only at the moment of input.

The model, events, recordings and memory contain only the placeholder. In later observations, typed values are replaced
by it in texts, and the elements that show them are blackened in the screenshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aci.acting.actions import Action, Type
from aci.acting.looking import close_up
from aci.acting.settle import Settles
from aci.desktop.desktop import ActionResult, Desktop, DesktopWrapper
from aci.observation.observation import Element, Observation, Window
from aci.safety.risk_words import SECRET

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PLACEHOLDER = re.compile(r"\{\{secret:([A-Za-z0-9_-]{1,64})\}\}")
VARIABLE_PREFIX = "AGENT_S_SECRET_"
MIN_LENGTH = 4  # minimum length of a secret; hiding a shorter one would hide unrelated text

Find = Callable[[str], str | None]  # returns the secret of a name, or None


class Secrets:
    """Looks up secrets, and hides those that were used."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._used: dict[str, str] = {}

    def __repr__(self) -> str:
        """Return the names of used secrets, never their values."""
        return f"Secrets(used={sorted(self._used)})"

    def value(self, name: str) -> str | None:
        """Return a secret, or None if there is none of sufficient length."""
        value = self._used.get(name) or self._find(name)
        if value is None or len(value) < MIN_LENGTH:
            return None
        self._used[name] = value
        return value

    def problem(self, text: str) -> str:
        """Return why the secrets in a text cannot be typed; empty if they can. This does not mark them as used."""
        if len(SECRET.findall(text)) > len(PLACEHOLDER.findall(text)):
            return "a secret is written {{secret:NAME}}, with letters, digits, '-' and '_' in its name and no blanks"
        missing = [name for name in named_in(text) if len(self._find(name) or "") < MIN_LENGTH]
        return _describe_missing(sorted(missing)) if missing else ""

    @property
    def any_used(self) -> bool:
        """Whether a secret was used."""
        return bool(self._used)

    def hide(self, text: str) -> str:
        """Return a text with used secrets replaced by their placeholders, longest first."""
        for name, value in sorted(self._used.items(), key=lambda item: -len(item[1])):
            text = text.replace(value, f"{{{{secret:{name}}}}}")
        return text


class SecretDesktop(DesktopWrapper):
    """A desktop that types secrets in place of their placeholders, and hides them in observations.

    Args:
        desktop: The wrapped desktop.
        secrets: The secrets.
        allowed: Names that may be used, which are those in the user's task, so that text on the screen cannot make a
            model type another one.
    """

    def __init__(self, desktop: Desktop, secrets: Secrets, allowed: frozenset[str]) -> None:
        super().__init__(desktop)
        self._secrets = secrets
        self._allowed = allowed

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Return an observation with used secrets hidden; texts are always recognized if they could contain one."""
        seen = self._desktop.observe(read_texts or bool(self._allowed), check)
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

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows, with used secrets hidden in their titles."""
        windows, hide = self._desktop.windows(), self._secrets.hide
        return None if windows is None else [replace(window, title=hide(window.title)) for window in windows]

    def element_now(self, element: Element) -> Element | None:
        """Return the current state of an element, with used secrets hidden."""
        now = self._desktop.element_now(element)
        return None if now is None else self._hidden(now)

    def glance(self, ids: Collection[int]) -> Observation | None:
        """Refresh a part of the latest observation; None once a secret was used."""
        return None if self._secrets.any_used else self._desktop.glance(ids)

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive, with placeholders in typed text replaced by secrets."""
        if isinstance(action, Type):
            names = named_in(action.text)
            values = {name: self._secrets.value(name) if name in self._allowed else None for name in names}
            missing = sorted(name for name, value in values.items() if value is None)
            if missing:
                return ActionResult(ok=False, error=self._refusal(missing[0]), refusal="not_allowed")
            text = PLACEHOLDER.sub(lambda match: values[match[1]] or "", action.text)
            action = action.model_copy(update={"text": text})
        result = self._desktop.perform(action, settle)
        hide, delivery = self._secrets.hide, result.delivery
        update: dict[str, object] = {
            "error": None if result.error is None else hide(result.error),
            "note": hide(result.note),
            "text": hide(result.text),
            "selected": hide(result.selected),
            "delivery": None if delivery is None else delivery.model_copy(update={"reads": hide(delivery.reads)}),
        }
        if result.picture is not None and result.area is not None and self._secrets.any_used:
            update["picture"] = close_up(self.observe().screenshot, result.area)
        return result.model_copy(update=update)

    def _refusal(self, name: str) -> str:
        if name not in self._allowed:
            return f"the task does not name the secret {name}, so it is not typed"
        return _describe_missing([name])

    def _hidden(self, element: Element) -> Element:
        """Return an element with secrets hidden, or the same object if it shows none."""
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
    """Return the names of the secrets in a text."""
    return frozenset(PLACEHOLDER.findall(text))


def find_in(environment: Mapping[str, str]) -> Find:
    """Return a lookup function that searches the environment, then a keyring if that package is installed.

    Args:
        environment: Environment variables such as `AGENT_S_SECRET_NAME`; usually `os.environ`.
    """

    def find(name: str) -> str | None:
        from agent_s.llm.providers.api_keys import from_keyring

        variable = f"{VARIABLE_PREFIX}{name}"
        return environment.get(variable) or from_keyring(variable) or None

    return find


def _describe_missing(names: Sequence[str]) -> str:
    """Return a message about missing secrets, with the fix."""
    listed, variables = ", ".join(names), ", ".join(VARIABLE_PREFIX + name for name in names)
    return f"there is no secret {listed} of at least {MIN_LENGTH} characters; set {variables}"


def _blackened(screenshot: NDArray[np.uint8], elements: list[Element]) -> NDArray[np.uint8]:
    if not elements:
        return screenshot
    pixels = screenshot.copy()
    for element in elements:
        rect = element.rect
        pixels[max(0, rect.y) : max(0, rect.bottom), max(0, rect.x) : max(0, rect.right)] = 0
    return pixels
