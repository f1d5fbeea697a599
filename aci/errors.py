"""Errors of the agent-computer interface.

```
AciError
├── MissingDependency      a program or library of the system is absent; the message says how to install it
├── DesktopError           the desktop cannot be used
│   ├── NoDisplay          there is no X display to connect to
│   ├── StartFailed        a part of a virtual desktop did not come up
│   ├── ConnectionLost     the display or the accessibility bus went away
│   └── Halted             the person at the screen stopped everything
├── KeysHeld               the user holds a modifier key or mouse button, which would change the meaning of input
├── CannotType             the input back end has no keys for a text
├── RecognitionFailed      an OCR engine could not process a picture
├── LaunchFailed           an application could not be started or never showed a window
├── NotTranslatable        a primitive has no form in another action space
├── UnreadableTree         an accessibility tree of another machine could not be read
└── MalformedAction        a primitive on the wire could not be read
```

An action that cannot be performed raises nothing; its `ActionResult` has `ok=False` and a reason.
"""

from __future__ import annotations


class AciError(Exception):
    """Base of every error that this package raises."""


class MissingDependency(AciError):
    """A program or library of the system is absent.

    Attributes:
        hint: The command that installs what is missing; "" if unknown.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} Install it with: {hint}" if hint else message)
        self.hint = hint


class DesktopError(AciError):
    """The desktop cannot be used."""


class NoDisplay(DesktopError):
    """There is no X display to connect to."""


class StartFailed(DesktopError):
    """A part of a virtual desktop did not come up."""


class ConnectionLost(DesktopError):
    """The display or the accessibility bus went away during use."""


class Halted(DesktopError):
    """The person at the screen stopped everything, by the stop key or the mouse in a corner."""


class KeysHeld(AciError):
    """The user holds a modifier key or mouse button, which would change the meaning of input."""


class CannotType(AciError):
    """The input back end has no keys for a part of the text, which the message names. Nothing was typed."""


class RecognitionFailed(AciError):
    """An OCR engine could not process a picture."""


class LaunchFailed(AciError):
    """An application could not be started, or never showed a window."""


class NotTranslatable(AciError):
    """A primitive has no form in another action space; the message says why."""


class UnreadableTree(AciError):
    """An accessibility tree of another machine could not be read; the message is a clause that says why."""


class MalformedAction(AciError):
    """A primitive on the wire could not be read; the message says what is wrong with it."""
