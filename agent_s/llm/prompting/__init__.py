"""Rendering of typed contexts as prompts."""
