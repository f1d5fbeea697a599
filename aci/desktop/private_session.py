"""The programs behind a private desktop: X server, session bus, accessibility bus and window manager."""

from __future__ import annotations

import fcntl
import os
import pwd
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from aci.applications.catalog import sockets_elsewhere, toolkit_environment, write_first_settings
from aci.desktop.folders import DesktopFolder, common_folder
from aci.errors import MissingDependency, StartFailed
from aci.processes import MARK, belonging_to, bound_sockets, end, is_answered, remove_sockets, sessions_of

READY_LIMIT_S = 15.0  # per program; usually a tenth of a second, but much more on a loaded machine

_PACKAGES = {
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus-daemon",
    "at-spi-bus-launcher": "at-spi2-core",
    "openbox": "openbox",
}
# folders of the accessibility launcher, which is not on PATH
_HIDDEN_FOLDERS = ("/usr/libexec", "/usr/lib/at-spi2-core", "/usr/libexec/at-spi2-core")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games:/usr/sbin:/sbin"
_GTK_WITH_ANIMATIONS = ("gtk-3.0", "gtk-4.0")
_USER_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos")
_INHERITED = ("TZ", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def find_program(name: str) -> str | None:
    """Return the path of a program, which may be in a folder that is not on PATH."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join((*_HIDDEN_FOLDERS, _SYSTEM_PATH)))


def missing_programs(find: Callable[[str], str | None] = find_program) -> dict[str, str]:
    """Return the missing programs of a private desktop, with the Debian package of each."""
    return {name: package for name, package in _PACKAGES.items() if find(name) is None}


def required_programs(find: Callable[[str], str | None] = find_program) -> dict[str, str]:
    """Return the paths of the programs that a private desktop needs.

    Args:
        find: Callback that returns the path of a program, or None.

    Raises:
        MissingDependency: Programs are missing; the message names them and the command that installs them.
    """
    absent = missing_programs(find)
    if absent:
        raise MissingDependency(
            f"A virtual desktop needs {', '.join(absent)}.",
            f"sudo apt-get install -y --no-install-recommends {' '.join(sorted(set(absent.values())))}",
        )
    return {name: path for name in _PACKAGES if (path := find(name))}


class PrivateSession:
    """An X server with its own buses, window manager, home and environment."""

    def __init__(
        self,
        place: DesktopFolder,
        home: Path,
        size: tuple[int, int],
        extra_environment: Mapping[str, str],
    ) -> None:
        self._place = place
        self._size = size
        self._extra = dict(extra_environment)
        self._running: list[subprocess.Popen[bytes]] = []
        self.home = home  # HOME of its applications
        # environment of the session's applications; complete once it is started
        self.environment: dict[str, str] = {}
        self.display = ""  # name of the X display, such as ":1"; empty before it is started

    def start(self) -> None:
        """Start the programs; the window manager may still be coming up.

        Raises:
            MissingDependency: A program is absent.
            StartFailed: A program ended or did not answer.
        """
        programs = required_programs()
        try:
            self._make_home()
        except OSError as error:
            raise StartFailed(f"Cannot create the home directory {self.home}: {error}") from error
        self._offer_accessibility_service(programs["at-spi-bus-launcher"])
        self._turn_off_animations()
        self.environment = self._base_environment()
        with _display_numbers():
            number = self._start_server(programs["Xvfb"])
        self._place.record_display(number)
        self.display = self.environment["DISPLAY"] = f":{number}"
        settings = self._place.run / "openbox.xml"
        settings.write_bytes(resources.files("aci.desktop").joinpath("openbox.xml").read_bytes())
        self._start("openbox", [programs["openbox"], "--sm-disable", "--config-file", str(settings)])
        self._start_bus(programs["dbus-daemon"])
        self.environment.update(self._extra)

    def stop(self, grace_s: float) -> None:
        """End the applications, by force after `grace_s`, then the session's programs, and remove their files."""
        sockets = bound_sockets(self._processes())
        own = sessions_of([process.pid for process in self._running])
        end(lambda: {pid for pid in self._processes() if not sessions_of([pid]) & own}, grace_s)
        end(self._processes, grace_s=1.0)
        for process in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
        self._running.clear()
        remove_sockets(sockets | sockets_elsewhere(self.home))
        if self.display:
            remove_server_files(int(self.display[1:]))

    def _processes(self) -> set[int]:
        for process in self._running:
            process.poll()
        return belonging_to(self._place.id)

    def _base_environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return {
            **inherited,
            MARK: self._place.id,
            "PATH": _search_path(),
            "HOME": str(self.home),
            "USER": _user_name(),
            "SHELL": shutil.which("bash") or "/bin/sh",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self._place.tmp),
            "XDG_RUNTIME_DIR": str(self._place.run),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CONFIG_DIRS": f"{self._config_folder}:{os.environ.get('XDG_CONFIG_DIRS') or '/etc/xdg'}",
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_SESSION_TYPE": "x11",
            "XDG_CURRENT_DESKTOP": "agent-s",
            "GDK_BACKEND": "x11",
            "GSETTINGS_BACKEND": "keyfile",
            "GTK_USE_PORTAL": "0",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "GSK_RENDERER": "cairo",  # without a GPU, GTK 4 compiles shaders for seconds before it draws a menu
            "QT_ACCESSIBILITY": "1",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "QT_QPA_PLATFORM": "xcb",
            **toolkit_environment(self.home),
        }

    def _make_home(self) -> None:
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (*_USER_FOLDERS, ".config", ".cache", ".local", ".local/share", ".local/state"):
            (self.home / name).mkdir(mode=0o700, exist_ok=True)
        lines = [
            f'XDG_{"DOWNLOAD" if name == "Downloads" else name.upper()}_DIR="$HOME/{name}"\n' for name in _USER_FOLDERS
        ]
        (self.home / ".config/user-dirs.dirs").write_text("".join(lines), encoding="utf-8")
        write_first_settings(self.home)

    def _offer_accessibility_service(self, launcher: str) -> None:
        """Let the session bus start the accessibility bus on demand, enabled for all toolkits.

        The service file in the runtime folder takes precedence over the system's, which would start it disabled.
        """
        folder = self._place.run / "dbus-1/services"
        folder.mkdir(mode=0o700, parents=True)
        (folder / "org.a11y.Bus.service").write_text(
            f"[D-BUS Service]\nName=org.a11y.Bus\nExec={launcher} --launch-immediately --a11y=1\n", encoding="utf-8"
        )

    def _turn_off_animations(self) -> None:
        """Have GTK, and with it LibreOffice and Chromium, draw each change at once, unless the home says otherwise.

        A dialog that greys out tool bars would take up to two seconds to come to rest.
        """
        for version in _GTK_WITH_ANIMATIONS:
            folder = self._config_folder / version
            folder.mkdir(mode=0o700, parents=True)
            (folder / "settings.ini").write_text("[Settings]\ngtk-enable-animations=0\n", encoding="utf-8")

    @property
    def _config_folder(self) -> Path:
        """Settings of this session, which those in the home override."""
        return self._place.run / "xdg"

    def _start_server(self, program: str) -> int:
        width, height = self._size
        arguments = ["-noreset", "-nolisten", "tcp", "-dpi", "96", "-screen", "0", f"{width}x{height}x24"]
        return int(self._start_and_read("Xvfb", lambda fd: [program, "-displayfd", str(fd), *arguments]))

    def _start_bus(self, program: str) -> None:
        address = f"unix:path={self._place.run / 'bus'}"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        arguments = ["--session", "--nofork", "--nopidfile", f"--address={address}"]
        self._start_and_read("dbus-daemon", lambda fd: [program, *arguments, f"--print-address={fd}"])

    def _start_and_read(self, name: str, argv: Callable[[int], Sequence[str]]) -> str:
        """Start a program that writes one line to a descriptor once it is ready, and return that line."""
        reading, writing = os.pipe()
        try:
            try:
                self._start(name, argv(writing), pass_fds=(writing,))
            finally:
                os.close(writing)
            line, deadline = b"", time.monotonic() + READY_LIMIT_S
            while not line.endswith(b"\n"):
                if not select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    raise StartFailed(f"{name} did not get ready within {READY_LIMIT_S:g} s.{self._output_tail(name)}")
                chunk = os.read(reading, 512)
                if not chunk:
                    raise StartFailed(f"{name} ended while it was starting.{self._output_tail(name)}")
                line += chunk
            return line.decode("ascii").strip()
        finally:
            os.close(reading)

    def _start(self, name: str, argv: Sequence[str], pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        try:
            with (self._place.logs / f"{name}.log").open("ab") as log:
                process = subprocess.Popen(
                    argv,
                    env=self.environment,
                    cwd=self.home,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=pass_fds,
                )
        except OSError as error:
            raise StartFailed(f"{name} could not be started: {error}") from error
        self._running.append(process)
        return process

    def _output_tail(self, name: str) -> str:
        text = (self._place.logs / f"{name}.log").read_text(encoding="utf-8", errors="replace").strip()
        return f" Its output ends with: {text[-500:]}" if text else ""


def remove_server_files(number: int) -> None:
    """Remove the socket and lock of a killed X server; those of a running one stay."""
    lock = Path(f"/tmp/.X{number}-lock")
    place = Path(f"/tmp/.X11-unix/X{number}")
    with _display_numbers():
        if _is_held(lock) or is_answered(place):
            return
        for path in (place, lock):
            with suppress(FileNotFoundError, PermissionError):  # it belongs to another user
                path.unlink()


@contextmanager
def _display_numbers() -> Iterator[None]:
    """Hold the lock on display numbers, so that none is taken while files of a killed server are removed."""
    folder = common_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_held(lock: Path) -> bool:
    """Return whether the X server that wrote a lock is alive; it takes the number before its socket answers."""
    try:
        return Path(f"/proc/{int(lock.read_text())}").exists()
    except (OSError, ValueError):
        return False


def _user_name() -> str:
    """Return the name of this user, as some programs look it up among the users, and end if it is not there."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in some containers
        return os.environ.get("USER", "user")


def _search_path() -> str:
    own = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys(folder for folder in (*own, *_SYSTEM_PATH.split(":")) if folder))
