"""OSWorld's virtual machine as its task files assume it, and what stands for its parts here (`machine.yaml`)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from intents.tables import read_table

OSWORLD_HOME = "/home/user"  # home of the user in OSWorld's virtual machine, as its task files write it
_HOME = re.compile(rf"^~(?=/|$)|(?<![\w.~-]){OSWORLD_HOME}(?![\w.-])")


class Machine(BaseModel):
    """The content of `machine.yaml`, which describes its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    programs: dict[str, tuple[str, ...]]
    shown_as: dict[str, str]
    applications: dict[str, str]
    unneeded: tuple[str, ...]
    windowless: tuple[str, ...]
    options: dict[str, tuple[str, ...]]
    root: tuple[str, ...]
    image: tuple[str, ...]
    services: dict[str, str]
    absent_steps: dict[str, str]
    absent_getters: dict[str, str]
    web: tuple[str, ...]


@cache
def machine() -> Machine:
    """Return the content of `machine.yaml`."""
    return Machine.model_validate(read_table("evaluation.state", "machine.yaml", typed=True))


def replaced_home(text: str, home: str) -> str:
    """Return a text with a desktop's home in place of OSWorld's, and of `~` at its beginning."""
    return _HOME.sub(lambda _: home, text)


def replacement(argv: Sequence[str], path: str | None = None) -> list[str]:
    """Return a command with the program that is installed here for the machine's, and with its options here.

    Args:
        argv: Program and arguments.
        path: Where programs are searched, as in PATH.
    """
    known = machine()
    program, *arguments = argv
    choices = known.programs.get(program, ()) or known.programs.get(Path(program).name, ())
    found = program
    if shutil.which(program, path=path) is None:
        found = next((choice for choice in choices if shutil.which(choice, path=path)), program)
    return [found, *(part for argument in arguments for part in known.options.get(argument, (argument,)))]


def machine_values(width: int, height: int) -> dict[str, str]:
    """Return what OSWorld's placeholders, such as `{SCREEN_WIDTH}`, stand for on a screen of a size in px."""
    sizes = {"SCREEN_WIDTH": width, "SCREEN_HEIGHT": height}
    halves = {f"{name}_HALF": size // 2 for name, size in sizes.items()}
    return {name: str(size) for name, size in {**sizes, **halves}.items()} | {"CLIENT_PASSWORD": ""}
