"""Choosing a model: cross-validation, and fits along a path of lambda."""
