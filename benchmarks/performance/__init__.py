"""Time and memory beside other packages: `python -m benchmarks.performance`, or `make bench`."""
