"""Probes: read-only checks of files and settings, which the evaluator requests and code makes."""
