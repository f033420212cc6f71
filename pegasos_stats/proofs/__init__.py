"""Proofs of optimality, which a program checks without this package."""
