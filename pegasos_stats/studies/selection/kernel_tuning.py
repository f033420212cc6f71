"""Cross-validation over gamma and lambda: a path of lambda for each gamma."""

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.errors import OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.fold_fits import checked_model
from pegasos_stats.studies.selection.lambda_path import (
    LambdaPath,
    distinct_positive,
    lambda_path,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMES = (1.0 / 16.0, 0.25, 1.0, 4.0, 16.0)  # the gamma of the model


@suggest_arguments
def tune_kernel(
    model: KernelSVM,
    gammas: object = None,
    lambdas: object = None,
    solver: Pegasos | SDCA | None = None,
    *,
    folds: object = 10,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    metrics: object = None,
    metric: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> "KernelTuning":
    """Cross-validate a Gaussian kernel over gamma and lambda on the same folds.

    Each gamma has a `lambda_path`, along which SDCA starts from the solution before and
    keeps its rows of the Gram matrix.

    Parameters
    ----------
    model : KernelSVM
        With a Gaussian kernel; its own lambda is not used.
    gammas : sequence of float, optional
        By default 1/16, 1/4, 1, 4 and 16 times the gamma of the model.
    lambdas : sequence of float, optional
        For all gammas; by default those of `lambda_grid` for each.
    solver, folds, repeats, groups, seed, metrics, metric, workers, progress
        As for `lambda_path`; folds are drawn once.

    Returns
    -------
    KernelTuning

    Raises
    ------
    OptionError
        If the model has no Gaussian kernel, or an option is not allowed.

    Warns
    -----
    ConvergenceWarning
        For each gamma, if SDCA does not reach its tolerance in some fit.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, lam=1.0)
    >>> found = ps.tune_kernel(model, [0.001, 0.1], [1e-2, 1e-4], folds=3, seed=443)
    >>> found.table[["gamma", "lam"]].to_numpy().tolist()
    [[0.001, 0.01], [0.001, 0.0001], [0.1, 0.01], [0.1, 0.0001]]
    >>> found.gamma
    0.001
    """
    checked_model(model)
    kernel = getattr(model.problem, "kernel", None)
    if kernel is None or kernel.gamma is None:
        raise OptionError("The model has no gamma; give one with a Gaussian kernel.")
    grid = [times * kernel.gamma for times in TIMES]
    if gammas is not None:
        grid = distinct_positive("gammas", gammas)
    if folds is None:
        raise OptionError("leaves nothing to choose by.", "folds", None)
    paths: list[LambdaPath] = []
    for gamma in grid:
        path = lambda_path(
            at_gamma(model, gamma),
            lambdas,
            solver,
            folds=paths[0].folds if paths else folds,
            repeats=1 if paths else repeats,
            groups=None if paths else groups,
            seed=paths[0].seed if paths else seed,
            metrics=metrics,
            metric=metric,
            workers=workers,
            progress=progress,
        )
        paths.append(path)
    return KernelTuning(tuple(grid), tuple(paths))


def at_gamma(model: KernelSVM, gamma: float) -> KernelSVM:
    """Return the same model with another gamma; the data are shared."""
    other = copy(model)
    kernel = replace(model.problem.kernel, gamma=gamma)
    other.problem = replace(model.problem, kernel=kernel)
    return other


@suggest_names("tuning")
@dataclass(frozen=True, repr=False, eq=False)
class KernelTuning:
    """Paths of lambda for several values of gamma; made by `tune_kernel`.

    Attributes
    ----------
    gammas : tuple of float
        In rising order.
    paths : tuple of LambdaPath
        One for each gamma, on the same folds.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, lam=1.0)
    >>> found = ps.tune_kernel(model, [0.001, 0.1], [1e-2, 1e-4], folds=3, seed=443)
    >>> found.refit().confusion(test).n_errors < 5
    True
    """

    gammas: tuple[float, ...]
    paths: tuple[LambdaPath, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """``gamma`` and the columns of ``LambdaPath.table``, a row for each pair."""
        paths = zip(self.gammas, self.paths, strict=True)
        parts = [path.table.assign(gamma=gamma) for gamma, path in paths]
        columns = ["gamma", *self.paths[0].table]
        return pd.concat(parts, ignore_index=True)[columns]

    @property
    def best(self) -> LambdaPath:
        """The path with the best mean metric; for ties that of the smallest gamma."""
        least = [np.nanmin(path._losses()[0]) for path in self.paths]
        return self.paths[int(np.nanargmin(least))]

    @property
    def metric(self) -> str:
        """Name of the metric that the choice is by."""
        return self.paths[0].metric

    @property
    def gamma(self) -> float:
        """The chosen gamma."""
        return self.gammas[self.paths.index(self.best)]

    @property
    def lam(self) -> float:
        """The chosen lambda: ``lambda_min`` of the path of the chosen gamma."""
        return self.best.lambda_min

    def refit(self) -> KernelResults:
        """Fit all rows at the chosen gamma and lambda.

        The cross-validated error at the chosen values is optimistic, as the best of
        many: use new rows, or nested cross-validation, for a better estimate.
        """
        found = self.best.refit("min")
        assert isinstance(found, KernelResults)
        return found

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean metric as a map of lambda and gamma, the best pair marked.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        from pegasos_stats.output.plotting.tiles import draw_map

        return draw_map(self.table, self.metric, (self.lam, self.gamma), ax)

    def __repr__(self) -> str:
        pairs = counted(len(self.table), "pair")
        return (
            f"<KernelTuning: {pairs} of gamma and lambda, best {self.metric} at gamma "
            f"{self.gamma:g}, lam {self.lam:g}>"
        )
