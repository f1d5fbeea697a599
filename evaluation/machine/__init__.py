"""A private desktop as a machine of OSWorld: its HTTP server, and what makes OSWorld's own environment use it."""
