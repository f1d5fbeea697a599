"""Search by meaning and by words, and ranking of the results."""
