"""Marginal effects, contrasts and adjusted predictions."""
