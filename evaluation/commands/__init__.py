"""Commands of `agent-s` that run evaluations."""
