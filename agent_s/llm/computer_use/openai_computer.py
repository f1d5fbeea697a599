"""OpenAI's `computer` tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.acting.actions import PRIMITIVES
from aci.observation.geometry import Point
from aci.observation.observation import Observation
from agent_s.llm.computer_use.dialogue import KEPT_PICTURES, MOST_PICTURES, listed, recorded
from agent_s.llm.computer_use.frames import PATCH, fit
from agent_s.llm.computer_use.inputs import WHEEL_PX, Actions, Acts, Hand, act
from agent_s.llm.computer_use.turns import OWN_TOOLS, Call, Result, Turn, carried_out, own_call, own_tool_schema
from agent_s.llm.conversation import Conversation, Message
from agent_s.llm.providers.openai import Ending, data_url, reasoning
from agent_s.llm.providers.sdk_client import SdkClient
from agent_s.llm.providers.structured import Unreadable
from agent_s.settings import RequestSettings

MAX_PATCHES = 10_240_000 // PATCH**2  # a picture of `detail: original` is kept up to 10.24 megapixels
WAIT_S = 1.0  # of a `wait`, which names no time
DECLINED = (
    "Your last actions were not carried out: they need a person's consent, for a safety check of the provider, and "
    "nobody has given it. Do it in another way, ask the person, or fail."
)

Item = dict[str, Any]


class _Response(Ending):
    output: tuple[Item, ...]


@dataclass
class ComputerDialogue:
    """A conversation with the tool; see `Dialogue`.

    Nothing is stored by the provider, so every item is sent again, encrypted reasoning included. A call without its
    output is refused, and an output is a picture and nothing else; so turns are left out as a whole.
    """

    client: SdkClient
    settings: RequestSettings
    system: str
    key: str  # the same for all requests of the subtask, so that they reach the same cache
    request: str = ""
    turns: list[list[Item]] = field(default_factory=list)  # the first screen; then each turn with its results
    summary: list[str] = field(default_factory=list)  # the results of the turns that are left out
    _told: list[str] = field(default_factory=list)  # the result of each turn
    _answered: list[Item] = field(default_factory=list)  # the last turn of the model, still without results
    _hand: Hand | None = None

    def open(self, request: str, observation: Observation) -> None:
        """See `Dialogue.open`."""
        self.request = request
        self.turns = [[_user(_picture(self._shot(observation)))]]
        self._told = [""]

    def report(self, turn: Turn, results: Sequence[Result], notes: str, now: Observation, declined: bool) -> None:
        """See `Dialogue.report`."""
        pointer = self._hand.left_at(carried_out(results)) if self._hand is not None else None
        shot, told = self._shot(now, pointer), listed(results)
        asked, self._answered = self._answered, []
        if declined:
            self.turns.append([_user(_text(DECLINED), *([_text(notes)] if notes else []), _picture(shot))])
            self._told.append(DECLINED)
            return
        outputs = [output for item in asked if (output := _output(item, results, shot)) is not None]
        shown = any(output["type"] == "computer_call_output" for output in outputs)
        failed = [result for result in results if not result.ok and result.call.name not in OWN_TOOLS]
        texts = [text for text in ("What came of your actions:\n" + told if failed else "", notes) if text]
        parts = [*map(_text, texts), *([] if shown else [_picture(shot)])]
        self.turns.append([*asked, *outputs, *([_user(*parts)] if parts else [])])
        self._told.append(told)

    def sent(self) -> Conversation:
        """See `Dialogue.sent`."""
        if len(self.turns) > MOST_PICTURES:
            self.summary += [told for told in self._told[:-KEPT_PICTURES] if told]
            self.turns, self._told = self.turns[-KEPT_PICTURES:], self._told[-KEPT_PICTURES:]
        return Conversation(self.system, tuple(_recorded(item) for item in self._items()), self.key)

    def ask(self) -> Turn:
        """See `Dialogue.ask`."""
        request: dict[str, Any] = {
            "model": self.client.model,
            "instructions": self.system,
            "input": self._items(),
            "tools": [{"type": "computer"}, *map(_own_tool, OWN_TOOLS)],
            "max_output_tokens": self.settings.max_output_tokens,
            "prompt_cache_key": self.key,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        request |= reasoning(self.settings)
        response = self.client.call(lambda sdk: sdk.responses.with_raw_response.create, _Response, **request)
        parts = [part for item in response.output if item["type"] == "message" for part in item.get("content") or ()]
        text = "".join(str(part["text"]) for part in parts if part["type"] == "output_text")
        reply = response.as_reply(text, " ".join(str(part["refusal"]) for part in parts if part["type"] == "refusal"))
        # Fields without a value are not sent again.
        self._answered = [
            {name: value for name, value in item.items() if value is not None} for item in response.output
        ]
        checks = [check for item in response.output for check in item.get("pending_safety_checks") or ()]
        return Turn(
            tuple(call for item in response.output for call in self._calls(item)),
            reply,
            json.dumps(response.output, ensure_ascii=False),
            tuple(str(check.get("message") or check.get("code") or check["id"]) for check in checks),
        )

    def _shot(self, observation: Observation, pointer: Point | None = None) -> str:
        frame = fit(observation.screen, self.settings.longest_edge, MAX_PATCHES)
        self._hand = Hand(frame, pointer)
        return data_url(frame.shot(observation))

    def _items(self) -> list[Item]:
        return [_user(_text(self.request)), *self._summarized(), *(item for turn in self.turns for item in turn)]

    def _summarized(self) -> list[Item]:
        if not self.summary:
            return []
        return [_user(_text("Your earlier actions, of which the pictures are left out:\n" + "\n".join(self.summary)))]

    def _calls(self, item: Item) -> list[Call]:
        """Return the calls of an item of the answer, one for each action of a batch."""
        match item["type"]:
            case "function_call":
                return [_function(item)]
            case "computer_call":
                given = item.get("actions") or ([item["action"]] if item.get("action") else [])
                return [self._action(str(item["call_id"]), action) for action in given]
        return []

    def _action(self, identity: str, action: Mapping[str, Any]) -> Call:
        assert self._hand is not None  # A picture was sent before anything is answered.
        name = str(action.get("type"))
        if name == "screenshot":
            return Call(identity, name, shows=True)
        try:
            return Call(identity, name, act(name, action, self._hand, _ACTIONS))
        except Unreadable as problem:
            return Call(identity, name, problem=str(problem))


_BUTTONS: Mapping[str, Any] = {"left": "left", "right": "right", "wheel": "middle"}
_BROWSING: Mapping[str, tuple[str, str]] = {"back": ("alt", "Left"), "forward": ("alt", "Right")}
"""Buttons at the side of a mouse, and the keys that do the same."""


def _click(hand: Hand, action: Mapping[str, Any]) -> Actions:
    button = action["button"]
    if button in _BROWSING:
        return (*hand.move(_place(action)), *hand.press(_BROWSING[button]))
    if button not in _BUTTONS:
        raise Unreadable(f"there is no button {button!r}")
    return hand.click(_place(action), 1, _BUTTONS[button], action.get("keys"))


def _scroll(hand: Hand, action: Mapping[str, Any]) -> Actions:
    up, right = -action["scroll_y"] / WHEEL_PX, action["scroll_x"] / WHEEL_PX
    return hand.scroll(_place(action), up, right, action.get("keys"))


def _place(action: Mapping[str, Any]) -> tuple[Any, Any]:
    return action["x"], action["y"]


_ACTIONS: Mapping[str, Acts] = {
    "click": _click,
    "double_click": lambda hand, action: hand.click(_place(action), 2, keys=action.get("keys")),
    "drag": lambda hand, action: hand.drag([_place(point) for point in action["path"]], action.get("keys")),
    "keypress": lambda hand, action: hand.press(action["keys"]),
    "move": lambda hand, action: hand.move(_place(action), action.get("keys")),
    "scroll": _scroll,
    "type": lambda hand, action: hand.type(action["text"]),
    "wait": lambda hand, action: hand.wait(WAIT_S),
}
"""The actions of the tool, with what each does."""


def _function(item: Item) -> Call:
    identity, name = str(item["call_id"]), str(item["name"])
    try:
        fields = json.loads(item.get("arguments") or "{}")
    except ValueError as error:
        return Call(identity, name, problem=f"the arguments are not valid JSON: {error}")
    if not isinstance(fields, dict):
        return Call(identity, name, problem="the arguments are one JSON object")
    return own_call(identity, name, fields)


def _output(item: Item, results: Sequence[Result], shot: str) -> Item | None:
    """Return the output that belongs to an item of the model's turn; None if it needs none."""
    match item["type"]:
        case "computer_call":
            output = {"type": "computer_screenshot", "image_url": shot, "detail": "original"}
            checks = item.get("pending_safety_checks") or []
            acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
            return {"type": "computer_call_output", "call_id": item["call_id"], "output": output, **acknowledged}
        case "function_call":
            text = next((result.text for result in results if result.call.id == item["call_id"]), "OK")
            return {"type": "function_call_output", "call_id": item["call_id"], "output": text}
    return None


def _recorded(item: Item) -> Message:
    by_user = item.get("role") == "user" or item["type"].endswith("_output")
    return recorded("user" if by_user else "assistant", item["content"] if item.get("role") == "user" else [item])


def _own_tool(name: str) -> dict[str, Any]:
    description = (PRIMITIVES[name].__doc__ or "").strip()
    parameters = own_tool_schema(name)
    return {"type": "function", "name": name, "description": description, "parameters": parameters, "strict": True}


def _user(*parts: Item) -> Item:
    return {"role": "user", "content": list(parts)}


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _picture(url: str) -> Item:
    return {"type": "input_image", "image_url": url, "detail": "original"}
