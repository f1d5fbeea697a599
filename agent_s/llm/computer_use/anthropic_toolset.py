"""Anthropic's computer toolset (`computer_toolset_20260801`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.acting.actions import PRIMITIVES, Button
from aci.observation.geometry import Point
from aci.observation.observation import Observation
from agent_s.llm.computer_use.dialogue import KEPT_PICTURES, MOST_PICTURES, position, recorded, zoomed
from agent_s.llm.computer_use.frames import fit
from agent_s.llm.computer_use.inputs import Actions, Acts, Hand, act
from agent_s.llm.computer_use.turns import OWN_TOOLS, Call, Result, Turn, carried_out, own_call, own_tool_schema
from agent_s.llm.conversation import Conversation, Picture
from agent_s.llm.providers.anthropic import CACHED, Ending
from agent_s.llm.providers.sdk_client import SdkClient
from agent_s.llm.providers.structured import Unreadable
from agent_s.settings import RequestSettings

TOOLSET = "computer"
MAX_EDGE = 2000  # px; 2576 is allowed while a request has at most 20 pictures
MAX_PATCHES = 4784
THINKING = ("thinking", "redacted_thinking")
LEFT_OUT = {"type": "text", "text": "(an earlier picture, left out)"}


class _Message(Ending):
    content: tuple[dict[str, Any], ...]


@dataclass
class ToolsetDialogue:
    """A conversation with the toolset; see `Dialogue`.

    Thinking is bound to everything before it, so messages are only appended. When pictures are left out, the thinking
    after them is as well: the API refuses it then.
    """

    client: SdkClient
    settings: RequestSettings
    system: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    _hand: Hand | None = None

    def open(self, request: str, observation: Observation) -> None:
        """See `Dialogue.open`."""
        self._messages_from_user([{"type": "text", "text": request}, self._shot(observation)])

    def report(self, turn: Turn, results: Sequence[Result], notes: str, now: Observation, declined: bool) -> None:
        """See `Dialogue.report`."""
        pointer = self._hand.left_at(carried_out(results)) if self._hand is not None else None
        blocks = [self._result(result) for result in results]
        shot: dict[str, Any] | None = self._shot(now, pointer)
        if blocks and results[-1].ok and results[-1].call.name not in OWN_TOOLS and not results[-1].call.shows:
            blocks[-1]["content"].append(shot)
            shot = None
        elif results and results[-1].ok and results[-1].call.shows:
            shot = None
        blocks += [{"type": "text", "text": notes}] if notes else []
        self._messages_from_user([*blocks, *([shot] if shot is not None else [])])

    def sent(self) -> Conversation:
        """See `Dialogue.sent`."""
        self._leave_out_pictures()
        return Conversation(self.system, tuple(recorded(one["role"], one["content"]) for one in self.messages), "")

    def ask(self) -> Turn:
        """See `Dialogue.ask`."""
        request: dict[str, Any] = {
            "model": self.client.model,
            "max_tokens": self.settings.max_output_tokens,
            "system": [{"type": "text", "text": self.system, **CACHED}],
            "tools": [{"type": "computer_toolset_20260801"}, *map(_own_tool, OWN_TOOLS)],
            "messages": self._marked(),
        }
        if self.settings.effort is not None:
            request["output_config"] = {"effort": self.settings.effort}
        if self.settings.thinking is not None:
            request["thinking"] = {"type": "adaptive" if self.settings.thinking else "disabled"}
        message = self.client.call(lambda sdk: sdk.messages.with_raw_response.create, _Message, **request)
        if message.content:
            self.messages.append({"role": "assistant", "content": list(message.content)})
        texts = [str(block.get("text", "")) for block in message.content if block.get("type") == "text"]
        calls = tuple(self._call(block) for block in message.content if block.get("type") == "tool_use")
        return Turn(calls, message.as_reply("".join(texts)), json.dumps(message.content, ensure_ascii=False))

    # The user's side

    def _messages_from_user(self, content: list[dict[str, Any]]) -> None:
        """Add a message; roles alternate, so what follows a message without an answer joins it."""
        if self.messages and self.messages[-1]["role"] == "user":
            self.messages[-1]["content"] += content
        else:
            self.messages.append({"role": "user", "content": content})

    def _shot(self, observation: Observation, pointer: Point | None = None) -> dict[str, Any]:
        frame = fit(observation.screen, min(self.settings.longest_edge, MAX_EDGE), MAX_PATCHES)
        self._hand = Hand(frame, pointer)
        return _image(frame.shot(observation))

    def _result(self, result: Result) -> dict[str, Any]:
        own = result.call.name in OWN_TOOLS
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call.id}
        block |= {} if own else {"toolset_name": TOOLSET}
        if not result.ok:
            return {**block, "is_error": True, "content": [{"type": "text", "text": result.text}]}
        picture = zoomed(result, min(self.settings.longest_edge, MAX_EDGE), MAX_PATCHES)
        if picture is not None:
            return {**block, "content": [_image(picture)]}
        if result.call.shows:
            return {**block, "content": [self._shot(result.after)]}
        return {**block, "content": [{"type": "text", "text": result.text}]}

    def _leave_out_pictures(self) -> None:
        pictures = [
            (content, place)
            for message in self.messages
            for content in (
                message["content"],
                *(block["content"] for block in message["content"] if "tool_use_id" in block),
            )
            for place, block in enumerate(content)
            if block["type"] == "image"
        ]
        if len(pictures) <= MOST_PICTURES:
            return
        for content, place in pictures[:-KEPT_PICTURES]:
            content[place] = LEFT_OUT
        for message in self.messages:
            if message["role"] == "assistant":
                message["content"] = [block for block in message["content"] if block["type"] not in THINKING]

    def _marked(self) -> list[dict[str, Any]]:
        """Return the messages with the ends of the last two of the user marked for the provider's cache."""
        marked = list(self.messages)
        for place in [place for place, message in enumerate(marked) if message["role"] == "user"][-2:]:
            *content, last = marked[place]["content"]
            marked[place] = {**marked[place], "content": [*content, {**last, **CACHED}]}
        return marked

    # The model's side

    def _call(self, block: Mapping[str, Any]) -> Call:
        identity, name, fields = str(block["id"]), str(block["name"]), block["input"]
        if block.get("toolset_name") != TOOLSET:
            return own_call(identity, name, fields)
        assert self._hand is not None  # A picture was sent before anything is answered.
        hand = self._hand
        if name == "screenshot":
            return Call(identity, name, shows=True)
        try:
            if name == "cursor_position":
                where = position(hand.pointer, hand.frame)
                return Call(identity, name, answer=where, problem="" if where else "the pointer was not moved yet")
            return Call(identity, name, act(name, fields, hand, _MEMBERS))
        except Unreadable as problem:
            return Call(identity, name, problem=str(problem))


