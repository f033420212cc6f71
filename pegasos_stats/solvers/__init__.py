"""Solvers: optimisation problems as arrays, options, runs, and certificates."""
