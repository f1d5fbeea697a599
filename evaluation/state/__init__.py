"""The state of applications: setup steps, getters that read it, metrics that judge it, and what they share."""
