"""How far the coefficients of any program are from the minimum of a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.errors import OptionError, listing
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.proofs.proof import check_provable, closest_dual, write
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solver_runs import certificate_of
from pegasos_stats.tables import significant


@suggest_names("result")
@dataclass(frozen=True, eq=False, repr=False)
class Certification:
    """Bounds of the distance of coefficients from the minimum, by `certify`.

    Attributes
    ----------
    objective : float
        ``lam/2 ||beta||^2 + mean loss`` at the coefficients.
    dual_objective : float
        A lower bound of the objective of all coefficients.
    gap : float
        The objective is at most so much above its minimum.
    relative_gap : float
        ``gap / objective``.
    distance : float
        ``sqrt(2 gap / lam)``: no coefficient except the intercept is farther from the
        optimum; infinite with ``lam = 0``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43", train, lam=0.1)
    >>> ps.certify(model, [0.0, 0.0], 0.0).objective
    1.0
    """

    objective: float
    dual_objective: float
    gap: float
    relative_gap: float
    distance: float
    _problem: Problem
    _names: list[str]
    _solution: Solution

    def __repr__(self) -> str:
        at_most = significant(self.gap, 3)
        return (
            f"<Certification: objective {significant(self.objective, 6)}, at most "
            f"{at_most} above the minimum, relative gap "
            f"{significant(self.relative_gap, 3)}>"
        )

    @suggest_arguments
    def write_proof(
        self, path: str | PathLike[str], *, overwrite: bool = False
    ) -> None:
        """Write a proof of the gap, as `LinearResults.write_proof` of a fit.

        Parameters
        ----------
        path : str or path
        overwrite : bool, default False
            Whether to replace files that the package did not write.
        """
        check_provable(self._problem)
        at = self._solution
        names = self._names
        write(self._problem, names, at.beta, at.alpha, at.dual, path, overwrite)


@suggest_arguments
def certify(model: Any, coef: object, intercept: object = None) -> Certification:
    """Bound the distance of coefficients, of any program, from the model's minimum.

    ``P(beta, alpha) - min P <= gap = P(beta, alpha) - D(a)``. The dual weights ``a``
    are those of the optimum, which is computed here, so that the gap is the distance
    itself, nearly.

    Parameters
    ----------
    model : SVM or Logit
        What the program minimises: with scikit-learn's ``C`` the penalty is
        ``lam = 1 / (C n)``, with glmnet's ``lambda`` it is `lam` itself.
    coef : Series, dict, or array of shape (p,) or (1, p)
        Coefficients, by name or in the order of ``model.names``.
    intercept : float or array of shape (1,), optional
        Not needed for a model without one, or if `coef` has ``"Intercept"``.

    Returns
    -------
    Certification

    Raises
    ------
    OptionError
        If coefficients are missing or not finite.
    DataError
        If the rows are not in memory, or the penalty is Firth's.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from sklearn.linear_model import LogisticRegression
    >>> train, test = ps.datasets.load_digits56()
    >>> X, y = train[["p34", "p43"]], train["digit"]
    >>> peer = LogisticRegression(C=1.0).fit(X, y)
    >>> model = ps.Logit(y, X, lam=1 / 200)
    >>> at = ps.certify(model, peer.coef_, peer.intercept_)
    >>> at.relative_gap < 1e-6
    True
    """
    problem = getattr(model, "problem", None)
    if type(problem) is not Problem:
        raise OptionError(
            "certify() needs a linear model, such as ps.svm(...), not a fit of it."
        )
    check_provable(problem)
    model = model.at_chosen_lambda()
    problem = model.problem
    beta, alpha = coefficients(problem, model.names, coef, intercept)
    likelihood = model._likelihood
    start = likelihood.solution.dual if not problem.lam else np.zeros(problem.n)
    found = Solution(beta, alpha, closest_dual(problem, start), 0, 0, None)
    at = certificate_of(problem, found)
    distance = float(np.sqrt(2.0 * at.gap / problem.lam)) if problem.lam else np.inf
    bounds = (at.objective, at.dual_objective, at.gap, at.relative_gap, distance)
    return Certification(*bounds, problem, list(model.names), found)


def coefficients(
    problem: Problem, names: tuple[str, ...], coef: Any, intercept: Any
) -> tuple[Vector, float]:
    """Coefficients in the order of the columns, and the intercept."""
    wanted = ["Intercept"] * problem.intercept + list(names)
    by_name = dict(coef) if isinstance(coef, Mapping | pd.Series) else None
    has_first = problem.intercept and intercept is not None
    first: Any = np.ravel(intercept) if has_first else []
    if by_name is not None:
        by_name |= dict(zip(["Intercept"], first, strict=False))
        if wrong := {*by_name} ^ {*wanted}:
            raise OptionError(
                f"The coefficients and the model differ in {listing(sorted(wrong))}."
            )
        coef, first = [by_name[name] for name in wanted], []
    try:
        theta = np.concatenate([first, np.ravel(coef)]).astype(np.float64)
    except (TypeError, ValueError):
        raise OptionError("coef and intercept must be numbers.") from None
    if theta.size != len(wanted) or not np.isfinite(theta).all():
        raise OptionError(
            f"coef and intercept must be {len(wanted):,} finite numbers; these are "
            f"{theta.size:,}, {np.isfinite(theta).sum():,} of them finite."
        )
    free = int(problem.intercept)
    return theta[free:], float(theta[0]) if free else 0.0
