"""Recorded runs on disk: their format, and reading and finding them."""
