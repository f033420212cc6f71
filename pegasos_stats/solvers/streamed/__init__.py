"""Solvers that need few passes over rows in memory, in files or on other machines."""
