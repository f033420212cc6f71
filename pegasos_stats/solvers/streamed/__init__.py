"""The exact optimum from few reads of rows that may be anywhere."""
