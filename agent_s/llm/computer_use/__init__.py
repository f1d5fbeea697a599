"""Computer-use models, which operate a screen by pixels and are mapped to the same primitives."""
