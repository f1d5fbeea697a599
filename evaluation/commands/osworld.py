"""`agent-s osworld`: private desktops as machines for OSWorld's own harness."""

from __future__ import annotations

import secrets
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import click

from agent_s.terminal.exits import EnvironmentProblem
from agent_s.terminal.lazy import SuggestingGroup, examples
from agent_s.terminal.options import Number, json_option, read_settings, settings_options
from agent_s.terminal.output import echo_json


@click.group("osworld", cls=SuggestingGroup, epilog=examples("agent-s osworld serve --port 5000 --port 5001"))
def osworld() -> None:
    """Serve private desktops to OSWorld's own harness."""


@osworld.command(
    epilog=examples(
        "agent-s osworld serve",
        "agent-s osworld serve --port 5000 --port 5001 --token -c desktop.width=1920 -c desktop.height=1080",
    )
)
@click.option(
    "--port",
    "ports",
    type=Number(0, 65535),
    multiple=True,
    help="Loopback port; 0 for a free one. Repeatable: each has a private desktop of its own (default: 5000).",
)
@click.option("--token", is_flag=True, help="Serve only clients that send a token, which is shown at the start.")
@json_option("Write one JSON object with the addresses once all machines are ready.")
@settings_options
def serve(
    ports: tuple[int, ...], token: bool, as_json: bool, config_file: Path | None, overrides: tuple[str, ...]
) -> int:
    """Serve private desktops over OSWorld's protocol, until Ctrl-C.

    The harness may run any command on them, with your rights, as in its virtual machines: serve only harnesses and
    tasks that you trust. Nothing is reachable from other machines, and your own screen is never served.
    """
    from agent_s.terminal.interrupts import SIGNALS
    from evaluation.commands.eval_run import refuse_missing_programs
    from evaluation.machine.desktop import DesktopMachine
    from evaluation.machine.http import MachineServer

    settings = read_settings(config_file, overrides).desktop
    refuse_missing_programs()
    word = secrets.token_urlsafe(16) if token else ""
    addresses = []
    asked_to_end = threading.Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: asked_to_end.set())
    with ExitStack() as resources:
        for port in ports or (5000,):
            machine = resources.enter_context(DesktopMachine.start(settings))
            try:
                server = MachineServer(machine.endpoints, port, word)
            except OSError as error:
                raise EnvironmentProblem(
                    f"The port {port} cannot be used: {error.strerror}. Choose another with --port; 0 is any free one."
                ) from error
            resources.enter_context(server)
            user = f"{word}@" if word else ""
            addresses.append(f"http://{user}127.0.0.1:{server.server_port}")
        if as_json:
            echo_json({"machines": addresses})
        else:
            for address in addresses:
                click.echo(f"Ready: {address}")
            click.echo("Ctrl-C ends it.")
        asked_to_end.wait()
    return 0
