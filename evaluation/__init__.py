"""Tasks in OSWorld's format: prepare a desktop, let the agent work, and check the applications' own state."""
