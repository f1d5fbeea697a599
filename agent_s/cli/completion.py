"""`agent-s completion`: shell completion of commands, options, settings, runs and applications."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from agent_s.terminal.lazy import examples


@click.command(
    epilog=examples(
        "mkdir -p ~/.local/share/bash-completion/completions",
        "agent-s completion bash > ~/.local/share/bash-completion/completions/agent-s",
        "agent-s completion zsh >> ~/.zshrc",
        "mkdir -p ~/.config/fish/completions",
        "agent-s completion fish > ~/.config/fish/completions/agent-s.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes agent-s in SHELL; it takes effect in shells that you start afterwards."""
    from agent_s.cli.app import app

    if (kind := get_completion_class(shell)) is not None:
        click.echo(kind(app, {}, "agent-s", "_AGENT_S_COMPLETE").source())
