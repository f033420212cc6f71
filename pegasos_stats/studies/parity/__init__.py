"""A fit run in Python and by the reference in R, and compared."""
