"""Arrays to solutions: problems, solvers, their runs, certificates."""
