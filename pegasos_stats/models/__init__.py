"""Models and their results."""
