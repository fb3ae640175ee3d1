"""NumPy twins of the compiled kernels: same names and arguments; for correctness, not speed."""
