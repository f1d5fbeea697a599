"""Models that operate a screen by pixels, as front ends of the same primitives."""