def _click(count: int, button: Button) -> Acts:
    return lambda hand, fields: hand.click(fields.get("coordinate"), count, button, fields.get("text"))


def _press(hand: Hand, fields: Mapping[str, Any]) -> Actions:
    return hand.press(fields["text"], fields.get("repeat") or 1)


def _scroll(hand: Hand, fields: Mapping[str, Any]) -> Actions:
    across, down = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}[fields["scroll_direction"]]
    amount = fields["scroll_amount"]
    return hand.scroll(fields.get("coordinate"), down * amount, across * amount, fields.get("text"))


_MEMBERS: Mapping[str, Acts] = {
    "left_click": _click(1, "left"),
    "right_click": _click(1, "right"),
    "middle_click": _click(1, "middle"),
    "double_click": _click(2, "left"),
    "triple_click": _click(3, "left"),
    "left_click_drag": lambda hand, fields: hand.drag(
        [fields["start_coordinate"], fields["coordinate"]], fields.get("text")
    ),
    "mouse_move": lambda hand, fields: hand.move(fields["coordinate"]),
    "left_mouse_down": lambda hand, fields: hand.button(down=True),
    "left_mouse_up": lambda hand, fields: hand.button(down=False),
    "scroll": _scroll,
    "type": lambda hand, fields: hand.type(fields["text"]),
    "key": _press,
    "hold_key": lambda hand, fields: hand.hold(fields["text"], fields["duration"]),
    "wait": lambda hand, fields: hand.wait(fields["duration"]),
    "zoom": lambda hand, fields: hand.zoom(fields["region"]),
}
"""The members that act or look closer, with what each does."""


def _own_tool(name: str) -> dict[str, Any]:
    description = (PRIMITIVES[name].__doc__ or "").strip()
    return {"name": name, "description": description, "input_schema": own_tool_schema(name), "strict": True}


def _image(picture: Picture) -> dict[str, Any]:
    data = base64.b64encode(picture.data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": picture.media_type, "data": data}}
