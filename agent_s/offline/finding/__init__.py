"""Finding elements on the screen by their descriptions."""
