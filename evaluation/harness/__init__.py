"""Running many tasks: worker processes, recordings and results on disk."""
