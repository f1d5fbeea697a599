"""The records of the memory: what one experience of each kind holds."""
