"""Solvers: each a function of a Problem."""
