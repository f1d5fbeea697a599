"""Demonstrations: a person shows a task, and what they did is kept as a run of the agent."""
