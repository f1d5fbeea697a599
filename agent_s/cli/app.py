"""The top-level command `agent-s`: its subcommands, and error reporting."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from agent_s.terminal.exits import DONE, INTERRUPTED, NOT_DONE, as_click_error
from agent_s.terminal.interrupts import Interrupted, convert_interrupts
from agent_s.terminal.lazy import Entry, LazyGroup, examples
from agent_s.terminal.options import acting_options, files_option, read_settings, settings_options, with_default_model

COMMANDS = {
    "run": Entry("agent_s.cli.run", "run", "Carry out one task on a desktop."),
    "resume": Entry("agent_s.cli.resume", "resume", "Resume a run that ended early."),
    "runs": Entry("agent_s.cli.runs", "runs", "List, show, report and replay recorded runs."),
    "record": Entry("agent_s.cli.record", "record", "Record how you do a task, to replay it without a model."),
    "view": Entry("agent_s.view.command", "view", "Watch current and past runs in a browser."),
    "memory": Entry("agent_s.cli.memory", "memory", "Inspect, transfer and delete what the agent has learned."),
    "mcp": Entry("agent_s.mcp.command", "mcp", "Serve desktops and the agent to MCP clients."),
    "osworld": Entry("evaluation.commands.osworld", "osworld", "Serve private desktops to OSWorld's own harness."),
    "completion": Entry("agent_s.cli.completion", "completion", "Print the script for Tab completion in your shell."),
    "doctor": Entry("agent_s.cli.doctor", "doctor", "Check for missing requirements, and clean up after killed runs."),
}
PLUGINS = "agent_s.commands"  # entry point group under which packages above this one register further commands


def _show_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from agent_s.version import program_version

        click.echo(f"agent-s {program_version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    plugins=PLUGINS,
    invoke_without_command=True,
    epilog=examples(
        "agent-s demo",
        "agent-s run \"Open the text editor, type 'hello' and save it as a.txt in the Documents folder.\"",
        "agent-s --virtual --model http://localhost:8000/v1#NAME",
        "agent-s doctor",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("-v", "--verbose", count=True, help="Write the log to standard error (-vv: with debug messages).")
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
@settings_options
@acting_options
@files_option
@click.pass_context
def app(
    ctx: click.Context,
    verbose: int,
    config_file: Path | None,
    overrides: tuple[str, ...],
    model: str | None,
    display: str | None,
    virtual: bool,
    confirm: str | None,
    files: Path | None,
) -> int:
    """Operate a desktop from one sentence.

    Without a command, agent-s asks for tasks and carries them out one after another on the same desktop. The options
    from --config on apply only in this mode.
    """
    install_log(verbose)
    if ctx.invoked_subcommand is not None:
        if config_file or overrides or model or display or virtual or confirm or files:
            raise click.UsageError(f"Put the options of a command after it: agent-s {ctx.invoked_subcommand} ...")
        return DONE
    from agent_s.cli.interactive import ask_for_tasks
    from agent_s.terminal.desktop_choice import choose_desktop, with_files

    settings = read_settings(config_file, overrides, {"model": model, "policy.confirm": confirm})
    choice = with_files(choose_desktop(display, virtual), files)
    return ask_for_tasks(with_default_model(settings), choice)


def run_app(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; only a bug shows a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # text from the screen may not fit the terminal's encoding
            stream.reconfigure(errors="replace")
    try:
        with convert_interrupts():
            result = app.main(args=list(arguments), prog_name="agent-s", standalone_mode=False)
    except (Interrupted, click.Abort, KeyboardInterrupt) as error:
        click.echo("Stopped.", err=True)
        return error.exit_status if isinstance(error, Interrupted) else INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, is gone. Python would complain when it flushes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_DONE
    except Exception as error:
        if (explained := as_click_error(error)) is None:
            raise
        explained.show()
        return explained.exit_code
    return result if isinstance(result, int) else DONE


def install_log(verbose: int) -> None:
    """Send the log to standard error: nothing by default, information with `-v`, our own debug messages with `-vv`."""
    import logging

    if not verbose:
        logging.getLogger().addHandler(logging.NullHandler())
        return
    logging.basicConfig(format="%(relativeCreated)7.0f ms %(name)s: %(message)s", level=logging.WARNING)
    for package in ("agent_s", "aci", "memory_store", "exploration", "evaluation"):
        logging.getLogger(package).setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
