"""Formulas: parse their text into trees, and evaluate the trees on data."""
