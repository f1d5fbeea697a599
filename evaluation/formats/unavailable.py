"""Steps and getters that need what is not here: accounts, services and prepared data of OSWorld's machines.

Task files with them are valid, and `agent-s eval check` lists them; a task that comes to one ends with its reason.
Nothing reads their parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from evaluation.errors import Unavailable
from evaluation.state.context import TaskContext
from evaluation.state.machine import machine


def _refusing(name: str, needed: str) -> Callable[[TaskContext], NoReturn]:
    def refuse(context: TaskContext) -> NoReturn:
        raise Unavailable(f"{name} needs {needed}, which is not here")

    return refuse


STEPS = {name: _refusing(name, needed) for name, needed in machine().absent_steps.items()}
GETTERS = {name: _refusing(name, needed) for name, needed in machine().absent_getters.items()}
