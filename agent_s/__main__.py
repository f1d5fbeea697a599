"""`python -m agent_s` is `agent-s`."""

from __future__ import annotations

import sys

from agent_s.cli import main

sys.exit(main())
