"""Results of actions: whether they were carried out, how typed text arrived, and what changed on the screen.

Everything here is structured; `aci.acting.wording` turns it into text.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from aci.input.read_back import Delivery
from aci.observation.geometry import Point, Rect

Refusal = Literal[
    "unknown_id",  # no element of the latest observation has this id
    "off_screen",  # the point is not on the screen
    "no_text",  # the element has no text, or the words are not in it
    "out_of_sight",  # the words have to be scrolled into view first
    "not_selected",  # the words were not selected
    "stale",  # the element is gone or has changed
    "covered",  # something covers the element
    "not_typed",  # none of the text arrived
    "partly_typed",  # only a part of the text arrived
    "not_started",  # the application did not start
    "not_in_front",  # the window did not come to the front
    "no_key",  # there is no such key, or no key for a character
    "keys_held",  # a person holds a key down
    "not_allowed",  # the policy, a secret's rule or the stop key forbids it
    "not_confirmed",  # the person did not agree
    "no_answer",  # nobody is there to answer
    "interrupted",  # the person took over, or the run ended
]
"""Why an action was not carried out."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")


DifferenceKind = Literal[
    "opened", "closed", "title", "front",  # windows
    "states", "text", "value", "focus", "appeared", "vanished", "moved",  # elements
    "caret", "selection", "clipboard", "pixels",  # what is not an element
]  # fmt: skip


class Difference(_Value):
    """One difference between the screens before and after an action."""

    kind: DifferenceKind
    what: str = ""  # the window or element, by role and name; the rectangle of changed pixels
    before: str = ""
    after: str = ""
    count: int = 1  # number of elements that appeared, vanished, moved or changed in this way


Remark = Literal[
    "",
    "already",  # the field has the keyboard already, or the choice is already made
    "disabled",  # the element, or the one with the keyboard, is disabled
    "not_switched",  # the check box, radio button or toggle is in the same state as before
    "focus_elsewhere",  # the field that was clicked did not get the keyboard
    "no_window",  # no window of the application appeared
    "unasked_window",  # a dialog opened, although the action only types, scrolls or drags
    "alert",  # the application reports an error, or warns of something
    "crashed",  # an application crashed
    "invalid",  # the field is marked as invalid
]
"""What is remarkable about an effect."""


class Effect(_Value):
    """What an action changed on the screen."""

    # "none" if nothing changed, "other" if the action had an unintended effect
    kind: Literal["none", "expected", "other"]
    differences: tuple[Difference, ...] = ()  # what changed, most telling first
    remark: Remark = ""  # why there was no effect, or what is unexpected about it


class ActionResult(_Value):
    """The result of one primitive.

    Attributes:
        ok: Whether it was carried out; says nothing about whether it had the intended effect.
        error: Why it was not carried out, for the Worker to read; None when `ok`.
        settled_after_s: Seconds from the input until the screen was quiet.
        still: Whether the screen did not change during a wait and applications were idle; False if unknown.
        refusal: The kind of `error`; None when `ok`, or if a custom desktop does not provide it.
        delivery: How typed text arrived; None if none was typed.
        started: Name of the application that was started; empty if none was.
        switched_to: Title of the window that was brought to the front; empty if none was.
        copied: Whether the application put something on the clipboard.
        answer: The user's answer to a question.
        selected: The words that were selected; empty if none were.
        text: What was read; empty if nothing was.
        page: Number of the page that was read, from 1, and of all pages; (0, 0) if nothing was read.
        picture: The close-up of a zoom as a PNG file; None if there is none.
        area: The part of the screen that it shows, px.
        effect: What it changed; None until the screen after it has been observed.
        restless: Areas of the screen that change all the time, px.
        pointer: Position of the mouse pointer before the action, px; None if unknown.
        note: A remark of a custom desktop, or from a recording of an earlier version; for people and models.
    """

    ok: bool
    error: str | None = None
    settled_after_s: float = 0.0
    still: bool = False
    refusal: Refusal | None = None
    delivery: Delivery | None = None
    started: str = ""
    switched_to: str = ""
    copied: bool = False
    answer: str = ""
    selected: str = ""
    text: str = ""
    page: tuple[int, int] = (0, 0)
    picture: bytes | None = None
    area: Rect | None = None
    effect: Effect | None = None
    restless: tuple[Rect, ...] = ()
    pointer: Point | None = None
    note: str = ""

    @property
    def worked(self) -> bool:
        """Whether it was carried out and, as far as known, had an effect or was unnecessary."""
        return self.ok and (self.effect is None or self.effect.kind != "none" or self.effect.remark == "already")
