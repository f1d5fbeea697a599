"""Text embedders, and embedding in the background."""
