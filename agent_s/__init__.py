"""Agent S, a desktop agent: it operates applications from a task in one sentence.

```python
from aci import VirtualDesktop
from agent_s import AgentS, Task, load_settings

with VirtualDesktop(size=(1280, 800)) as desktop:
    agent = AgentS.from_settings(load_settings(), desktop)
    outcome = agent.run(Task(instruction="Open the text editor and type 'hello'."))
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_s.loop.agent import AgentS
    from agent_s.loop.options import Options
    from agent_s.records import Limits, Outcome, Task
    from agent_s.settings import Settings, load_settings

__all__ = ["AgentS", "Limits", "Options", "Outcome", "Settings", "Task", "load_settings"]

_MODULES = {
    "AgentS": "agent_s.loop.agent",
    "Limits": "agent_s.records",
    "Options": "agent_s.loop.options",
    "Outcome": "agent_s.records",
    "Settings": "agent_s.settings",
    "Task": "agent_s.records",
    "load_settings": "agent_s.settings",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name not in _MODULES:
        raise AttributeError(f"module 'agent_s' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
