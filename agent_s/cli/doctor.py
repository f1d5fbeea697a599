"""`agent-s doctor`: checks this machine and suggests fixes for problems."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE, ENVIRONMENT
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option, with_settings

if TYPE_CHECKING:
    from agent_s.cli.doctor_checks import Finding
    from agent_s.settings import Settings

MARKS = {"ok": ("✓", "green"), "missing": ("✗", "red"), "optional": ("-", "yellow")}


@click.command(epilog=examples("agent-s doctor", "agent-s doctor --fix", "agent-s doctor --json"))
@with_settings
@click.option("--fix", is_flag=True, help="Offer to run the command that fixes each problem.")
@json_option("Write one JSON object.")
def doctor(settings: Settings, fix: bool, as_json: bool) -> int:
    """Check for missing requirements, and clean up after killed runs.

    Shows the command that installs whatever is missing, and removes processes, sockets and folders that killed runs
    left behind. Exit status: 0 if nothing required is missing, else 3.
    """
    from agent_s.terminal.output import echo_json

    if fix and as_json:
        raise click.UsageError("--fix asks before each command: it cannot be combined with --json.")
    findings = _check(settings, quiet=as_json)
    if fix and _fix([finding for finding in findings if finding.fix]):
        click.echo("\nNow:")
        findings = _check(settings, quiet=False)
    needed = [finding for finding in findings if finding.state == "missing"]
    if as_json:
        echo_json({"ok": not needed, "checks": [asdict(finding) for finding in findings]})
    elif needed:
        click.echo(f"Missing: {', '.join(finding.name for finding in needed)}.")
    else:
        click.echo("Nothing required is missing.")
    return ENVIRONMENT if needed else DONE


def _check(settings: Settings, quiet: bool) -> list[Finding]:
    """Run all checks and, unless quiet, show each finding."""
    from agent_s.cli.doctor_checks import run_checks
    from agent_s.terminal.output import printable

    findings = []
    for finding in run_checks(settings):
        findings.append(finding)
        if not quiet:
            mark, colour = MARKS[finding.state]
            click.echo(f"{click.style(mark, fg=colour)} {finding.name}: {printable(finding.detail)}")
            if finding.hint:
                click.echo(f"    {printable(finding.hint)}")
    return findings


def _fix(findings: Sequence[Finding]) -> bool:
    """Offer to run the fix of each finding; return whether any was run."""
    ran = False
    for finding in findings:
        command = shlex.join(finding.fix)
        if not click.confirm(f"{finding.name}: run {command}?", default=finding.state == "missing"):
            continue
        ran = True
        try:
            done = subprocess.run(finding.fix, check=False)
        except OSError as error:
            click.echo(f"It could not be run: {error.strerror or error}.", err=True)
            continue
        if done.returncode != 0:
            click.echo(f"It ended with exit status {done.returncode}.", err=True)
    if not findings:
        click.echo("There is nothing that can be fixed from here.")
    return ran
