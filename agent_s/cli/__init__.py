"""The command line: builds every part, owns the terminal and the log.

Importing this package loads nothing; `main` loads the command that was asked for and what that needs.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run `agent-s` with the arguments of this process and return its exit status (see `agent_s.terminal.exits`)."""
    from agent_s.cli.app import run_app

    return run_app(sys.argv[1:])
