"""Replay of verified experience without a model."""
