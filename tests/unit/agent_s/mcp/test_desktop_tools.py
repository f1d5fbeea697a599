"""What a person is asked before a tool acts, whatever other calls do meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Self, cast

import anyio

from aci.acting.actions import Action, Hotkey
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from agent_s.mcp.desktop_tools import DesktopTools, look
from agent_s.mcp.desktops import OWN_SCREEN, Desktops
from agent_s.mcp.tool import Reply, ToolProblem
from agent_s.settings import Settings, load_settings
from agent_s.terminal.desktop_choice import DesktopChoice
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen

TERMINAL = Window(9, "~", "XTerm", Rect(0, 0, 300, 300), active=True)
BEHIND = replace(EDITOR, active=False)


class Screen(FakeDesktop):
    """The person's screen."""

    def __init__(self) -> None:
        super().__init__(screen(button(1, "OK")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release_all()

    def bring_terminal_to_front(self) -> None:
        self.screen = screen(button(1, "OK"), windows=(TERMINAL, BEHIND))


class Choice(DesktopChoice):
    def open(self, settings: Settings) -> AbstractContextManager[Any]:
        return Screen()


class Person:
    """Agrees to everything, after something else has happened."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]] | None = None) -> None:
        self.asked: list[str] = []
        self._meanwhile = meanwhile

    async def confirm(self, question: str) -> bool:
        self.asked.append(question)
        if self._meanwhile is not None:
            await self._meanwhile()
        return True

    async def answer(self, question: str) -> str | None:
        return None

    def tell(self, progress: str) -> None:
        pass


def with_tools(talk: Callable[[Desktops, Callable[..., Awaitable[Reply]]], Awaitable[None]]) -> list[Action]:
    """Let a client talk to the tools of the person's screen, and return what was performed there."""

    async def run() -> list[Action]:
        desktops = Desktops(load_settings(), Choice(":7", "a screen"))
        tools = {tool.name: tool for tool in DesktopTools(load_settings(), desktops).tools()}

        async def call(name: str, person: Person, **given: Any) -> Reply:
            return await tools[name].run(tools[name].arguments.model_validate(given), person)

        desktop = cast(Screen, desktops.get(OWN_SCREEN).desktop)
        try:
            await talk(desktops, call)
        finally:
            desktops.close()
        return desktop.performed

    return anyio.run(run)


def test_an_action_is_judged_by_the_latest_look_whoever_looked() -> None:
    person = Person()

    async def talk(desktops: Desktops, call: Callable[..., Awaitable[Reply]]) -> None:
        await call("observe", person)
        await call("hotkey", person, keys=("Return",))
        assert person.asked == []
        cast(Screen, desktops.get("").desktop).bring_terminal_to_front()
        await look(desktops.get(""))  # as reading the screen as a resource does
        await call("hotkey", person, keys=("Return",))
        assert "terminal" in person.asked[0]

    assert with_tools(talk) == [Hotkey(keys=("Return",))] * 2


def test_what_a_person_agreed_to_is_not_done_on_another_screen() -> None:
    async def talk(desktops: Desktops, call: Callable[..., Awaitable[Reply]]) -> None:
        desktop = cast(Screen, desktops.get("").desktop)
        desktop.bring_terminal_to_front()
        await call("observe", Person())

        async def another_call() -> None:
            desktop.screen = screen(button(1, "Delete"))
            await call("observe", Person())

        person = Person(another_call)
        try:
            await call("hotkey", person, keys=("Return",))
        except ToolProblem as problem:
            assert "Another call" in str(problem)
        else:
            raise AssertionError("it was done on a screen that nobody has judged")
        assert len(person.asked) == 1

    assert with_tools(talk) == []
