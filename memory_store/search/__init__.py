"""Finding experience: by meaning, by words, and ranking what was found."""
