"""Demonstrations: a person shows a task, which is stored as a run of the agent."""
