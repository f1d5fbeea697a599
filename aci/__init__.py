"""The agent-computer interface: observe a desktop as elements, and act on it with bounded primitives.

```python
from aci import Click, VirtualDesktop

with VirtualDesktop(size=(1280, 800)) as desktop:
    desktop.launch(["mousepad"])
    observation = desktop.observe()
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aci.acting.actions import (
        Action,
        CallUser,
        Click,
        Done,
        DragAndDrop,
        Fail,
        HoldAndPress,
        Hotkey,
        SaveToBuffer,
        Scroll,
        SwitchApplications,
        Type,
        Wait,
        parse_action,
    )
    from aci.acting.result import ActionResult
    from aci.desktop.desktop import Desktop
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.observation.geometry import Point, Rect
    from aci.observation.observation import Observation
    from aci.observation.snapshot import Element, Window

_HOMES = {
    "aci.acting.actions": (
        "Action CallUser Click Done DragAndDrop Fail HoldAndPress Hotkey SaveToBuffer Scroll SwitchApplications "
        "Type Wait parse_action"
    ),
    "aci.acting.result": "ActionResult",
    "aci.desktop.desktop": "Desktop",
    "aci.observation.geometry": "Point Rect",
    "aci.observation.observation": "Observation",
    "aci.observation.snapshot": "Element Window",
    "aci.desktop.virtual": "VirtualDesktop",
    "aci.desktop.x11": "X11Desktop",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Action", "ActionResult", "CallUser", "Click", "Desktop", "Done", "DragAndDrop", "Element", "Fail",
    "HoldAndPress", "Hotkey", "Observation", "Point", "Rect", "SaveToBuffer", "Scroll", "SwitchApplications", "Type",
    "VirtualDesktop", "Wait", "Window", "X11Desktop", "parse_action",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'aci' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)
