"""Tasks in OSWorld's format: setup steps, getters, metrics and the action space."""
