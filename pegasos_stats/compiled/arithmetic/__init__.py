"""Rows, losses and sums: what every solver is made of."""
