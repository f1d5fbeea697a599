"""A PostgreSQL server for tests and benchmarks: installed with the test requirements, started and stopped here."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

_UNPRIVILEGED = 65534
_START_S = 60.0


class Server:
    """A server with the superuser `agent` and the ordinary user `plain`, on a socket in `folder`.

    Args:
        folder: Holds the files and the socket.
        command: The server's program with its arguments.
        user: The number of the user that it runs as; None for that of this process.
    """

    def __init__(self, folder: Path, command: list[str], user: int | None) -> None:
        self.folder = folder
        self._command = command
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, user=self._user, cwd=self.folder, stdout=log, stderr=log)
        _wait_until_ready(self.folder, self._process)

    def stop(self, crash: bool = False) -> None:
        """Stop the server, in order or as in a crash, after which it recovers from its log."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
        try:
            self._process.wait(_START_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def run(self, statement: str) -> None:
        """Run a statement as the superuser."""
        with psycopg.connect(f"host={self.folder} user=agent dbname=postgres", autocommit=True) as connection:
            connection.execute(statement)

    def new_database(self, user: str = "agent") -> str:
        """Make a database that a user owns, and return its URL."""
        name = f"memory_{secrets.token_hex(4)}"
        self.run(f"CREATE DATABASE {name} OWNER {user}")
        return f"postgresql://{user}@/{name}?host={self.folder}"


def _installation() -> Path:
    spec = find_spec("pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("there is no PostgreSQL server for the tests: run make setup")
    return Path(spec.submodule_search_locations[0])


@contextmanager
def running_server(*settings: str) -> Iterator[Server]:
    """Start a server on files of its own, and stop it.

    Args:
        settings: Its settings, such as "fsync=on".
    """
    # Not under pytest's own folder, which is closed to the user that the server becomes when we are root.
    folder = Path(tempfile.mkdtemp(prefix="agent-s-pg-"))
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    package = _installation()
    server: Server | None = None
    try:
        if user is not None:
            # PostgreSQL refuses root, and what root has installed may be closed to others.
            shutil.copytree(package / "pginstall", folder / "site" / "pgserver" / "pginstall", symlinks=True)
            shutil.copytree(package.parent / "pgserver.libs", folder / "site" / "pgserver.libs")
            package = folder / "site" / "pgserver"
            folder.chmod(0o755)
            os.chown(folder, user, user)
        programs = package / "pginstall" / "bin"
        data = folder / "data"
        made = [str(programs / "initdb"), "-D", str(data), "-U", "agent", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*made, "--locale=C"], check=True, capture_output=True, user=user, cwd=folder)
        options = ["-k", str(folder)]
        for setting in ("listen_addresses=", "fsync=off", "max_connections=60", *settings):
            options += ["-c", setting]
        server = Server(folder, [str(programs / "postgres"), "-D", str(data), *options], user)
        server.start()
        server.run("CREATE ROLE plain LOGIN")
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(folder: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            psycopg.connect(f"host={folder} user=agent dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "log").read_text()) from None
            time.sleep(0.05)
