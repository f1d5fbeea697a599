"""Recorded runs on disk: their format, and how to find and read them."""
