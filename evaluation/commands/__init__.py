"""Evaluation commands of `agent-s`, registered as entry points (`agent_s.commands` in pyproject.toml)."""

from __future__ import annotations

from agent_s.terminal.lazy import Entry

DEMO = Entry("evaluation.commands.demo", "demo", "Run the demo tasks on private desktops and verify each.")
EVAL = Entry("evaluation.commands.eval", "evaluate", "Evaluate the agent on benchmarks.")
