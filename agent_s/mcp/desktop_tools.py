"""MCP tools for desktops: one for each primitive, and tools to observe, start and stop desktops."""

from __future__ import annotations

import asyncio
import base64
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from mcp_types import ImageContent
from PIL import Image
from pydantic import Field, ValidationError, create_model

from aci.acting.actions import LOOKS, PRIMITIVES, CallUser, Done, Fail, Move, Primitive, SaveToBuffer, Wait
from aci.acting.effects import with_effect
from aci.acting.result import ActionResult
from aci.acting.wording import describe_result
from aci.observation.observation import Observation
from agent_s.loop.agent import build_policy
from agent_s.mcp.desktops import Desktops, OpenDesktop
from agent_s.mcp.tool import ACTS, HARMLESS, READS, Answered, Arguments, Person, Reply, Tool, ToolProblem
from agent_s.safety.confirmation import consent_for
from agent_s.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOT_TOOLS = (Done, Fail, CallUser)
"""Primitives that a client does not need, since it ends by itself and talks to its person itself."""
CHANGING_NOTHING = (Wait, Move, SaveToBuffer)
MOST_PIXELS = 4096
PNG_BYTES = 700_000  # largest picture that is sent as PNG, bytes; some clients refuse results above 1 MB
_POLL_S = 0.3

DesktopName = Annotated[str, Field(description="which desktop; may be left out while one is open")]
Edge = Annotated[int, Field(ge=64, le=MOST_PIXELS, description="longest edge of the picture, px")]


class OnDesktop(Arguments):
    """Arguments of a tool that works on a desktop."""

    desktop: DesktopName = ""


class Screen(Answered):
    """The state of a desktop's screen."""

    desktop: str
    text: str  # windows and elements with their ids, or what has changed since the client looked last
    changes_only: bool  # whether the text has only the changes
    focus_id: int | None  # the element with the keyboard
    width: int  # of the screen, px
    height: int  # of the screen, px
    picture_scale: float | None = None  # pixels of the picture for one of the screen, if a picture comes with it


class Observe(OnDesktop):
    """Arguments of `observe`."""

    changes_only: Annotated[bool, Field(description="only what changed since the last look")] = False
    picture: Annotated[bool, Field(description="whether to add a screenshot")] = False
    longest_edge: Edge = 1280


class WaitFor(OnDesktop):
    """Arguments of `wait_for`."""

    text: Annotated[str, Field(min_length=1, max_length=500, description="words of an element or a window's title")]
    gone: Annotated[bool, Field(description="wait until they are gone instead")] = False
    timeout_s: Annotated[float, Field(gt=0, le=120, allow_inf_nan=False)] = 15.0


class Waited(Screen):
    """The result of `wait_for`; `found` is whether the words appeared or vanished."""

    found: bool


class Acted(Answered):
    """The result of a primitive."""

    ok: bool  # whether it was carried out
    happened: str  # what it did, in words; the reason if it was refused
    refusal: str | None  # the kind of reason
    text: str = ""  # what `read` has read
    page: int = 0  # the page of it, from 1
    pages: int = 0  # number of its pages
    screen: Screen  # what has changed on the screen since the client looked last


class StartDesktop(Arguments):
    """Arguments of `start_desktop`."""

    width: Annotated[int, Field(ge=320, le=7680)] = 1280
    height: Annotated[int, Field(ge=240, le=4320)] = 800


class Named(Arguments):
    """Arguments of `stop_desktop`."""

    desktop: Annotated[str, Field(min_length=1)]


class DesktopEntry(Answered):
    """A desktop: whether it is private, where its applications keep their files, and what uses it."""

    desktop: str
    private: bool
    home: str
    busy: str


class DesktopList(Answered):
    """The result of `list_desktops`, `start_desktop` and `stop_desktop`."""

    desktops: tuple[DesktopEntry, ...]


