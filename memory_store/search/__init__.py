"""Search by meaning and by words, with ranking of the results."""
