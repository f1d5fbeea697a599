"""Run benchmarks: prepare a private desktop, run the agent on a task, and score the resulting application state."""
