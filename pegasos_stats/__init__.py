"""Two-level outcomes in data frames: support vector machines with R's numbers."""

__version__ = "0.1.0"
