"""Makes OSWorld's own, unmodified `DesktopEnv` use machines that `agent-s osworld serve` offers.

```python
from evaluation.machine.provider import use_machine

use_machine("http://127.0.0.1:5000")
env = DesktopEnv(provider_name="docker", action_space="pyautogui")
```

OSWorld's package has a fixed list of providers; this puts one more in the place of that list, and nothing else is
changed. This file needs nothing of this program, so that it can also be copied into an environment of its own.
"""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any
from urllib.parse import urlsplit

RESET_LIMIT_S = 120.0


class Provider:
    """A provider of OSWorld for a machine that runs already; a snapshot is how its desktop was at the start.

    Args:
        address: Address of the machine's server, with its token if it has one.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if not parts.hostname or not parts.port:
            raise ValueError(f"{address!r} is not the address of a machine. It looks like http://127.0.0.1:5000.")
        self._base = f"http://{parts.hostname}:{parts.port}"
        self._user, self._place = parts.username or "", (parts.hostname, parts.port)

    def start_emulator(self, path_to_vm: str, headless: bool, os_type: str = "Ubuntu") -> None:
        """Check that the machine answers.

        Raises:
            URLError: It does not.
        """
        self._ask("/platform", "GET")

    def get_ip_address(self, path_to_vm: str) -> str:
        """Return `HOST:SERVER:CHROMIUM:VNC:VLC`."""
        host = self._place[0]
        ports = json.loads(self._ask("/ports", "GET"))
        return f"{host}:{self._place[1]}:{ports['chromium']}:0:{ports['vlc']}"

    def save_state(self, path_to_vm: str, snapshot_name: str) -> None:
        """Do nothing: there is one snapshot."""

    def revert_to_snapshot(self, path_to_vm: str, snapshot_name: str) -> str:
        """Put the desktop back to how it was at the start."""
        self._ask("/reset", "POST")
        return path_to_vm

    def stop_emulator(self, path_to_vm: str) -> None:
        """Do nothing: whoever started the machine stops it."""

    def _ask(self, path: str, method: str) -> bytes:
        headers = {"Authorization": f"Bearer {self._user}"} if self._user else {}
        request = urllib.request.Request(self._base + path, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=RESET_LIMIT_S) as answer:
            return bytes(answer.read())


class Manager:
    """A manager of OSWorld for one machine."""

    def __init__(self, address: str) -> None:
        self._address = address

    def get_vm_path(self, **_: Any) -> str:
        """Return the address."""
        return self._address

    def add_vm(self, *_: Any, **__: Any) -> None:
        """Do nothing."""

    delete_vm = occupy_vm = add_vm


def use_machine(address: str) -> None:
    """Have environments that are made from now on use a machine.

    OSWorld's client knows no tokens; `requests`, which it uses, takes one from a netrc file, which only this process
    has. It is sent to all servers of that host instead of what the process gives them: a model server there that
    wants a key needs a machine without a token.

    Args:
        address: Address of its server, such as `http://127.0.0.1:5000` or `http://TOKEN@127.0.0.1:5000`.

    Raises:
        ImportError: OSWorld's package is not installed: `pip install desktop-env`.
    """
    import desktop_env.desktop_env as module

    parts = urlsplit(address)
    if parts.username:
        netrc = os.memfd_create("netrc")  # in memory, so that no token stays behind if the process is killed
        os.write(netrc, f"machine {parts.hostname} login agent password {parts.username}\n".encode())
        os.environ["NETRC"] = f"/proc/{os.getpid()}/fd/{netrc}"

    def create(*_: Any, **__: Any) -> tuple[Manager, Provider]:
        return Manager(address), Provider(address)

    module.create_vm_manager_and_provider = create
