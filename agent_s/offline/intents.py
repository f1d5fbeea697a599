"""What a clause asks for: one frozen value for each kind of thing that can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_s.offline.keys import Chord
from agent_s.offline.targets import TargetQuery

Button = Literal["left", "middle", "right"]
Direction = Literal["up", "down", "left", "right"]
ConditionKind = Literal["shown", "gone", "contains", "state", "value"]


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds on the screen or does not.

    Attributes:
        kind: What is looked at.
        target: The element or window.
        text: What it must contain, the state that it must have, or its value.
        negated: Whether the opposite is meant.
        words: The condition as it was said.
    """

    kind: ConditionKind
    target: TargetQuery
    text: str = ""
    negated: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class OpenThing:
    """Open an application, or an element of that name on the screen; `app_only` where only an application can be meant."""

    name: str
    target: TargetQuery
    app_only: bool = False


@dataclass(frozen=True, slots=True)
class CloseThing:
    """Close something: what kind, its name ("" for the one in front), and what to do with unsaved changes.

    `leave` holds what the next clause is about, so that a question which that one answers is left to it.
    """

    what: Literal["window", "app", "dialog", "tab", "menu", "any"]
    name: str = ""
    changes: Literal["ask", "save", "discard"] = "ask"
    leave: tuple[TargetQuery, ...] = ()


@dataclass(frozen=True, slots=True)
class ClickOn:
    """Click elements one after another; `explore` says where to look for one that is not in sight."""

    targets: tuple[TargetQuery, ...]
    clicks: int = 1
    button: Button = "left"
    hold: tuple[str, ...] = ()
    times: int = 1
    explore: Literal["", "tabs", "sections"] = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class PressKeys:
    """Press chords one after another, all of it so many times; `label` is what was said where it may name a button."""

    chords: tuple[Chord, ...]
    times: int = 1
    label: str = ""


@dataclass(frozen=True, slots=True)
class TypeText:
    """Type a text.

    Attributes:
        text: What to type.
        target: Where; None for where the keyboard is.
        mode: Replace what is there, add to it, or what is usual for the kind of field.
        enter: Whether Return follows.
        otherwise: The text to type at the focus where `target` is nowhere, because the words may have been text.
        optional: Whether the text goes to the focus where `target` is nowhere.
        kept: Name under which a text was copied before, where that is to be typed.
    """

    text: str
    target: TargetQuery | None = None
    mode: Literal["usual", "replace", "append"] = "usual"
    enter: bool = False
    otherwise: str | None = None
    optional: bool = False
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class FillIn:
    """Set several fields by name; `submit` names what to click afterwards."""

    fields: tuple[tuple[TargetQuery, str], ...]
    submit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EnterCells:
    """Put texts into cells of a sheet, by address."""

    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GoToCell:
    """Select a cell or a range of a sheet."""

    address: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace a text by another in a field or document."""

    old: str
    new: str
    target: TargetQuery | None = None


@dataclass(frozen=True, slots=True)
class ClearField:
    """Empty a field."""

    target: TargetQuery


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """Choose values, from a list, group or menu where one is named; `said` is the list as one phrase."""

    values: tuple[TargetQuery, ...]
    source: TargetQuery | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class SetChecked:
    """Give boxes, switches and the like a state; `state` None flips it."""

    targets: tuple[TargetQuery, ...]
    state: bool | None = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class SetValue:
    """Give a control a value, in whatever way its kind takes one; `steps` changes it by that much instead."""

    target: TargetQuery
    value: str
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class FollowPath:
    """Follow a path through menus, trees and tabs."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unfold:
    """Expand or collapse an element."""

    target: TargetQuery
    expanded: bool = True


@dataclass(frozen=True, slots=True)
class ScrollView:
    """Scroll in a direction, to an end, or until something is in sight."""

    direction: Direction = "down"
    clicks: int | None = None
    to_end: bool = False
    until: TargetQuery | None = None
    within: TargetQuery | None = None


@dataclass(frozen=True, slots=True)
class SaveFile:
    """Save a document; a name or folder makes it "save as".

    Attributes:
        name: File name, "" for the one that it has.
        folder: Folder as it was said, "" for where the dialog is.
        overwrite: Whether an existing file may be replaced: only if that was asked.
        format: Format that was asked for, "" where none was.
        save_as: Whether a name or folder was given.
        leave: What the next clause is about, so that a question which that one answers is left to it.
    """

    name: str = ""
    folder: str = ""
    overwrite: bool = False
    format: str = ""
    save_as: bool = False
    leave: tuple[TargetQuery, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Open a file in the application in front."""

    path: str


@dataclass(frozen=True, slots=True)
class GoToAddress:
    """Show a web page."""

    url: str


@dataclass(frozen=True, slots=True)
class SearchFor:
    """Search for a text, in a search field that the screen shows or with the application's own search."""

    text: str
    target: TargetQuery | None = None


@dataclass(frozen=True, slots=True)
class KeepText:
    """Read a text from the screen and keep it.

    Attributes:
        what: How it is called afterwards.
        target: What it is, or what it stands in.
        literal: The text itself where it was given.
        word: Which word of it alone is meant, from 1, or from -1 backwards.
    """

    what: str
    target: TargetQuery
    literal: str | None = None
    word: int | None = None


@dataclass(frozen=True, slots=True)
class PasteText:
    """Insert what was copied: the kept text if there is one, else the clipboard."""

    target: TargetQuery | None = None


@dataclass(frozen=True, slots=True)
class DragOnto:
    """Drag one element onto another."""

    source: TargetQuery
    destination: TargetQuery


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait until something holds, at most `seconds`."""

    condition: Condition
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class LookWhether:
    """Look whether something holds, and change nothing."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class AnswerDialog:
    """Answer the dialog in front with its button of that meaning."""

    answer: Literal["accept", "cancel", "yes", "no", "close"]


@dataclass(frozen=True, slots=True)
class FocusOn:
    """Give an element the keyboard without changing it."""

    target: TargetQuery


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """A clause that asks for nothing, such as "select nothing"."""


@dataclass(frozen=True, slots=True)
class Command:
    """Words that may be the name of a button or menu entry; nothing else can be meant by them."""

    words: str


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """Words that have no reading."""

    words: str


@dataclass(frozen=True, slots=True)
class InPlace:
    """An intent that is meant in a certain application, window or part of a window."""

    place: TargetQuery
    intent: Intent


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """An intent that is meant only where something holds."""

    condition: Condition
    intent: Intent


@dataclass(frozen=True, slots=True)
class RepeatUntil:
    """An intent that is repeated until something holds."""

    intent: Intent
    condition: Condition


@dataclass(frozen=True, slots=True)
class InTurn:
    """Several intents, one after another."""

    intents: tuple[Intent, ...]


Intent = (
    OpenThing
    | CloseThing
    | ClickOn
    | PressKeys
    | TypeText
    | FillIn
    | EnterCells
    | GoToCell
    | ReplaceText
    | ClearField
    | SelectOptions
    | SetChecked
    | SetValue
    | FollowPath
    | Unfold
    | ScrollView
    | SaveFile
    | OpenFile
    | GoToAddress
    | SearchFor
    | KeepText
    | PasteText
    | DragOnto
    | Pause
    | WaitFor
    | LookWhether
    | AnswerDialog
    | FocusOn
    | NothingToDo
    | Command
    | NotUnderstood
    | InPlace
    | OnlyIf
    | RepeatUntil
    | InTurn
)
"""Any intent."""
