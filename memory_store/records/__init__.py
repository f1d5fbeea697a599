"""Records of the memory: the kinds of experience and their fields."""
