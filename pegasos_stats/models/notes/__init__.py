"""Notes on a fit: one for each fact that its numbers do not show."""
