"""The trace of a run: one record per epoch."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from pegasos_stats.data.labels import Ties
from pegasos_stats.solvers.pegasos_run import Moment
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solutions import certificate_of


class Recorder:
    """Notes the progress of a run; called with a `Moment` after every epoch.

    Parameters
    ----------
    problem : Problem
        What is minimised, on the training rows.
    ties : "na", "positive" or "negative"
        How a score of exactly 0 counts; with ``"na"`` such rows are left out.
    test_error : callable, optional
        From a solution to its error rate on held-out rows.
    """

    def __init__(
        self,
        problem: Problem,
        ties: Ties,
        test_error: Callable[[Any], float] | None = None,
    ) -> None:
        self._problem = problem
        self._ties = ties
        self._test_error = test_error
        self._lines: list[dict[str, Any]] = []
        self._violations = 0

    def __call__(self, moment: Moment) -> None:
        """Add a line."""
        found = moment.solution
        at = certificate_of(self._problem, found)
        line = {
            "epoch": moment.epoch,
            "steps": found.n_iter,
            "objective": at.objective,
            "gap": at.gap,
            "violations": found.n_violations - self._violations,
            "training_error": at.error_rate(self._problem.n, self._ties),
        }
        if self._test_error is not None:
            line["test_error"] = self._test_error(found)
        self._violations = found.n_violations
        self._lines.append(line | {"cpu_seconds": moment.cpu_seconds})

    def frame(self) -> pd.DataFrame:
        """Lines as a data frame, one row per epoch.

        Columns: ``epoch, steps, objective, gap, violations`` (of this epoch),
        ``training_error``, ``test_error`` if there are held-out rows, and
        ``cpu_seconds``, the processor time of all updates so far.
        """
        return pd.DataFrame(self._lines)
