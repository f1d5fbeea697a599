"""Primitives, and how they are performed."""
