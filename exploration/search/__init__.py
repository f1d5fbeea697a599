"""Depth-first search of what an application can do."""
