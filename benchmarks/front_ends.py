"""How smoothly the view shows a screen, what that costs, and how many tasks that were shown once are done again.

```
python -m benchmarks.front_ends --json
```

Pages in Chromium keep changing on a virtual desktop of 1280 x 800: a counter in a corner, a text that scrolls, and a
film that fills the window. `agent-s view`, a process of its own, shows each to one reader over HTTP. `view_fps`:
pictures that arrive, per second, in the slowest case; `view_core_share`: processor time of the view per second, in the
dearest case; `still_core_share`: the same while nothing changes. `demonstrations`: tasks of
`benchmarks.support.demonstrations` that a second X client shows once, and that a replay with other values does;
`silent_wrong`: replays that end as done while the application's own state says otherwise.

`mcp_first_look_ratio`, `mcp_look_ratio`: time of a look by the faster one of two other servers for MCP
(`benchmarks.support.peers`, `make peers`) over the time of `agent-s mcp`, the smaller one of a page in Chromium and an
empty sheet of Calc, `mcp_first_look_ratio` 5 s after the start of a server; `mcp_peer_better`: cases in which one of
them is right and `agent-s mcp` is not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
import psutil

from aci.desktop.virtual import VirtualDesktop
from agent_s.events import RunStarted
from agent_s.records import Limits, Task
from agent_s.runs.following import publish_live_info
from agent_s.trajectory.recorder import Recorder
from benchmarks.support.demonstrations import attempt_all
from benchmarks.support.peers import peer_figures
from benchmarks.support.person import become_person, obstacle

SIZE = (1280, 800)
PAGE = """<!doctype html><meta charset="utf-8"><title>{name}</title><style>{style}</style><body>{body}<script>
let n = 0;
setInterval(() => {{ n += 1; {script} }}, 40);
</script>"""
_LINES = "".join(
    f"<p>Line {number}: the quick brown fox jumps over the lazy dog, again and again.</p>" for number in range(400)
)
_DRAW = """
const p = document.querySelector("canvas").getContext("2d");
for (let y = 0; y < 800; y += 20) for (let x = 0; x < 1280; x += 20) {
  p.fillStyle = `hsl(${(x + y + 7 * n) % 360} 70% ${40 + ((x * y + n) % 30)}%)`;
  p.fillRect(x, y, 20, 20);
}"""
CASES = {
    "still": {"style": "", "body": _LINES, "script": ""},
    "counter": {"style": "", "body": f"<b></b>{_LINES}", "script": 'document.querySelector("b").textContent = n;'},
    "scrolling": {"style": "", "body": _LINES, "script": "scrollTo(0, (n * 12) % 9000);"},
    "film": {"style": "body{margin:0}", "body": '<canvas width="1280" height="800"></canvas>', "script": _DRAW},
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the reader of one case got."""

    fps: float  # pictures per second
    core_share: float  # processor seconds of the view per second


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.front_ends", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--seconds", type=float, default=10.0, help="time of each case, s")
    parser.add_argument("--part", choices=("view", "demonstrations", "mcp"), help="measure only this part")
    parser.add_argument("--only", nargs="*", default=[], help="demonstrations whose names hold one of these words")
    wanted = parser.parse_args()
    figures = {
        **(view_figures(wanted.seconds) if wanted.part in (None, "view") else {}),
        **(demonstration_figures(wanted.only) if wanted.part in (None, "demonstrations") else {}),
        **(peer_figures() if wanted.part in (None, "mcp") else {}),
    }
    print(json.dumps(figures) if wanted.json else json.dumps(figures, indent=2))
    return 0


def demonstration_figures(only: Sequence[str]) -> dict[str, object]:
    """Show each task once and replay it."""
    if reason := obstacle():
        return {"demonstrations": None, "silent_wrong": None, "demonstrations_lack": reason}
    results = list(attempt_all(only).values())
    return {
        "demonstrations": results.count("right"),
        "silent_wrong": results.count("silently wrong"),
        "demonstrations_shown": len(results),
    }


def view_figures(seconds: float) -> dict[str, object]:
    """Show each page for some time."""
    cases = {name: watch(name, seconds) for name in CASES}
    changing = [shown for name, shown in cases.items() if name != "still"]
    return {
        "view_fps": min(shown.fps for shown in changing),
        "view_core_share": max(shown.core_share for shown in changing),
        "still_core_share": cases["still"].core_share,
        "cases": {name: asdict(shown) for name, shown in cases.items()},
    }


def watch(name: str, seconds: float) -> Shown:
    """Show one page for some time."""
    with tempfile.TemporaryDirectory() as parent, VirtualDesktop(size=SIZE, ocr=None) as desktop:
        page = Path(parent, "page.html")
        page.write_text(PAGE.format(name=name, **CASES[name]), encoding="utf-8")
        desktop.launch(["chromium", f"--app={page.as_uri()}", f"--window-size={SIZE[0]},{SIZE[1]}"])
        folder = Path(parent, "run")
        recorder = Recorder(folder)
        recorder(RunStarted(run_id=name, task=Task(instruction=f"Watch the {name}"), model="none", limits=Limits()))
        try:
            with publish_live_info(folder, desktop.display), viewing(folder) as (address, view):
                return _read(f"{address}run/run/screen", view, seconds)
        finally:
            recorder.close()


@contextmanager
def viewing(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run `agent-s view`; yield its address and its process."""
    words = [sys.executable, "-m", "agent_s", "view", str(folder), "--json"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        yield address, psutil.Process(server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()


def _read(address: str, view: psutil.Process, seconds: float) -> Shown:
    """Count the pictures that arrive within some time, from the first one on."""
    pictures = 0
    with httpx.stream("GET", address, timeout=httpx.Timeout(60.0, read=seconds)) as response:
        response.raise_for_status()
        chunks = response.iter_raw()
        next(chunks)
        used, began = _processor_seconds(view), time.monotonic()
        with contextlib.suppress(httpx.ReadTimeout):  # nothing changes
            while time.monotonic() - began < seconds:
                pictures += next(chunks).count(b"--frame\r\nContent-Type: image/jpeg")
        spent = time.monotonic() - began
        return Shown(round(pictures / spent, 2), round((_processor_seconds(view) - used) / spent, 4))


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    become_person()  # Thunar refuses to work for root
    sys.exit(main())
