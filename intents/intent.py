"""Typed requests: one frozen model for each kind of intent, discriminated by `kind`.

```
Switch(object="line numbers", state="on")    "turn on line numbers", "show the line numbers", "line numbers on"
Choose(object="theme", value="dark")         "set the theme to dark", "choose dark as the theme"
Do(verb="sort", object="rows")               "sort the rows"
```

`INTENT.validate_python`, `INTENT.validate_json` and `INTENT.dump_json` convert an intent from and to JSON.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class BaseIntent(BaseModel):
    """The fields that all intents share; an empty text means that the sentence does not specify it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    _article: ClassVar[str] = "the "

    # the verb as the sentence has it, in its base form and with its particle: "show", "turn on"; empty in an intent
    # that was not read from a sentence
    verb: str = ""
    object: str = ""  # what it is done to or with: a setting, a control, a window, a file; without leading articles
    value: str = ""  # what is chosen, typed, set, or given as a name
    place: str = ""  # where it is done, such as the "View menu"
    application: str = ""  # the application that the sentence names

    @property
    def sentence(self) -> str:
        """An English sentence that expresses the intent."""
        named = self.application.casefold() in f"{self.object} {self.value}".casefold()
        place = f"in {self._article}{self.place}" if self.place else ""
        application = f"in {self.application}" if not named else ""
        return " ".join(part for part in (*self._words(), place, application) if part)

    def _words(self) -> tuple[str, ...]:
        return (self.verb, self.object, self.value)


class Switch(BaseIntent):
    """Switch a setting or a part of the window on or off."""

    kind: Literal["switch"] = "switch"
    state: Literal["on", "off", "toggle"]

    def _words(self) -> tuple[str, ...]:
        verb = "toggle" if self.state == "toggle" else f"turn {self.state}"
        return (self.verb or verb, self.object)


class Choose(BaseIntent):
    """Choose one of several values; `object` is the setting or the list, empty if the value is sufficient."""

    kind: Literal["choose"] = "choose"

    def _words(self) -> tuple[str, ...]:
        if self.object and self.value and self.verb in ("", "set", "change", "switch", "adjust"):
            return (self.verb or "set", self.object, "to", self.value)
        if self.object and self.value:
            return (self.verb, self.value, "for", self.object)
        return (self.verb or "choose", self.value or self.object)


class Open(BaseIntent):
    """Open a window, a menu, a file or an application."""

    kind: Literal["open"] = "open"

    def _words(self) -> tuple[str, ...]:
        return (self.verb or "open", self.object)


class Close(BaseIntent):
    """Close a window, a file or an application."""

    kind: Literal["close"] = "close"

    def _words(self) -> tuple[str, ...]:
        return (self.verb or "close", self.object)


class Press(BaseIntent):
    """Press keys; each item of `keys` is a chord such as "ctrl+s"."""

    kind: Literal["press"] = "press"
    keys: tuple[str, ...]
    count: int = Field(default=1, ge=1)

    def _words(self) -> tuple[str, ...]:
        return (self.verb or "press", ", ".join(self.keys), _times(self.count))


class Click(BaseIntent):
    """Click on a control."""

    kind: Literal["click"] = "click"
    count: int = Field(default=1, ge=1)
    button: Literal["left", "middle", "right"] = "left"

    def _words(self) -> tuple[str, ...]:
        verb = f"{self.button}-click" if self.button != "left" else "double-click" if self.count == 2 else "click"
        return (self.verb or verb, self.object)


class Type(BaseIntent):
    """Type a text, `value`; `object` is the field, empty for the one that has the focus."""

    kind: Literal["type"] = "type"
    quoted: bool = True  # whether the text is literal; "type pi" may name a sign or a key, "type 'pi'" does not

    def _words(self) -> tuple[str, ...]:
        verb = "type" if self.verb.startswith("fill") else self.verb or "type"
        return (verb, f'"{self.value}"' if self.quoted else self.value, f"into {self.object}" if self.object else "")


class SetValue(BaseIntent):
    """Set a number or another free value, `value`, of the setting `object`."""

    kind: Literal["set_value"] = "set_value"

    def _words(self) -> tuple[str, ...]:
        return ("set", self.object, "to", self.value)


class Save(BaseIntent):
    """Save the document; `value` is the file name and `place` the folder, both empty to save it where it is."""

    kind: Literal["save"] = "save"
    _article: ClassVar[str] = ""

    def _words(self) -> tuple[str, ...]:
        return ("save", self.object, f"as {self.value}" if self.value else "")


class Ask(BaseIntent):
    """Answer a question, `object`, without changing anything."""

    kind: Literal["ask"] = "ask"


class Do(BaseIntent):
    """Any other request: the verb, with the rest of the sentence as `object`."""

    kind: Literal["do"] = "do"


Intent = Annotated[
    Switch | Choose | Open | Close | Press | Click | Type | SetValue | Save | Ask | Do, Field(discriminator="kind")
]
"""Any intent."""

KINDS: dict[str, type[BaseIntent]] = {
    model.model_fields["kind"].default: model
    for model in (Switch, Choose, Open, Close, Press, Click, Type, SetValue, Save, Ask, Do)
}

INTENT: TypeAdapter[Intent] = TypeAdapter(Intent)
"""Validates an intent from Python or JSON values."""


def _times(count: int) -> str:
    return f"{count} times" if count > 1 else ""
