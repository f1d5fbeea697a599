"""A PostgreSQL server for tests: installed with the test requirements, started and stopped here."""

from __future__ import annotations

import os
import secrets
import shutil
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
    """A running server with the superuser `agent` and the ordinary user `plain`, on a socket in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.run("CREATE ROLE plain LOGIN")

    def run(self, statement: str) -> None:
        with psycopg.connect(f"host={self._folder} user=agent dbname=postgres", autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def new_database(self, user: str = "agent") -> str:
        """Make a database that a user owns, and return its URL."""
        name = f"memory_{secrets.token_hex(4)}"
        self.run(f"CREATE DATABASE {name} OWNER {user}")
        return f"postgresql://{user}@/{name}?host={self._folder}"


def _installation() -> Path:
    spec = find_spec("pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("there is no PostgreSQL server for the tests: run make setup")
    return Path(spec.submodule_search_locations[0])


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server on files of its own, and stop it."""
    # Not under pytest's own folder, which is closed to the user that the server becomes when we are root.
    folder = Path(tempfile.mkdtemp(prefix="agent-s-pg-"))
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    package = _installation()
    process: subprocess.Popen[bytes] | None = None
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
        options = ["-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40"]
        command = [str(programs / "postgres"), "-D", str(data), *options]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
        _wait_until_ready(folder, process)
        yield Server(folder)
    finally:
        if process is not None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
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
