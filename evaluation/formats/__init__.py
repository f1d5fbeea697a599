"""Readers and metrics for documents, images, settings, browsers and other application state."""
