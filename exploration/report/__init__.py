"""The report of an exploration."""
