"""Probabilities: made from scores, and held against what happened."""
