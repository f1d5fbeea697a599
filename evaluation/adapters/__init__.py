"""Thin adapters for other harnesses, whose packages are optional."""
