"""Outcome, predictors and weights: from what a user has to arrays."""
