"""Outcome, predictors and weights: from what a user has to arrays."""

from pegasos_stats.foreign_names import answer_calls_of_module

answer_calls_of_module(__name__, "ps.datasets.load_digits56() for data to try")