@dataclass(frozen=True, slots=True)
class DesktopTools:
    """The tools for desktops."""

    settings: Settings  # what needs a person's consent
    desktops: Desktops

    def tools(self) -> Iterator[Tool]:
        """Return all of them."""
        yield Tool(
            "observe",
            "Look at a desktop: its windows and elements, each with an id that other tools take. Starts a private "
            "desktop if none is open.",
            Observe, Screen, self._observe, READS,
        )  # fmt: skip
        yield Tool(
            "wait_for", "Wait until words appear on a desktop, or disappear.", WaitFor, Waited, self._wait_for, READS
        )
        yield Tool(
            "start_desktop",
            "Start a private desktop: a screen of its own with its own home folder, which no one else sees.",
            StartDesktop, DesktopList, self._start, HARMLESS,
        )  # fmt: skip
        yield Tool(
            "stop_desktop",
            "End a private desktop and its programs. Its home folder is deleted.",
            Named, DesktopList, self._stop, ACTS,
        )  # fmt: skip
        yield Tool("list_desktops", "List the open desktops.", Arguments, DesktopList, self._list, READS)
        for primitive in PRIMITIVES.values():
            if not issubclass(primitive, NOT_TOOLS):
                yield self._primitive(primitive)

    def _primitive(self, primitive: type[Primitive]) -> Tool:
        fields: dict[str, Any] = {
            name: (field.annotation, field) for name, field in primitive.model_fields.items() if name != "action"
        }
        arguments = create_model(f"{primitive.__name__}On", __base__=OnDesktop, **fields)

        async def run(given: OnDesktop, person: Person) -> Reply:
            values = given.model_dump(exclude={"desktop"}, exclude_unset=True)
            try:
                action = primitive.model_validate(values)
            except ValidationError as error:
                raise ToolProblem(f"{name}: {error.errors()[0]['msg']}") from error
            return await self._act(self.desktops.get(given.desktop), action, person)

        name = primitive.model_fields["action"].default
        hints = READS if issubclass(primitive, LOOKS) else HARMLESS if issubclass(primitive, CHANGING_NOTHING) else ACTS
        return Tool(name, " ".join((primitive.__doc__ or "").split()), arguments, Acted, run, hints)

    async def _act(self, desktop: OpenDesktop, action: Any, person: Person) -> Reply:
        seen = desktop.latest or await look(desktop)
        decision = build_policy(self.settings, desktop.desktop).decide(action, seen)
        if decision.rule == "refuse":
            raise ToolProblem(f"Not allowed: {decision.reason}")
        if decision.rule == "confirm" and not await person.confirm(str(consent_for(action, seen, decision.reason))):
            raise ToolProblem(f"The person did not agree, or your client cannot ask them: {decision.reason}")
        result, after = await desktop.do(lambda: _perform(desktop, action, seen))
        screen = _screen(desktop, desktop.shown, after)
        desktop.shown = after
        result = with_effect(result, action, seen, after)
        values = Acted(
            ok=result.ok,
            happened=describe_result(result),
            refusal=result.refusal,
            text=result.text,
            page=result.page[0],
            pages=result.page[1],
            screen=screen,
        )
        pictures = () if result.picture is None else (_image(Image.open(io.BytesIO(result.picture))),)
        text = "\n\n".join(part for part in (values.happened, values.text, screen.text) if part)
        return Reply(values, text, pictures, failed=not result.ok)

    async def _observe(self, given: Observe, person: Person) -> Reply:
        desktop = self.desktops.get(given.desktop)
        before = desktop.shown if given.changes_only else None
        seen = await look(desktop)
        desktop.shown = seen
        screen, pictures = _screen(desktop, before, seen), []
        if given.picture:
            picture, scale = as_image(seen.screenshot, given.longest_edge)
            screen, pictures = screen.model_copy(update={"picture_scale": scale}), [picture]
        return Reply(screen, screen.text, tuple(pictures))

    async def _wait_for(self, given: WaitFor, person: Person) -> Reply:
        desktop = self.desktops.get(given.desktop)
        deadline = time.monotonic() + given.timeout_s
        while True:
            seen = await look(desktop)
            found = _says(seen, given.text) != given.gone
            if found or time.monotonic() > deadline:
                break
            await asyncio.sleep(_POLL_S)
        screen = _screen(desktop, desktop.shown, seen)
        desktop.shown = seen
        change = "disappear" if given.gone else "appear"
        happened = f"It {change}ed." if found else f"It did not {change} in time."
        values = Waited(**screen.model_dump(), found=found)
        return Reply(values, f"{happened}\n\n{screen.text}", failed=not found)

    async def _start(self, given: StartDesktop, person: Person) -> Reply:
        started = await asyncio.to_thread(self.desktops.start, given.width, given.height)
        return self._listed(f"Started {started.name}.")

    async def _stop(self, given: Named, person: Person) -> Reply:
        await asyncio.to_thread(self.desktops.stop, given.desktop)
        return self._listed(f"Stopped {given.desktop}.")

    async def _list(self, given: Arguments, person: Person) -> Reply:
        return self._listed("")

    def _listed(self, happened: str) -> Reply:
        entries = tuple(
            DesktopEntry(desktop=one.name, private=one.desktop.private, home=str(one.desktop.home or ""), busy=one.busy)
            for one in self.desktops
        )
        owners = {True: "private", False: "the person's screen"}
        lines = [f"{one.desktop}: {owners[one.private]}, home {one.home}" for one in entries]
        text = "\n".join([happened, *(lines or ["No desktop is open."])]).strip()
        return Reply(DesktopList(desktops=entries), text)


