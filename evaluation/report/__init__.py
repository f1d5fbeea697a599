"""Statistics and comparisons of results."""
