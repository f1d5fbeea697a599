"""Evaluation harness: worker pools, recordings, and results on disk."""
