"""What the server of OSWorld's machines does not offer; sent as it is to the machine, and run by its Python.

    python -c SOURCE windows | activate ID | applications

It prints JSON, and needs nothing but python-xlib or its fork python3-xlib, one of which PyAutoGUI brings there.
"""

import configparser
import glob
import json
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any


def windows() -> list[dict[str, Any]]:
    """Return the visible windows, topmost first."""
    from Xlib import X
    from Xlib.display import Display
    from Xlib.error import XError

    display = Display()
    root = display.screen().root

    def value(window: Any, name: str) -> Any:
        found = window.get_full_property(display.intern_atom(name), X.AnyPropertyType)
        return None if found is None else found.value

    def described(window: Any, managed: bool) -> dict[str, Any] | None:
        attributes = window.get_attributes()
        if attributes.map_state != X.IsViewable or attributes.win_class != X.InputOutput:
            return None
        if not managed and not attributes.override_redirect:
            return None  # the frame of a managed window
        size, corner = window.get_geometry(), root.translate_coords(window, 0, 0)
        title, pid, frame = (
            value(window, "_NET_WM_NAME"),
            value(window, "_NET_WM_PID"),
            value(window, "_NET_FRAME_EXTENTS"),
        )
        title, kind = title if title is not None else value(window, "WM_NAME"), window.get_wm_class()
        return {
            "id": window.id,
            "title": title if isinstance(title, str) else bytes(title).decode("utf-8", "replace"),
            "app": kind[-1] if kind else "",
            "rect": [corner.x, corner.y, size.width, size.height],
            "active": managed and window.id == active,
            "popup": not managed,
            "pid": int(pid[0]) if pid else None,
            "modal": display.intern_atom("_NET_WM_STATE_MODAL") in list(value(window, "_NET_WM_STATE") or []),
            "frame": [int(part) for part in frame] if frame is not None and len(frame) == 4 else None,
        }

    active = (value(root, "_NET_ACTIVE_WINDOW") or [0])[0]
    clients = [
        int(number) for number in value(root, "_NET_CLIENT_LIST_STACKING") or value(root, "_NET_CLIENT_LIST") or []
    ]
    others = [window for window in root.query_tree().children if window.id not in clients]
    both = [*((window, False) for window in reversed(others)),
            *((display.create_resource_object("window", number), True) for number in reversed(clients))]  # fmt: skip
    found = []
    for window, managed in both:
        try:
            found.append(described(window, managed))
        except XError:
            continue  # it has just closed
    return [each for each in found if each is not None and (each["app"] or each["pid"])]


def activate(number: int) -> None:
    """Ask the window manager to bring a window to the front."""
    from Xlib import X
    from Xlib.display import Display
    from Xlib.protocol.event import ClientMessage

    display = Display()
    message = ClientMessage(
        window=display.create_resource_object("window", number),
        client_type=display.intern_atom("_NET_ACTIVE_WINDOW"),
        data=(32, [2, X.CurrentTime, 0, 0, 0]),
    )
    display.screen().root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
    display.sync()


def applications() -> Iterator[dict[str, Any]]:
    """Yield the desktop entries of the machine."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")  # noqa: PTH111 - any Python 3
    system = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share:/var/lib/snapd/desktop"
    for folder in (home, *system.split(":")):
        for path in sorted(glob.glob(f"{folder}/applications/*.desktop")):  # noqa: PTH207
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            try:
                parser.read(path, encoding="utf-8")
                entry = parser["Desktop Entry"]
                argv = [part for part in shlex.split(entry["Exec"]) if not part.startswith("%")]
            except (configparser.Error, KeyError, ValueError, OSError):
                continue
            if (
                argv
                and entry.get("NoDisplay", "").casefold() != "true"
                and entry.get("Terminal", "").casefold() != "true"
            ):
                yield {
                    "id": path.rpartition("/")[2][: -len(".desktop")],
                    "name": entry.get("Name", ""),
                    "argv": argv,
                    "generic_name": entry.get("GenericName", ""),
                    "keywords": [word for word in entry.get("Keywords", "").split(";") if word],
                    "categories": [word for word in entry.get("Categories", "").split(";") if word],
                    "window_class": entry.get("StartupWMClass", ""),
                }


if __name__ == "__main__":
    if sys.argv[1] == "activate":
        activate(int(sys.argv[2]))
    else:
        print(json.dumps(list(applications() if sys.argv[1] == "applications" else windows())))  # noqa: T201
