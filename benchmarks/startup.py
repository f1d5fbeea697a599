"""How long it takes until something happens, and what is left when it is over.

```
python -m benchmarks.startup --json
```

`help_s`: `agent-s --help` from the start of the process to its end, s, median. `desktop_ready_s`: from the request for
a virtual desktop until applications can be launched on it and the screen was seen once, s, median;
`desktop_ready_cold_s`: the same in a new process, the import of `aci` included. `demo_s`: all of `agent-s demo`, s.
`leftovers`: processes, sockets and folders that are left after starting and stopping virtual desktops many times;
`leftovers_after_kill`: the same after processes that own a desktop with an application were killed with SIGKILL, a
minute later at the most.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from aci.desktop.folders import desktop_folders
from aci.desktop.virtual import VirtualDesktop
from aci.processes import belonging_to

OWNER = """
import signal, sys
from aci.desktop.virtual import VirtualDesktop

desktop = VirtualDesktop()
desktop.start()
desktop.launch(["mousepad"])
print(desktop.id, desktop.display, flush=True)
signal.pause()
"""
"""A program that owns a desktop and waits to be killed."""

COLD = """
import time
started = time.perf_counter()
from aci.desktop.virtual import VirtualDesktop

with VirtualDesktop() as desktop:
    desktop.observe()
    print(time.perf_counter() - started, flush=True)
"""
"""A program that tells how long its first desktop takes, s."""


CLEANUP_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Startup:
    """The figures; see the module's docstring."""

    help_s: float
    desktop_ready_s: float
    desktop_ready_cold_s: float
    demo_s: float | None
    demo_ok: bool | None
    leftovers: int
    leftovers_after_kill: int
    starts: int
    kills: int


@dataclass(frozen=True, slots=True)
class Traces:
    """What one desktop could leave behind; other desktops of the machine do not count."""

    desktop_id: str  # name of the desktop
    display: str  # name of its X display, such as ":1"

    def count(self, limit_s: float = 1.0) -> int:
        """Count its processes, sockets, locks and folders that are still there `limit_s` later.

        Where another server takes over the display's number there is something for a moment, even after a normal end.
        """
        deadline = time.monotonic() + limit_s
        while (found := self._count_now()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def _count_now(self) -> int:
        folders = [folder.path for folder in desktop_folders() if folder.id == self.desktop_id]
        return len(belonging_to(self.desktop_id)) + len(self._server_files()) + len(folders)

    def _server_files(self) -> list[Path]:
        """Return what its X server left, unless another server has taken the number since."""
        number = self.display.removeprefix(":")
        lock = Path(f"/tmp/.X{number}-lock")
        files = [path for path in (lock, Path(f"/tmp/.X11-unix/X{number}")) if path.exists()]
        try:
            taken = Path(f"/proc/{int(lock.read_text())}").exists()
        except (OSError, ValueError):
            taken = False
        return [] if taken else files


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="few repetitions and no demo, for a first look")
    wanted = parser.parse_args()
    figures = measure(quick=wanted.quick)
    if wanted.json:
        print(json.dumps(asdict(figures)))
    else:
        for name, value in asdict(figures).items():
            print(f"{name:22} {value:.3f}" if isinstance(value, float) else f"{name:22} {value}")
    return 0


def measure(quick: bool) -> Startup:
    """Measure everything."""
    starts, kills = (5, 1) if quick else (50, 3)
    help_s = statistics.median(_help_seconds() for _ in range(3 if quick else 15))
    cold_s = statistics.median(_cold_seconds() for _ in range(2 if quick else 7))
    runs = [_start_and_stop() for _ in range(starts)]
    leftovers = sum(traces.count() for _, traces in runs)
    killed = [_kill_an_owner() for _ in range(kills)]
    demo_s, demo_ok = (None, None) if quick else _demo_seconds()
    return Startup(
        help_s=round(help_s, 4),
        desktop_ready_s=round(statistics.median(ready for ready, _ in runs), 4),
        desktop_ready_cold_s=round(cold_s, 4),
        demo_s=demo_s,
        demo_ok=demo_ok,
        leftovers=leftovers,
        leftovers_after_kill=sum(traces.count(CLEANUP_LIMIT_S) for traces in killed),
        starts=starts,
        kills=kills,
    )


def _help_seconds() -> float:
    """Time the console script where it is installed, else the module."""
    script = Path(sys.executable).with_name("agent-s")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "agent_s"]
    started = time.perf_counter()
    subprocess.run([*command, "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def _cold_seconds() -> float:
    done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _start_and_stop() -> tuple[float, Traces]:
    """Return the seconds until a desktop was ready, and its traces once it was stopped."""
    started = time.perf_counter()
    with VirtualDesktop() as desktop:
        desktop.observe()
        ready = time.perf_counter() - started
        traces = Traces(desktop.id, desktop.display)
    return ready, traces


def _kill_an_owner() -> Traces:
    """Kill a process that owns a desktop with an application on it."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    words = owner.stdout.readline().split()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    if len(words) != 2:
        raise RuntimeError("the desktop of the process that was to be killed did not start")
    return Traces(*words)


def _demo_seconds() -> tuple[float, bool]:
    """Return how long the demo takes, and whether every task was verified."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "agent_s", "demo", "--json", "--quiet"], stdout=subprocess.DEVNULL, check=False
    )
    return round(time.perf_counter() - started, 2), done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
