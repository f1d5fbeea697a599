"""Simulated services of computer tools in their strict form: they answer 400 to what the real ones refuse."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from tests.wire.formats import KEY, credentials, strictness
from tests.wire.server import Http, Seen, Turn

Block = dict[str, Any]
HALTED = "Not executed: an earlier computer action in this turn failed."
MEMBERS = {
    "screenshot", "zoom", "left_click", "right_click", "middle_click", "double_click", "triple_click",
    "left_click_drag", "mouse_move", "left_mouse_down", "left_mouse_up", "cursor_position", "scroll", "type", "key",
    "hold_key", "wait",
}  # fmt: skip


def picture(data: str) -> Image.Image:
    """Return the picture of a data URL or of base64."""
    return Image.open(io.BytesIO(base64.b64decode(data.rpartition(",")[2]))).convert("RGB")


@dataclass
class Strict:
    """Checks of one service, and how often it refused."""

    refused: list[str] = field(default_factory=list)
    seen: list[Any] = field(default_factory=list)  # bodies of the requests
    pictures: list[Image.Image] = field(default_factory=list)  # the last picture of each request

    def answering(self, *turns: Sequence[Block] | Callable[[Image.Image], Sequence[Block]]) -> list[Turn]:
        """Return turns for a `WireServer`: blocks, or a function that makes them from the last picture."""
        return [lambda seen, turn=turn: self._turn(seen, turn) for turn in turns]

    def _turn(self, seen: Seen, turn: Any) -> Http:
        self.seen.append(copy.deepcopy(seen.body))
        try:
            self.check(seen)
        except (AssertionError, KeyError, IndexError, TypeError) as problem:
            message = f"{type(problem).__name__}: {problem}"
            self.refused.append(message)
            return Http(400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        shown = [picture(data) for data in self.sent_pictures(seen.body)]
        if shown:
            self.pictures.append(shown[-1])
        return self.answer(seen.body, turn(shown[-1]) if callable(turn) else turn)

    def check(self, seen: Seen) -> None:
        raise NotImplementedError

    def sent_pictures(self, body: Any) -> list[str]:
        raise NotImplementedError

    def answer(self, body: Any, blocks: Sequence[Block]) -> Http:
        raise NotImplementedError


def use(name: str, **fields: Any) -> Block:
    """A call of a member of Anthropic's toolset."""
    return {"type": "tool_use", "name": name, "toolset_name": "computer", "input": fields}


def own(name: str, **fields: Any) -> Block:
    """A call of a function of ours."""
    return {"type": "tool_use", "name": name, "input": fields}


def says(text: str) -> Block:
    return {"type": "text", "text": text}


