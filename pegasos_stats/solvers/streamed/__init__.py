"""Solvers that pass over rows in memory, in files or on other machines."""
