"""Recorded runs: writing, reading and reporting them."""
