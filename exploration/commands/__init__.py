"""The command `agent-s explore`."""
