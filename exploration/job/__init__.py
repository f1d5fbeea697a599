"""The exploration job and its worker processes."""
