"""`agent-s mcp`: serve clients of the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click

from agent_s.errors import install_command
from agent_s.terminal.exits import DONE, EnvironmentProblem
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import read_settings, settings_options, with_default_model

TOKEN_VARIABLE = "AGENT_S_MCP_TOKEN"


@click.command(
    epilog=examples("agent-s mcp", "agent-s mcp --display :0", f"{TOKEN_VARIABLE}=secret agent-s mcp --http 8765")
)
@settings_options
@click.option("--model", metavar="NAME", help="Model for run_task (default: from settings).")
@click.option(
    "--display", "--osworld", "display", metavar=":N|URL",
    help="Also let clients use this X display, or this machine of OSWorld; without it, private desktops only.",
)  # fmt: skip
@click.option("--http", "port", metavar="PORT", type=click.IntRange(1, 65535), help="Serve HTTP on loopback instead.")
def mcp(
    config_file: Path | None, overrides: tuple[str, ...], model: str | None, display: str | None, port: int | None
) -> int:
    """Serve desktops and the agent as tools to an MCP client, over standard input and output.

    Clients start private desktops of their own. With --http, clients connect to http://127.0.0.1:PORT/mcp with the
    token in AGENT_S_MCP_TOKEN, or with one that is printed.
    """
    try:
        import anyio

        from agent_s.mcp.server import McpServer
        from agent_s.terminal.desktop_choice import choose_desktop
    except ImportError as error:
        raise EnvironmentProblem(f"The server needs the package mcp: {install_command('mcp')} ({error}).") from error

    settings = with_default_model(read_settings(config_file, overrides, {"model": model}))

    async def serve() -> None:
        server = McpServer(settings, choose_desktop(display, virtual=False) if display else None)
        try:
            if port is None:
                await server.serve_stdio()
            else:
                token = os.environ.get(TOKEN_VARIABLE) or _new_token()
                click.echo(f"Serving http://127.0.0.1:{port}/mcp", err=True)
                await server.serve_http(port, token)
        finally:
            with anyio.CancelScope(shield=True):
                await server.close()

    anyio.run(serve)
    return DONE


def _new_token() -> str:
    token = secrets.token_urlsafe(24)
    click.echo(f"Token: {token}", err=True)
    return token
