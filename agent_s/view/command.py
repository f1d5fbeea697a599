"""`agent-s view`: shows runs in a browser."""

from __future__ import annotations

import secrets
import webbrowser
from pathlib import Path

import click

from agent_s.errors import install_command
from agent_s.settings import Settings
from agent_s.terminal.exits import DONE, EnvironmentProblem
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import Number, json_option, with_settings

MISSING = f"The view needs the packages starlette and uvicorn: {install_command('view')}"


@click.command(epilog=examples("agent-s view", "agent-s view last --open", "agent-s view eval-20260314-093012"))
@click.argument("path", required=False)
@with_settings
@click.option("--port", type=Number(0, 65535), default=0, help="Port on loopback (default: a free one).")
@click.option("--open", "show", is_flag=True, help="Open the pages in your browser.")
@json_option("Write one JSON object with the address.")
def view(path: str | None, settings: Settings, port: int, show: bool, as_json: bool) -> int:
    """Show current and past runs in a browser, until Ctrl-C.

    PATH is a run (its folder, its id or the start of one, or "last"), a folder of runs, or the results of an
    evaluation; without it, all recorded runs. The pages open only
    at the address that is printed.
    """
    try:
        from agent_s.view.server import Viewer, address_of
    except ImportError as error:
        raise EnvironmentProblem(f"{MISSING} ({error}).") from error
    from agent_s.runs.listing import find_run
    from agent_s.terminal.loopback import listen
    from agent_s.terminal.output import show_result
    from agent_s.view.folders import RunsFolder

    folder = settings.runs_folder if path is None else Path(path)
    if path is not None and not folder.is_dir():
        folder = find_run(settings.runs_folder, path)
    try:
        listener = listen(port)
    except OSError as error:
        raise EnvironmentProblem(f"Port {port} cannot be used: {error.strerror}. Leave out --port.") from error
    with listener:
        token = secrets.token_urlsafe(24)
        address = address_of(listener.getsockname()[1], token)
        show_result({"path": folder, "address": address}, f"{folder} is shown at {address}\nCtrl-C ends it.", as_json)
        if show:
            webbrowser.open(address)
        Viewer(RunsFolder(folder)).server(token).run([listener])
    return DONE
