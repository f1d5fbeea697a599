"""The policy: which actions are allowed, confirmed or refused."""
