"""What answers the dialogs that an application shows at its first start, so that the rest of it can be explored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aci.acting.actions import Click, Hotkey
from aci.observation.identity import describe
from aci.observation.observation import Element, Observation, Window
from agent_s.records import GroundedStep
from agent_s.replay.grounding import window_says
from agent_s.replay.home_folder import without_home
from exploration.search.controls import BUTTON_ROLES, portable_description
from intents.labels import label

MOST_ANSWERS = 20
"""Maximum number of dialogs, or pages of an assistant, that are answered at a start; digiKam's has nine pages."""
_DIALOGS = ("dialog:", "alert:", "assistant:")
_ACCEPTING = ("leads_on", "accepts")
_DECLINING = ("skips", *_ACCEPTING)
_CHOICES = frozenset({"list item", "radio button"})
_MOST_IN_A_SIGN_IN = 20
_CLOSE = Hotkey(keys=("alt", "F4"))


def front_window(observation: Observation) -> Window | None:
    """Return the window that an application shows in front; None if there is none."""
    return observation.active_window or next((each for each in observation.windows if not each.popup), None)


def asks_for_password(observation: Observation) -> bool:
    """Return whether the window in front is there to sign in; some main windows have a password field as well."""
    front = front_window(observation)
    inside = _inside(front, observation)
    if front is None or not any(each.is_password for each in inside) or _has_menu_bar(front, observation):
        return False
    words = " ".join((front.title, *(element.name for element in inside)))
    return len(inside) <= _MOST_IN_A_SIGN_IN or bool(label("sign_in").match(words))


def is_splash_screen(observation: Observation) -> bool:
    """Return whether a window with neither a title nor a button covers another one of its program."""
    front = front_window(observation)
    if front is None or front.title or front.modal:
        return False
    if any(each.role in BUTTON_ROLES for each in _inside(front, observation)):
        return False
    return any(each.id != front.id and _same_program(each, front) for each in observation.windows if not each.popup)


def comes_again(before: Observation, now: Observation) -> bool:
    """Return whether the window in front is another one that says the same as the one before."""
    one, other = front_window(before), front_window(now)
    if one is None or other is None or one.id == other.id or one.title != other.title:
        return False
    texts = ([(each.role, each.name) for each in _inside(*shown)] for shown in ((one, before), (other, now)))
    return next(texts) == next(texts)


def answer(observation: Observation, declines: bool = True, again: bool = False) -> Click | Hotkey | None:
    """Return the action that answers a dialog, the one in front first; None if none can be answered.

    Beside or in another window of its application, a dialog is declined. If it is all that there is, it is accepted,
    since declining would end the application; where that needs a choice, the first one is taken. What cannot be
    accepted at once, such as an assistant that wants something filled in, is declined as well. Where one button is all
    that a dialog offers, it is pressed, unless it leads out of the application. What covers a window with a menu bar
    and has none itself, such as the first page of the manual, is closed.

    Args:
        observation: The screen with the dialog.
        declines: Whether a dialog may be declined; False where that ends the application.
        again: Whether the same has been answered before; it is told not to come again first, if it offers that.
    """
    if asks_for_password(observation):
        return None
    windows = [window for window in observation.windows if not window.popup]
    for window in sorted(windows, key=lambda each: not each.active):
        inside = _inside(window, observation)
        alone = not any(each.id != window.id and _same_program(each, window) for each in windows)
        element = (_silencing(inside) if again else None) or _answering(window, inside, alone, declines)
        if element is not None:
            return Click(element_id=element.id)
    front = observation.active_window
    behind = [each for each in windows if front is not None and each.id != front.id and _same_program(each, front)]
    covers = front is not None and not _has_menu_bar(front, observation)
    return _CLOSE if covers and any(_has_menu_bar(each, observation) for each in behind) else None


def _answering(window: Window, inside: Sequence[Element], alone: bool, declines: bool) -> Element | None:
    """Return what answers a window; None if it is no dialog, or nothing answers it."""
    if inside and all(_in_dialog(each.path[1:]) for each in inside):  # of a page, which hides all else
        return _button(inside, (*_DECLINING, "puts_aside"))
    if not (window.modal or any(_in_dialog(each.path[:1]) for each in inside) or (alone and _only_asks(inside))):
        return None
    accepting = _accepting(inside) if alone or not declines else None
    return accepting or (_button(inside, _DECLINING) if declines else None) or _only_button(inside)