@dataclass
class StrictToolset(Strict):
    """Anthropic's Messages API with `computer_toolset_20260801`, as for its newest models."""

    most_images: int = 100
    sent: list[list[Block]] = field(default_factory=list)  # the content of its answers
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def sent_pictures(self, body: Any) -> list[str]:
        return [block["source"]["data"] for block in _anthropic_images(body["messages"])]

    def check(self, seen: Seen) -> None:
        body = seen.body
        assert seen.path == "/v1/messages" and KEY in credentials(seen)
        assert "fine-grained" not in seen.headers.get("anthropic-beta", "")
        unknown = set(body) - {
            "model",
            "max_tokens",
            "system",
            "tools",
            "tool_choice",
            "messages",
            "output_config",
            "thinking",
        }
        assert not unknown, f"unknown fields {unknown}"
        assert body.get("tool_choice", {"type": "auto"})["type"] in ("auto", "none"), "tool_choice"
        assert body.get("thinking", {"type": "adaptive"})["type"] == "adaptive", "thinking cannot be disabled"
        self._check_tools(body["tools"])
        messages = body["messages"]
        roles = [message["role"] for message in messages]
        assert roles[0] == roles[-1] == "user" and all(a != b for a, b in itertools.pairwise(roles)), f"roles {roles}"
        blocks = [block for message in messages for block in message["content"]]
        inner = [part for block in blocks if block["type"] == "tool_result" for part in block["content"]]
        marked = [block for block in [*body["system"], *body["tools"], *blocks, *inner] if "cache_control" in block]
        assert len(marked) <= 4, "more than 4 breakpoints"
        assert all(block["text"].strip() for block in [*blocks, *inner] if block["type"] == "text"), "an empty text"
        self._check_answers([message for message in messages if message["role"] == "assistant"])
        for asked, told in zip(messages[1::2], messages[2::2], strict=True):
            _check_results(asked["content"], told["content"])
        self._check_thinking(body)
        self._check_images(body)

    def _check_tools(self, tools: Sequence[Block]) -> None:
        toolsets = [tool for tool in tools if tool.get("type") == "computer_toolset_20260801"]
        assert len(toolsets) == 1, "one toolset"
        assert set(toolsets[0]) <= {"type", "configs", "cache_control", "allowed_callers"}, "fields of the toolset"
        assert set(toolsets[0].get("configs") or {}) <= MEMBERS, "members"
        for tool in tools:
            if tool is not toolsets[0]:
                assert tool["name"] != "computer" and set(tool) <= {"name", "description", "input_schema", "strict"}
                assert strictness(tool["input_schema"]) == []

    def _check_answers(self, messages: Sequence[Block]) -> None:
        """The model's turns are sent back as they were; only thinking may be left out."""
        given = [[block for block in content if block["type"] != "thinking"] for content in self.sent]
        got = [[_plain(block) for block in message["content"] if block["type"] != "thinking"] for message in messages]
        assert got == given[-len(got) :] if got else True, "an answer was changed"

    def _check_thinking(self, body: Any) -> None:
        for number, message in enumerate(body["messages"]):
            for block in message["content"]:
                if block["type"] == "thinking":
                    right = _signature(body, body["messages"][:number])
                    assert block["signature"] == right, "The block is bound to a different conversation."

    def _check_images(self, body: Any) -> None:
        images = list(_anthropic_images(body["messages"]))
        assert len(images) <= self.most_images, "too many images"
        for image in images:
            width, height = picture(image["source"]["data"]).size
            assert image["source"]["media_type"] == "image/png"
            assert max(width, height) <= (2576 if len(images) <= 20 else 2000), f"image of {width}x{height}"
            assert math.ceil(width / 28) * math.ceil(height / 28) <= 4784, f"image of {width}x{height}"

    def answer(self, body: Any, blocks: Sequence[Block]) -> Http:
        thinking = {"type": "thinking", "thinking": "", "signature": _signature(body, body["messages"])}
        content: list[Block] = [thinking]
        for block in blocks:
            named = (
                {"id": f"toolu_{next(self._ids)}", "caller": {"type": "direct"}} if block["type"] == "tool_use" else {}
            )
            content.append({**block, **named})
        content = json.loads(json.dumps(content))  # as it arrives
        self.sent.append(content)
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        usage = {
            "input_tokens": 100,
            "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 0,
            "output_tokens": 40,
        }
        return Http(
            body={
                **{"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-test"},
                **{"content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage},
            }
        )


def _anthropic_images(messages: Iterable[Block]) -> Iterable[Block]:
    for message in messages:
        for block in message["content"]:
            yield from (part for part in block.get("content", [block]) if part["type"] == "image")


def _plain(block: Block) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _without_markers(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_markers(item) for item in node]
    if isinstance(node, dict):
        return {name: _without_markers(value) for name, value in node.items() if name != "cache_control"}
    return node


def _signature(body: Any, before: Sequence[Block]) -> str:
    prefix = _without_markers([body["system"], body["tools"], list(before)])
    return hashlib.sha256(json.dumps(prefix, sort_keys=True).encode()).hexdigest()


def _check_results(asked: Sequence[Block], told: Sequence[Block]) -> None:
    """Every call has one result, at the beginning of the next message; nothing is executed after a failure."""
    calls = [block for block in asked if block["type"] == "tool_use"]
    results = [block for block in told if block["type"] == "tool_result"]
    assert list(told[: len(results)]) == results, "results come first"
    assert [result["tool_use_id"] for result in results] == [call["id"] for call in calls], "one result for each call"
    failed = False
    for call, result in zip(calls, results, strict=True):
        assert result.get("toolset_name") == call.get("toolset_name"), "toolset_name"
        content, error = result["content"], result.get("is_error", False)
        assert content and {part["type"] for part in content} <= ({"text"} if error else {"text", "image"}), "content"
        if failed and call.get("toolset_name"):
            assert error and [part["text"] for part in content] == [HALTED], "executed after a failure"
        if call["name"] == "screenshot" and not error:
            assert any(part["type"] == "image" for part in content), "a screenshot without an image"
        failed = failed or error


def computer_call(*actions: Block, checks: Sequence[Block] = ()) -> Block:
    return {
        "type": "computer_call",
        "actions": list(actions),
        "pending_safety_checks": list(checks),
        "status": "completed",
    }


def function(name: str, **fields: Any) -> Block:
    return {"type": "function_call", "name": name, "arguments": json.dumps(fields), "status": "completed"}


@dataclass
class StrictComputer(Strict):
    """OpenAI's Responses API with the tool `computer`, without stored state."""

    sent: list[list[Block]] = field(default_factory=list)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def sent_pictures(self, body: Any) -> list[str]:
        found = []
        for item in body["input"]:
            if item.get("type") == "computer_call_output":
                found.append(item["output"]["image_url"])
            elif item.get("role") == "user":
                found += [part["image_url"] for part in item["content"] if part["type"] == "input_image"]
        return found

    def check(self, seen: Seen) -> None:
        body = seen.body
        assert seen.path == "/v1/responses" and seen.headers["authorization"] == f"Bearer {KEY}"
        assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]
        assert "previous_response_id" not in body and "temperature" not in body and "truncation" not in body
        assert [tool for tool in body["tools"] if tool["type"] != "function"] == [{"type": "computer"}], "tools"
        for tool in body["tools"]:
            if tool["type"] == "function":
                assert tool["strict"] is True and strictness(tool["parameters"]) == []
        self._check_items(body["input"])
        for data in self.sent_pictures(body):
            width, height = picture(data).size
            assert width * height <= 10_240_000, f"image of {width}x{height}"

    def _check_items(self, items: Sequence[Block]) -> None:
        known = {item["id"]: item for content in self.sent for item in content}
        waiting: dict[str, Block] = {}
        for item, following in itertools.pairwise([*items, {}]):
            kind = item.get("type", "message")
            if "id" in item:
                given = {name: value for name, value in known[item["id"]].items() if value is not None}
                assert item == given, "an item was changed"
            if kind == "reasoning":
                assert following.get("type") in ("computer_call", "function_call", "message"), "reasoning on its own"
                assert "encrypted_content" in item
            elif kind in ("computer_call", "function_call"):
                waiting[item["call_id"]] = item
            elif kind == "computer_call_output":
                self._check_output(item, waiting.pop(item["call_id"]))
            elif kind == "function_call_output":
                assert waiting.pop(item["call_id"])["type"] == "function_call" and isinstance(item["output"], str)
            elif item.get("role") == "user":
                assert not waiting, "a call without its output"
                assert item["content"] and all(
                    part["type"] in ("input_text", "input_image") for part in item["content"]
                )
        assert not waiting, "a call without its output"

    def _check_output(self, item: Block, call: Block) -> None:
        assert call["type"] == "computer_call"
        allowed = {"type", "call_id", "output", "acknowledged_safety_checks", "id", "status"}
        assert set(item) <= allowed, f"fields {set(item) - allowed}"
        output = item["output"]
        assert output["type"] == "computer_screenshot" and set(output) <= {"type", "image_url", "file_id", "detail"}
        acknowledged = {check["id"] for check in item.get("acknowledged_safety_checks", ())}
        assert acknowledged == {check["id"] for check in call["pending_safety_checks"]}, "safety checks"

    def answer(self, body: Any, blocks: Sequence[Block]) -> Http:
        number = next(self._ids)
        reasoning = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"e{number}"}
        items: list[Block] = [reasoning]
        for place, block in enumerate(blocks):
            if block["type"] == "text":
                content = [{"type": "output_text", "text": block["text"], "annotations": []}]
                items.append(
                    {
                        **{
                            "type": "message",
                            "id": f"msg_{number}_{place}",
                            "role": "assistant",
                            "status": "completed",
                        },
                        "content": content,
                    }
                )
            else:
                ids = {"id": f"item_{number}_{place}", "call_id": f"call_{number}_{place}"}
                items.append({**block, **ids})
        self.sent.append(items)
        usage = {
            **{"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 900}},
            **{"output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 1040},
        }
        return Http(
            body={
                **{"id": f"resp_{number}", "object": "response", "created_at": 1700000000, "status": "completed"},
                **{"error": None, "incomplete_details": None, "model": "gpt-test", "output": items, "usage": usage},
            }
        )


@dataclass
class StrictChat(Strict):
    """A server with chat completions, whose image processor refuses what it would have to resize."""

    factor: int = 28
    least_pixels: int = 3136
    most_pixels: int = 16_384 * 28 * 28
    most_images: int = 3

    def sent_pictures(self, body: Any) -> list[str]:
        return [
            part["image_url"]["url"]
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] == "image_url"
        ]

    def check(self, seen: Seen) -> None:
        body = seen.body
        assert seen.path == "/v1/chat/completions" and body["model"] and body["max_tokens"] > 0
        roles = [message["role"] for message in body["messages"]]
        assert roles[0] == "system" and roles[1] == "user", f"roles {roles}"
        assert all(a != b for a, b in itertools.pairwise(roles)), f"roles {roles}"
        pictures = self.sent_pictures(body)
        assert 1 <= len(pictures) <= self.most_images, f"{len(pictures)} images"
        for data in pictures:
            width, height = picture(data).size
            assert width % self.factor == 0 and height % self.factor == 0, f"image of {width}x{height}"
            assert self.least_pixels <= width * height <= self.most_pixels, f"image of {width}x{height}"

    def answer(self, body: Any, blocks: Sequence[Block]) -> Http:
        message = {"role": "assistant", "content": "".join(block["text"] for block in blocks)}
        return Http(
            body={
                **{"id": "chatcmpl-01", "object": "chat.completion", "created": 1700000000, "model": body["model"]},
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
            }
        )
