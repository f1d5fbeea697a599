"""What the benchmarks share: screens to look at, baselines to compare with, and how figures are printed."""
