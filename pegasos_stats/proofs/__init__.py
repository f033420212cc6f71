"""Proofs of optimality: a file that a program without this package checks."""
