"""A browser window for one episode after another; the agent sees nothing but the window."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aci.desktop.virtual import VirtualDesktop
from aci.waiting import Clock
from evaluation.errors import BrowserLost
from evaluation.miniwob.pages import Pages
from evaluation.state.devtools import PORT_FILE, DevTools, Target
from evaluation.state.steps import BROWSERS

READY_LIMIT_S = 15.0
CLOCK_MS = 24 * 3600 * 1000
"""Time limit of the page itself, long enough that no episode reaches it: slow models are not penalized."""
SUCCESS = 1.0  # reward from which an episode counts as a success
MAX_LOOKS, LOOK_S = 14, 0.15
"""Number of observations of a page that loads, and the time between two, s; an animated page never settles."""
_POLL_S = 0.02

_PREFERENCES = {
    "credentials_enable_service": False,
    "profile": {"password_manager_enabled": False},
    "autofill": {"profile_enabled": False, "credit_card_enabled": False},
    "translate": {"enabled": False},
}
"""Settings that keep the browser from covering the page with bubbles."""

_IS_LOADED = (
    "location.search === {query} && document.readyState === 'complete'"
    " && typeof core === 'object' && core.cover_div !== null"
)
# Reward and clock of the page are hidden: they are no part of the task, and the clock would change all the time.
_BEGIN = (
    "core.EPISODE_MAX_TIME = {clock}; Math.seedrandom({seed}); core.startEpisodeReal();"
    " core.clearTimer(); core.hideDisplay(); WOB_TASK_READY"
)
_INSTRUCTION = "(text => typeof text === 'string' ? text : text.utterance)(core.getUtterance())"
_BEGINNING = "document.getElementById('query').innerText.replace(/\\s+/g, ' ').trim().slice(0, 12).trim()"
_STATE = (
    "typeof WOB_DONE_GLOBAL === 'undefined' ? null"
    " : [WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, String(WOB_REWARD_REASON || '')]"
)
_VIEW = "[innerWidth, innerHeight, devicePixelRatio]"


@dataclass(frozen=True, slots=True)
class PageState:
    """State of an episode, as its page reports it."""

    over: bool  # whether the page has ended the episode
    reward: float = 0.0  # reward from -1 to 1, without a penalty for time; 0 during the episode
    reason: str = ""  # the reason, from the page or the harness

    @property
    def success(self) -> bool:
        """Whether the episode counts as done."""
        return self.over and self.reward >= SUCCESS


class Arena:
    """A browser on a desktop that has started.

    Args:
        desktop: Desktop to start the browser on.
        address: Address of the server of the pages.

    Raises:
        BrowserLost: The browser does not respond.
        AciError: It cannot be started.
    """

    def __init__(self, desktop: VirtualDesktop, address: str) -> None:
        self._desktop = desktop
        self._address = address
        self._episodes = 0
        self._view: Any = None
        profile = desktop.home / ".config" / "miniwob-profile"
        (profile / "Default").mkdir(parents=True, exist_ok=True)
        (profile / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES), encoding="utf-8")
        browser = next((name for name in BROWSERS if shutil.which(name)), BROWSERS[0])
        desktop.launch([browser, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"])
        self._wait(lambda: (profile / PORT_FILE).exists(), "to write its debugging port")
        self._tools = DevTools(profile)
        self._target: Target | None = None

    def begin(self, task: str, seed: int) -> str:
        """Load a page again, begin an episode, and return the instruction.

        Raises:
            BrowserLost: The page does not load, or is not shown as in the first episode.
        """
        self._target = target = self._only_page()
        self._episodes += 1
        query = f"?episode={self._episodes}"
        tools = self._tools
        tools.call("Storage.clearDataForOrigin", {"origin": self._address, "storageTypes": "all"}, target)
        tools.call("Page.navigate", {"url": f"{self._address}{Pages.path_of(task)}{query}"}, target)
        loaded = _IS_LOADED.format(query=json.dumps(query))
        self._wait(lambda: self._answers(loaded), f"to load the page of {task}")
        view = tools.evaluate(target, _VIEW)
        self._view = self._view or view
        if view != self._view:
            raise BrowserLost(f"the page is shown at {view} instead of {self._view}: width, height, zoom")
        tools.evaluate(target, _BEGIN.format(clock=CLOCK_MS, seed=json.dumps(str(seed))))
        self._wait(lambda: self._answers("WOB_TASK_READY"), f"to make {task} ready")
        self._wait_until_shown(str(tools.evaluate(target, _BEGINNING)))
        return str(tools.evaluate(target, _INSTRUCTION)).strip()

    def state(self) -> PageState:
        """Return the state of the episode; a page that was closed or left can no longer end it."""
        if self._target is None:
            return PageState(False, reason="no episode has begun")
        try:
            answer = self._tools.evaluate(self._target, _STATE)
        except BrowserLost as error:
            return PageState(False, reason=f"the page was closed: {error}")
        if answer is None:
            return PageState(False, reason="the page was left")
        over, reward, reason = answer
        if not over:
            return PageState(False, reason="the page waits for more")
        because = f": {reason}" if reason else ""
        return PageState(True, float(reward), f"the page gave the reward {float(reward):g}{because}")

    def evaluate(self, script: str) -> Any:
        """Return the value of a script of the harness in the page.

        Raises:
            BrowserLost: No episode has begun, or the script failed.
        """
        if self._target is None:
            raise BrowserLost("no episode has begun")
        return self._tools.evaluate(self._target, script)

    def close(self) -> None:
        """Disconnect from the browser."""
        self._tools.close()

    def _wait_until_shown(self, beginning: str) -> None:
        """Wait until the accessibility tree, which lags behind the window, holds the page with this beginning."""
        seen: list[Any] = []
        found = False
        for _ in range(MAX_LOOKS):
            before, seen = seen, [(e.role, e.name, e.rect) for e in self._desktop.observe().elements]
            # An element may hold only the first part of the beginning.
            found = any(
                name.startswith(beginning) or (len(name) > 2 and beginning.startswith(name)) for _, name, _ in seen
            )
            if found and seen == before:
                return
            time.sleep(LOOK_S)
        if not found:
            raise BrowserLost(f"the accessibility tree does not hold the page, which begins with {beginning!r}")

    def _only_page(self) -> Target:
        """Return the page of the browser, after closing all others."""
        first, *others = self._tools.pages() or [""]
        if not first:
            raise BrowserLost("the browser has no open page")
        keep = self._target.id if self._target is not None and self._target.id in (first, *others) else first
        for page in {first, *others} - {keep}:
            self._tools.call("Target.closeTarget", {"targetId": page})
        if self._target is not None and self._target.id == keep:
            return self._target
        return self._tools.attach(keep)

    def _answers(self, script: str) -> bool:
        """Return whether a script is true in the page; it is not while the page changes."""
        assert self._target is not None
        with suppress(BrowserLost):
            return self._tools.evaluate(self._target, script) is True
        return False

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        if not Clock().until(holds, READY_LIMIT_S, _POLL_S):
            raise BrowserLost(f"the browser took more than {READY_LIMIT_S:g} s {what}")
