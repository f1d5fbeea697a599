"""Shared parts of the command line: options, progress, exit statuses and interrupts."""
