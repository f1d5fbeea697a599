"""Models: the protocol, and those that need no network."""
