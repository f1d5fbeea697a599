"""`agent-s doctor`: what this machine lacks, and the command that mends it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from agent_s.terminal.exits import DONE, ENVIRONMENT
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option, read_settings, settings_options

MARKS = {"ok": ("✓", "green"), "missing": ("✗", "red"), "optional": ("-", "yellow")}


@click.command(epilog=examples("agent-s doctor", "agent-s doctor --json"))
@settings_options
@json_option("Write one JSON object.")
def doctor(config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Check what this machine lacks, and clean up after killed runs.

    Names the command that installs each thing that is missing. Processes, sockets and folders that killed runs left
    behind are removed. Exit status 0 when all that is needed is there, else 3.
    """
    from agent_s.cli.doctor_checks import look_at_everything
    from agent_s.terminal.output import echo_json, printable

    findings = []
    for finding in look_at_everything(read_settings(config_file, overrides)):
        findings.append(finding)
        if not as_json:
            mark, colour = MARKS[finding.state]
            click.echo(f"{click.style(mark, fg=colour)} {finding.name}: {printable(finding.detail)}")
            if finding.mend:
                click.echo(f"    {printable(finding.mend)}")
    needed = [finding for finding in findings if finding.state == "missing"]
    if as_json:
        echo_json({"ok": not needed, "checks": [asdict(finding) for finding in findings]})
    elif needed:
        click.echo(f"Missing: {', '.join(finding.name for finding in needed)}.")
    else:
        click.echo("All that is needed is there.")
    return ENVIRONMENT if needed else DONE
