"""Models and results: what a user fits and gets."""
