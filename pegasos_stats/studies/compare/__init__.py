"""Studies of solvers: each run many times, from its own seed, and recorded."""

from pegasos_stats.studies.compare.comparison import SolverComparison
from pegasos_stats.studies.compare.study import compare_solvers

__all__ = ["SolverComparison", "compare_solvers"]
