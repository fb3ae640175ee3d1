"""NumPy twins of the compiled kernels: same names, same arguments, for truth and not for speed."""
