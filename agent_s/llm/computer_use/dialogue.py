"""The dialogue protocol of computer tools, each with its own wire format."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from aci.acting.actions import Zoom
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Observation
from agent_s.llm.computer_use.frames import Frame, fit
from agent_s.llm.computer_use.turns import NOT_EXECUTED, Result, Turn
from agent_s.llm.conversation import Conversation, Message, Part, Picture, Role, Text

MOST_PICTURES = 20
"""Pictures in a request. One more, and all but the last few are left out at once, so that the beginning of the
conversation, which providers cache, seldom changes."""
KEPT_PICTURES = 3

ENLARGED = 4  # maximum factor for zooming into a part of the screen


class Dialogue(Protocol):
    """The conversation about one subtask; earlier content is never changed."""

    def open(self, request: str, observation: Observation) -> None:
        """Start the conversation with the task and the screen."""

    def report(self, turn: Turn, results: Sequence[Result], notes: str, now: Observation, declined: bool) -> None:
        """Add the results of the model's last turn.

        Args:
            turn: The turn.
            results: One for each of its calls.
            notes: Further remarks for the model; may be empty.
            now: The current screen.
            declined: Whether a person declined the provider's safety checks.
        """

    def sent(self) -> Conversation:
        """Return the content to send in a provider-independent form, for the recording."""

    def ask(self) -> Turn:
        """Send the conversation and append the answer to it.

        Raises:
            TransientError: A retry may work.
            ModelError: A retry will not.
        """


def zoomed(result: Result, longest_edge: int, most_patches: int) -> Picture | None:
    """Return the enlarged part of the screen for a zoom; None if the call is not a zoom or has failed."""
    action = result.call.actions[0] if result.call.actions else None
    if not result.ok or not isinstance(action, Zoom):
        return None
    screen = result.after.screen
    left, top, right, bottom = (int(edge) for edge in action.region or (0, 0, screen.width, screen.height))
    part = Rect(left, top, right - left, bottom - top).intersection(screen)
    if part is None:
        return None
    large = fit(Rect(0, 0, part.width * ENLARGED, part.height * ENLARGED), longest_edge, most_patches)
    return Frame(part, large.width, large.height).shot(result.after)


def position(pointer: Point | None, frame: Frame) -> str:
    """Return the pointer's position in a model's coordinates; empty if unknown."""
    if pointer is None:
        return ""
    x, y = frame.coordinates(pointer)
    return f"X={x},Y={y}"


def recorded(role: Role, content: str | Iterable[Mapping[str, Any]]) -> Message:
    """Convert a provider's message for the recording: texts and pictures, and everything else as JSON."""
    if isinstance(content, str):
        return Message(role, (Text(content),))
    return Message(role, tuple(part for block in content for part in _parts(block)))


def _parts(block: Mapping[str, Any]) -> Iterator[Part]:
    url = block.get("image_url")
    data = block.get("source", {}).get("data") or (url.get("url") if isinstance(url, Mapping) else url)
    if data is not None:
        yield _decoded(str(data))
    elif set(block) <= {"type", "text"}:
        yield Text(str(block["text"]))
    else:
        inner = block.get("content")
        parts = [part for one in inner for part in _parts(one)] if isinstance(inner, list) else []
        shot = block.get("output")
        parts += list(_parts(shot)) if isinstance(shot, Mapping) else []
        own = {name: value for name, value in block.items() if not (parts and name in ("content", "output"))}
        yield Text(json.dumps(own, ensure_ascii=False))
        yield from parts


def _decoded(data: str) -> Picture:
    from PIL import Image

    picture = base64.b64decode(data.rpartition(",")[2])
    width, height = Image.open(io.BytesIO(picture)).size
    return Picture(picture, "image/png", width, height)


def listed(results: Sequence[Result]) -> str:
    """Return the results of calls, one per line, for formats that have no other place for them."""
    lines = [f"- {result.call.name}: {result.text}" for result in results if result.text != NOT_EXECUTED]
    if len(lines) < len(results):
        lines.append(f"- {', '.join(one.call.name for one in results[len(lines) :])}: not executed either")
    return "\n".join(lines)
