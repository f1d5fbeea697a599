"""Modules that scripts on OSWorld's machine import, for a served desktop; on its PYTHONPATH."""
