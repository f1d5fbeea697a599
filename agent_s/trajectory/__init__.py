"""Recording and presentation of runs."""
