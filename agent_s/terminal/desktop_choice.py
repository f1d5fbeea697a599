"""Choice of the desktop on which a command works."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aci.remote.addresses import is_address, without_token
from aci.screen.wayland import ADVICE, is_wayland

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.remote.desktop import OSWorldDesktop
    from agent_s.settings import Settings

XWAYLAND_ONLY = "This is a Wayland session: only XWayland windows can be used, and only through accessibility."


@dataclass(frozen=True, slots=True)
class DesktopChoice:
    """The desktop a run works on."""

    display: str | None  # name of an X display, or address of a machine; None for a virtual desktop
    words: str  # the choice and its reason, for a person
    files: Path | None = None  # folder to copy into the home of a virtual desktop

    def open(self, settings: Settings) -> X11Desktop | VirtualDesktop | OSWorldDesktop:
        """Return the desktop, as a context manager.

        Raises:
            DesktopError: The desktop cannot be used.
            MissingDependency: A required program is absent.
        """
        if self.display is None:
            return settings.desktop.new_virtual(files=self.files)
        if is_address(self.display):
            return settings.desktop.new_remote(self.display)
        return settings.desktop.new_own(self.display)


def with_files(choice: DesktopChoice, files: Path | None) -> DesktopChoice:
    """Return the choice with files to copy into the home of its virtual desktop.

    Raises:
        click.UsageError: The choice is not a virtual desktop.
    """
    if files is not None and choice.display is not None:
        raise click.UsageError("--files is for virtual desktops: add --virtual.")
    return replace(choice, files=files)


def choose_desktop(display: str | None, virtual: bool) -> DesktopChoice:
    """Choose the requested desktop; by default the person's screen, or a virtual desktop if that is not usable.

    Raises:
        click.UsageError: Both `display` and `virtual` are given.
    """
    if display and virtual:
        raise click.UsageError("Give --display or --virtual, not both.")
    if display and is_address(display):
        return DesktopChoice(display, f"the machine {without_token(display)}")
    own, wayland = os.environ.get("DISPLAY", ""), is_wayland(os.environ)
    if display and wayland and display == own:
        return DesktopChoice(display, f"the screen {display}. {XWAYLAND_ONLY} For everything else, {ADVICE}")
    if display:
        return DesktopChoice(display, f"the screen {display}")
    if virtual:
        return DesktopChoice(None, "a virtual desktop")
    if wayland:
        choose = f" (--display {own} for its XWayland windows)" if own else ""
        return DesktopChoice(None, f"a virtual desktop, since Wayland keeps programs out of other windows{choose}")
    if not own:
        return DesktopChoice(None, "a virtual desktop, since DISPLAY is not set")
    return DesktopChoice(own, f"your screen {own} (--virtual for a private one)")
