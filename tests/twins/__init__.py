"""Twins of the compiled kernels in NumPy or plain Python: same names and arguments, for truth.

Tests run both on the same inputs; nothing of textreg runs a twin.
"""