def answer_step(answer: Click | Hotkey, observation: Observation, home: str) -> GroundedStep | None:
    """Return an answer as a step that can be replayed, only where the dialog says the same again.

    None for a key, which might close another window later.

    Args:
        answer: The answer.
        observation: The screen with the dialog.
        home: The path of the home.
    """
    button = observation.by_id.get(answer.element_id or 0) if isinstance(answer, Click) else None
    if button is None:
        return None
    target = portable_description(describe(button, observation), home)
    step = GroundedStep(
        action=answer,
        targets={"element_id": target},
        intent=f"click {button.name} in {target.window}",
        window_says=window_says(button.window_id, observation),
    )
    return without_home([step], Path(home))[0] if home else step


def _has_menu_bar(window: Window, observation: Observation) -> bool:
    return any(part.startswith("menu bar:") for each in _inside(window, observation) for part in each.path)


def _in_dialog(path: Sequence[str]) -> bool:
    return any(part.startswith(_DIALOGS) for part in path)


def _only_asks(inside: Sequence[Element]) -> bool:
    """Return whether a window has nothing but choices, buttons that accept one, and buttons that decline."""
    buttons = [each for each in inside if each.role in BUTTON_ROLES and not _is_any(each, ("resizes_window",))]
    declining = [each for each in buttons if _is_any(each, ("declines",))]
    accepting = [each for each in buttons if _is_any(each, _ACCEPTING)]
    others = (each for each in inside if "focusable" in each.states and each.role not in BUTTON_ROLES)
    answers = declining and accepting and all(each in declining or each in accepting for each in buttons)
    return bool(answers) and all(each.role in _CHOICES for each in others)


def _accepting(inside: Sequence[Element]) -> Element | None:
    """Return the button that accepts, or the first choice if it cannot be used without one."""
    if (button := _button(inside, _ACCEPTING)) or not any(_answers(each, _ACCEPTING) for each in inside):
        return button
    choices = [each for each in inside if each.role in _CHOICES and "disabled" not in each.states]
    return None if any(each.states & {"selected", "checked"} for each in choices) else next(iter(choices), None)


def _only_button(inside: Sequence[Element]) -> Element | None:
    """Return the one button of a dialog in which nothing but it and check boxes can be used."""
    usable = [each for each in inside if "focusable" in each.states and "disabled" not in each.states]
    buttons = [each for each in usable if each.role in BUTTON_ROLES]
    others = [each for each in usable if each.role not in BUTTON_ROLES]
    if len(buttons) != 1 or any(each.role != "check box" for each in others):
        return None
    return None if _is_any(buttons[0], ("applies", "leads_out")) else buttons[0]


def _silencing(inside: Sequence[Element]) -> Element | None:
    """Return the check box that keeps a dialog from coming again, unless it does so already."""
    kinds = {True: ("comes_again",), False: ("comes_no_more",)}
    boxes = (each for each in inside if each.role == "check box" and "disabled" not in each.states)
    return next((each for each in boxes if _is_any(each, kinds["checked" in each.states])), None)


def _button(inside: Sequence[Element], kinds: Sequence[str]) -> Element | None:
    """Return the first button of the first of some kinds that can be used."""
    buttons = [each for each in inside if each.role in BUTTON_ROLES and "disabled" not in each.states]
    return next((each for kind in kinds for each in buttons if _answers(each, (kind,))), None)


def _answers(button: Element, kinds: Sequence[str]) -> bool:
    return _is_any(button, kinds) and not _is_any(button, ("applies",))


def _is_any(button: Element, kinds: Sequence[str]) -> bool:
    return any(label(kind).fullmatch(button.name) for kind in kinds)


def _same_program(one: Window, other: Window) -> bool:
    return one.app == other.app or (one.pid is not None and one.pid == other.pid)


def _inside(window: Window | None, observation: Observation) -> list[Element]:
    return [each for each in observation.elements if window is not None and each.window_id == window.id]