async def look(desktop: OpenDesktop) -> Observation:
    """Observe a desktop."""
    return await desktop.do(lambda: _look(desktop))


def as_image(pixels: NDArray[np.uint8], longest_edge: int) -> tuple[ImageContent, float]:
    """Return a picture for a client, no larger than requested, and its scale."""
    image = Image.fromarray(pixels)
    scale = min(1.0, longest_edge / max(image.size))
    if scale < 1:
        size = [max(1, round(edge * scale)) for edge in image.size]
        image = image.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    return _image(image), scale


def _image(image: Image.Image) -> ImageContent:
    """Return a picture as PNG, or as JPEG if that would be too large."""
    for kind, options in (("png", {}), ("jpeg", {"quality": 85})):
        file = io.BytesIO()
        image.convert("RGB").save(file, kind, **options)
        if file.tell() <= PNG_BYTES:
            break
    return ImageContent(data=base64.b64encode(file.getvalue()).decode(), mime_type=f"image/{kind}")


def _look(desktop: OpenDesktop) -> Observation:
    desktop.latest = None
    desktop.latest = seen = desktop.desktop.observe()
    return seen


def _perform(desktop: OpenDesktop, action: Any, seen: Observation) -> tuple[ActionResult, Observation]:
    """Perform an allowed action, and return the screen after it."""
    if desktop.latest is not seen:
        raise ToolProblem("Another call has used this desktop in the meantime. Observe it again before acting.")
    desktop.latest = None
    result = desktop.desktop.perform(action)
    return result, seen if isinstance(action, LOOKS) else _look(desktop)


def _screen(desktop: OpenDesktop, before: Observation | None, seen: Observation) -> Screen:
    return Screen(
        desktop=desktop.name,
        text=seen.to_text() if before is None else seen.changes_since(before),
        changes_only=before is not None,
        focus_id=seen.focus_id,
        width=seen.screen.width,
        height=seen.screen.height,
    )


def _says(seen: Observation, words: str) -> bool:
    wanted = words.casefold()
    said = [window.title for window in seen.windows]
    said += [text for one in seen.elements for text in (one.name, one.text or "")]
    return any(wanted in text.casefold() for text in said)
