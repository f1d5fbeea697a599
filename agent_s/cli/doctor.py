"""`agent-s doctor`: checks this machine, and suggests a fix for what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE, ENVIRONMENT
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option, with_settings

if TYPE_CHECKING:
    from agent_s.settings import Settings

MARKS = {"ok": ("✓", "green"), "missing": ("✗", "red"), "optional": ("-", "yellow")}


@click.command(epilog=examples("agent-s doctor", "agent-s doctor --json"))
@with_settings
@json_option("Write one JSON object.")
def doctor(settings: Settings, as_json: bool) -> int:
    """Check for missing requirements, and clean up after killed runs.

    Shows the command that installs whatever is missing, and removes processes, sockets and folders that killed runs
    left behind. Exit status: 0 if nothing required is missing, else 3.
    """
    from agent_s.cli.doctor_checks import look_at_everything
    from agent_s.terminal.output import echo_json, printable

    findings = []
    for finding in look_at_everything(settings):
        findings.append(finding)
        if not as_json:
            mark, colour = MARKS[finding.state]
            click.echo(f"{click.style(mark, fg=colour)} {finding.name}: {printable(finding.detail)}")
            if finding.hint:
                click.echo(f"    {printable(finding.hint)}")
    needed = [finding for finding in findings if finding.state == "missing"]
    if as_json:
        echo_json({"ok": not needed, "checks": [asdict(finding) for finding in findings]})
    elif needed:
        click.echo(f"Missing: {', '.join(finding.name for finding in needed)}.")
    else:
        click.echo("Nothing required is missing.")
    return ENVIRONMENT if needed else DONE
