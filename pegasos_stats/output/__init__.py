"""Output: figures, reports, the command line."""
