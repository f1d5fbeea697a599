"""A private desktop that answers as OSWorld's virtual machine does.

`/home/user` stands for the desktop's home in what is sent, and the other way round in what is answered. Commands of the
harness run on the private desktop only, with the rights of whoever started it.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import replace
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from aci.accessibility.atspi import StateBit
from aci.accessibility.tree.nodes import Application
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.remote.accessibility_xml import write_tree
from agent_s.settings import DesktopSettings
from evaluation.errors import EvaluationError, PreparationFailed
from evaluation.machine.forward import BrowserPort
from evaluation.machine.http import Answer, BadRequest, Endpoint, Request, as_json, as_text
from evaluation.machine.recording import Recording
from evaluation.state.context import COMMAND_LIMIT_S, TaskContext
from evaluation.state.machine import OSWORLD_HOME, machine
from evaluation.state.steps import (
    Verification,
    activate_window,
    await_verified,
    change_wallpaper,
    close_window,
    open_file,
    split_screen,
)

SCRIPT_LIMIT_S = 30.0
PROFILES = ".config"  # folder of the browsers' profiles in the home
_DEFAULT_WAIT_S, _DEFAULT_INTERVAL_S = 10.0, 1.0


class DesktopMachine:
    """The endpoints of OSWorld's server, on a private desktop.

    ```python
    with DesktopMachine.start(settings.desktop) as machine, MachineServer(machine.endpoints) as server:
        ...
    ```

    Args:
        desktop: The desktop, which has started.
        chromium_port: Port at which Chromium offers its debugging protocol, once a task has started it with one; 0 for
            a free one.

    Raises:
        EvaluationError: The desktop is a person's own.
    """

    def __init__(self, desktop: VirtualDesktop, chromium_port: int = 0) -> None:
        if not desktop.private:
            raise EvaluationError(
                "This is a person's own screen, on which commands of a harness do not run. Serve a private desktop."
            )
        self.desktop = desktop
        self._browser = BrowserPort(lambda: self.desktop.home / PROFILES, chromium_port)
        self._busy = threading.RLock()
        self._recording: Recording | None = None
        self._resources = ExitStack()

    @classmethod
    def start(cls, settings: DesktopSettings, chromium_port: int = 0) -> Self:
        """Start a private desktop whose `python` is the one that runs this, with what OSWorld's scripts import."""
        with ExitStack() as resources:
            programs = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="agent-s-programs-")))
            for name in ("python", "python3"):
                script = programs / name
                script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
                script.chmod(0o755)
            path = f"{programs}:{os.environ.get('PATH', os.defpath)}"
            environment = {"PATH": path, "PYTHONPATH": str(files("evaluation.machine.stand_ins"))}
            desktop = resources.enter_context(settings.new_virtual(environment))
            made = cls(desktop, chromium_port)
            made._resources = resources.pop_all()
        return made

    def __enter__(self) -> Self:
        """Return the machine, whose desktop runs already."""
        self._browser.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the desktop if it was started here."""
        self._browser.__exit__()
        self._end_recording()
        self._resources.close()

    @property
    def endpoints(self) -> dict[tuple[str, str], Endpoint]:
        """What the server offers, by method and path."""
        get = {
            "/screenshot": self.screenshot,
            "/accessibility": self.accessibility,
            "/terminal": self.terminal,
            "/ports": lambda _: as_json({"chromium": self._browser.port, "vlc": 8080}),
            "/platform": lambda _: as_text("Linux"),
            "/cursor_position": lambda _: as_json([self._pointer().x, self._pointer().y]),
        }
        post = {
            "/execute": self.execute,
            "/setup/execute": self.execute,
            "/setup/execute_with_verification": self.execute_with_verification,
            "/run_python": self.run_python,
            "/run_bash_script": self.run_bash_script,
            "/setup/launch": self.launch,
            "/setup/upload": self.upload,
            "/setup/open_file": self.open_file,
            "/setup/change_wallpaper": self.change_wallpaper,
            "/setup/activate_window": self.activate_window,
            "/setup/close_window": self.close_window,
            "/setup/split_screen": self.split_screen,
            "/file": self.file,
            "/list_directory": self.list_directory,
            "/screen_size": lambda _: as_json(dict(zip(("width", "height"), self.desktop.size, strict=True))),
            "/window_size": self.window_size,
            "/desktop_path": self.desktop_path,
            "/wallpaper": self.wallpaper,
            "/start_recording": self.start_recording,
            "/end_recording": self.end_recording,
            "/reset": self.reset,
        }
        named = {"GET": get, "POST": post}
        return {(method, path): endpoint for method, paths in named.items() for path, endpoint in paths.items()}

    # Looking

    def screenshot(self, _: Request) -> Answer:
        """Return the screen with the pointer as PNG."""
        from mss import MSS
        from PIL import Image

        with self._busy, MSS(display=self.desktop.display, with_cursor=True) as camera:
            shot = camera.grab(camera.monitors[0])
        written = io.BytesIO()
        Image.frombytes("RGB", shot.size, shot.rgb).save(written, "PNG", compress_level=1)
        return Answer(written.getvalue(), "image/png")

    def accessibility(self, _: Request) -> Answer:
        """Return the accessibility tree as XML."""
        names = machine().shown_as
        shown = [replace(each, name=names.get(each.name, each.name)) for each in self._applications()]
        return as_json({"AT": write_tree(shown).replace(str(self.desktop.home), OSWORLD_HOME)})

    def terminal(self, _: Request) -> Answer:
        """Return the text of the terminal in the active window; null where there is none."""
        shown = [
            node.text
            for application in self._applications()
            for top in application.tops
            if top.has(StateBit.ACTIVE)
            for node in application.nodes.values()
            if node.role == "terminal" and node.text is not None
        ]
        return as_json({"output": self._outwards(shown[0]).rstrip() if shown else None, "status": "success"})

    def window_size(self, request: Request) -> Answer:
        """Return the size of the first window of an application, by a part of its WM_CLASS."""
        wanted = request.text("app_class_name").casefold()
        for window in self.desktop.x11.screen.managed_windows():
            if wanted in window.app.casefold():
                return as_json({"width": window.rect.width, "height": window.rect.height})
        return _failed(f"there is no window of {wanted!r}")

    def _applications(self) -> list[Application]:
        with self._busy:
            x11 = self.desktop.x11
            return x11.accessibility.read_applications(x11.screen.windows(), Rect(0, 0, *self.desktop.size))

    # Commands

    def execute(self, request: Request) -> Answer:
        """Run a command to its end; its status is part of the answer, not the answer's."""
        argv = self._command(request)
        if request.fields.get("async_exec"):
            self._start(argv)
            return as_json({"status": "success", "output": "", "error": "", "returncode": 0})
        return as_json({"status": "success", **self._run(argv)})

    def execute_with_verification(self, request: Request) -> Answer:
        """Run a command, and wait until a window is there or another command succeeds."""
        ended = self._run(self._command(request))
        asked = request.fields.get("verification") or {}
        verification = Verification(
            window_exists=asked.get("window_exists"), command_success=asked.get("command_success")
        )
        limit_s = float(request.fields.get("max_wait_time", _DEFAULT_WAIT_S))
        interval_s = float(request.fields.get("check_interval", _DEFAULT_INTERVAL_S))
        try:
            await_verified(self._context(), verification, limit_s, interval_s)
        except PreparationFailed as error:
            return _failed(str(error))
        return as_json({"status": "success", **ended})

    def run_python(self, request: Request) -> Answer:
        """Run a Python script of the harness."""
        script = self._inwards(request.text("code"))
        ended = self._run_script(["python", "{}"], script, SCRIPT_LIMIT_S)
        output, error, status = ended["output"], ended["error"], ended["returncode"]
        done = {"output": output, "error": error, "return_code": status, "message": output + error}
        return as_json({"status": "error" if status else "success", "need_more": False, **done})

    def run_bash_script(self, request: Request) -> Answer:
        """Run a shell script of the harness."""
        script = self._inwards(request.text("script"))
        limit_s, folder = float(request.fields.get("timeout") or SCRIPT_LIMIT_S), request.fields.get("working_dir")
        if folder and not self._context().path(folder).is_dir():
            raise BadRequest(f"working_dir: there is no folder {folder}")
        inside = f"cd {shlex.quote(str(self._context().path(folder)))}\n" if folder else ""
        ended = self._run_script(["/bin/bash", "{}"], inside + script, limit_s)
        status, output = ended["returncode"], ended["output"] + ended["error"]
        said = {"status": "error" if status else "success", "output": output, "error": "", "returncode": status}
        return as_json(said)

    def launch(self, request: Request) -> Answer:
        """Start a program without waiting for it."""
        argv = self._command(request)
        if Path(argv[0]).name in machine().unneeded:
            return as_text(f"{argv[0]} is not needed here")
        if request.fields.get("shell"):
            self._start(argv)
        else:
            with self._busy:
                self.desktop.launch(argv, wait_for_window=False)
        return as_text(f"{shlex.join(argv)} launched successfully")

    def _command(self, request: Request) -> list[str]:
        command, shell = request.fields.get("command"), bool(request.fields.get("shell"))
        if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
            # as the original does: not only in the first argument
            command = [os.path.expanduser(part) if part.startswith("~/") else part for part in command]  # noqa: PTH111
        elif not isinstance(command, str) or not command.strip():
            raise BadRequest("the key 'command' must be a text, or a list of texts")
        return self._context().command(command, shell)

    def _run(self, argv: list[str], limit_s: float = COMMAND_LIMIT_S) -> dict[str, Any]:
        ended = self._context().run(argv, limit_s)
        output, error = self._outwards(ended.stdout), self._outwards(ended.stderr)
        return {"output": output, "error": error, "returncode": ended.returncode}

    def _run_script(self, argv: list[str], script: str, limit_s: float) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="agent-s-script-") as folder:
            file = Path(folder) / "script"
            file.write_text(script, encoding="utf-8")
            return self._run(self._context().argv([str(file) if part == "{}" else part for part in argv]), limit_s)

    def _start(self, argv: list[str]) -> None:
        subprocess.Popen(
            argv,
            cwd=self.desktop.home,
            env=self.desktop.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    # Files

    def upload(self, request: Request) -> Answer:
        """Write a file."""
        if "file_data" not in request.files:
            raise BadRequest("the form has no file 'file_data'")
        path = self._path(request.text("file_path"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(request.files["file_data"])
        return as_text("File Uploaded")

    def file(self, request: Request) -> Answer:
        """Return a file."""
        path = self._path(request.text("file_path"))
        if not path.is_file():
            return as_json({"error": f"File not found: {request.text('file_path')}"}, HTTPStatus.NOT_FOUND)
        return Answer(path.read_bytes(), "application/octet-stream")

    def list_directory(self, request: Request) -> Answer:
        """Return the names in a folder and in those below it."""
        folder = self._path(request.text("path"))
        if not folder.is_dir():
            raise BadRequest(f"The path is not a directory: {request.text('path')}")
        return as_json({"directory_tree": _tree(folder)})

    def desktop_path(self, _: Request) -> Answer:
        """Return the folder of the desktop's icons."""
        if not (self.desktop.home / "Desktop").is_dir():
            return as_json({"error": "Desktop path not found"}, HTTPStatus.NOT_FOUND)
        return as_json({"desktop_path": f"{OSWORLD_HOME}/Desktop"})

    def wallpaper(self, _: Request) -> Answer:
        """Return the file of the wallpaper."""
        address = self._context().output(["gsettings", "get", "org.gnome.desktop.background", "picture-uri"])
        path = Path(address.strip().strip("'").removeprefix("file://"))
        if not path.is_file():
            return as_json({"error": f"there is no wallpaper {path}"}, HTTPStatus.NOT_FOUND)
        return Answer(path.read_bytes(), "application/octet-stream")

    # Windows

    def open_file(self, request: Request) -> Answer:
        """Open a file with its application, and wait for its window."""
        path = self._path(request.text("path"))
        if not path.exists():
            return as_text(f"File not found: {request.text('path')}", HTTPStatus.NOT_FOUND)
        with self._busy:
            open_file(self._context(), path=str(path))
        return as_text("File opened successfully")

    def change_wallpaper(self, request: Request) -> Answer:
        """Set the wallpaper."""
        change_wallpaper(self._context(), path=request.text("path"))
        return as_text("Wallpaper changed successfully")

    def activate_window(self, request: Request) -> Answer:
        """Bring a window to the front, once it is there; as in OSWorld, it is no error if none comes."""
        return self._on_window(activate_window, request)

    def close_window(self, request: Request) -> Answer:
        """Ask windows to close."""
        return self._on_window(close_window, request)

    def split_screen(self, request: Request) -> Answer:
        """Bring two windows to the front."""
        names = {name: request.text(name) for name in ("window_name1", "window_name2")}
        try:
            split_screen(self._context(), **names)
        except PreparationFailed as error:
            return as_text(str(error))
        return as_text("Screen split successfully")

    def _on_window(self, step: Any, request: Request) -> Answer:
        how = {name: bool(request.fields.get(name)) for name in ("strict", "by_class")}
        try:
            step(self._context(), window_name=request.text("window_name"), **how)
        except PreparationFailed as error:
            return as_text(str(error))
        return as_text("Done")

    # The machine

    def reset(self, _: Request) -> Answer:
        """Put the desktop back to how it was at the start; OSWorld reverts its machine to a snapshot."""
        with self._busy:
            self._end_recording()
            self.desktop.reset()
        return as_json({"status": "success"})

    def start_recording(self, _: Request) -> Answer:
        """Begin to record the screen as a video."""
        if self._recording is not None:
            return as_json({"status": "error", "message": "Recording is already in progress."}, HTTPStatus.BAD_REQUEST)
        self._recording = Recording(self.desktop.display, self.desktop.size)
        return as_json({"status": "success", "message": "Started recording."})

    def end_recording(self, _: Request) -> Answer:
        """Return the video."""
        if self._recording is None:
            message = "No recording in progress to stop."
            return as_json({"status": "error", "message": message}, HTTPStatus.BAD_REQUEST)
        return Answer(self._end_recording(), "video/mp4")

    def _end_recording(self) -> bytes:
        recording, self._recording = self._recording, None
        return recording.end() if recording is not None else b""

    def _context(self) -> TaskContext:
        """Return what steps need; a reset has changed the desktop's home."""
        return TaskContext(self.desktop, self.desktop.x11.screen, self.desktop.home, commands=True)

    def _path(self, text: str) -> Path:
        return self._context().path(os.path.expandvars(text))

    def _inwards(self, text: str) -> str:
        return text.replace(OSWORLD_HOME, str(self.desktop.home))

    def _outwards(self, text: str) -> str:
        return text.replace(str(self.desktop.home), OSWORLD_HOME)

    def _pointer(self) -> Any:
        return self.desktop.x11.screen.pointer()


def _failed(message: str) -> Answer:
    return as_json({"status": "error", "message": message}, HTTPStatus.INTERNAL_SERVER_ERROR)


def _tree(folder: Path) -> dict[str, Any]:
    children = [
        _tree(path) if path.is_dir() and not path.is_symlink() else {"type": "file", "name": path.name}
        for path in sorted(folder.iterdir())
    ]
    return {"type": "directory", "name": folder.name, "children": children}
