"""Keyboard, pointer and clipboard of an X display."""
