"""The command line, which builds the agent and owns the terminal and the log.

Importing this package loads nothing; `main` loads only the requested command and its dependencies.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run `agent-s` with the arguments of this process and return its exit status (see `agent_s.terminal.exits`)."""
    try:
        from agent_s.cli.app import run_app
    except KeyboardInterrupt:  # `run_app` handles every later one
        sys.stderr.write("Stopped.\n")
        return 130
    return run_app(sys.argv[1:])
