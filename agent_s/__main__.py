"""Run `agent-s` as `python -m agent_s`."""

from __future__ import annotations

import sys

from agent_s.cli import main

sys.exit(main())
