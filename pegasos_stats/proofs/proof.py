"""Write a proof that a fit is near the minimum; ``check_proof.py`` checks it.

A proof lists dual variables, which are integers times ``2^-60``. The checker corrects
the dual variables of some listed rows so that the dual constraint is exactly satisfied:
one row for the intercept, or with ``lam = 0`` one row per coefficient. The design is a
CSV file next to the proof. The numbers of the design and the coefficients are exact
decimals with at most 17 digits.
"""

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Integers, Vector, dense_rows
from pegasos_stats.checks import check_coefficients
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.proofs import check_proof
from pegasos_stats.solvers.certificate import feasible
from pegasos_stats.solvers.maximum_likelihood import estimable_columns
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solver_runs import certificate_of, run_linear
from pegasos_stats.solvers.sums import blocks
from pegasos_stats.tables import significant
from pegasos_stats.writing import Kind, checked_path, outputs, validated_output_path

HEADER = ["outcome", "weight", "offset"]
MAX_PROOF_ROWS = 1_000_000
DUAL_GAP = 1e-12  # relative gap of the dual variables
PIVOT_ROWS = 2**13  # rows of one QR decomposition

PROOF = Kind("proof", lambda handle: handle.read(10) == b'{\n"claim":')
DESIGN = Kind("design", lambda handle: handle.read(21) == b"outcome,weight,offset")


@suggest_arguments
def write_proof(
    result: Any, path: str | PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a proof that the objective is at most ``gap`` above its minimum.

    The function writes two files, such as ``fit.proof.json``, the proof, and
    ``fit.proof.csv``, the design, which contains all training rows. ``pegasos-stats
    proof --print`` prints a program that checks both files in exact arithmetic and
    needs only Python's standard library. The function runs the same check before it
    writes the files. With a million rows the check needs minutes.

    Parameters
    ----------
    path : str or path
        Path of the proof. The path of the design has the ending ``.csv`` instead.
    overwrite : bool, default False
        Whether to replace files that the package did not write.

    Raises
    ------
    DataError
        If the rows are not in memory or more than a million, if the penalty is Firth's,
        or if no dual variables near the optimum satisfy the constraint exactly, as
        happens near separation.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pegasos_stats as ps
    >>> from pegasos_stats.proofs import check_proof
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train).fit()
    >>> path = Path(tempfile.mkdtemp()) / "fit.proof.json"
    >>> result.write_proof(path)
    >>> objective, lower_bound, gap = check_proof.check(path)
    >>> bool(0 <= objective - lower_bound <= gap < 1e-12)
    True
    """
    problem, solution = result.problem, result.solution
    check_provable(problem)
    dual = closest_dual(problem, solution.dual)
    names = list(result.design.names)
    write(problem, names, solution.beta, solution.alpha, dual, path, overwrite)


def check_provable(problem: Problem) -> None:
    """Raise `DataError` for a problem without proofs."""
    if problem.has_firth or not problem.has_rows or problem.n > MAX_PROOF_ROWS:
        raise DataError(
            "A proof needs at most a million training rows, in memory, and a ridge "
            "penalty or none; refit the model accordingly."
        )


def closest_dual(problem: Problem, dual: Vector) -> Vector:
    """Minimise to the relative gap `DUAL_GAP` and return the dual variables.

    With ``lam = 0`` return `dual`.
    """
    if not problem.lam:  # `dual` belongs to the maximum likelihood estimate
        return dual
    return run_linear(problem, Optimum(tol=DUAL_GAP), dual=dual, warn=False).dual


def design_path(path: object) -> str:
    """Path of the design of a proof.

    Examples
    --------
    >>> design_path("fit.proof.json")
    'fit.proof.csv'
    """
    return f"{os.path.splitext(checked_path(path))[0]}.csv"


def write(
    problem: Problem,
    names: list[str],
    beta: Vector,
    alpha: float,
    dual: Vector,
    path: str | PathLike[str],
    overwrite: bool,
) -> None:
    """Create and check the proof for these coefficients, and write it.

    With ``lam = 0`` the design contains only the estimable columns.
    """
    place = validated_output_path(path, PROOF, overwrite)
    name = Path(design_path(path))
    design = validated_output_path(name, DESIGN, overwrite)
    columns, solved = np.arange(problem.p), np.zeros(0, dtype=np.int64)
    integers = in_units(problem, dual)
    if not problem.lam:
        columns, solved = rows_of_likelihood(problem, dual)
    elif problem.intercept:
        solved = np.array([row_of_balance(problem, integers)])
    theta = [*[alpha] * problem.intercept, *beta[columns].tolist()]
    proof: dict[str, Any] = {
        "claim": check_proof.CLAIM,
        "design": name.name,
        "sha256": "",
        "rows": problem.n,
        "loss": problem.loss,
        "lam": problem.lam,
        "intercept": problem.intercept,
        "names": [names[column] for column in columns],
        "coefficients": theta,
        "gap": 0,
        "decimals": 0,
        "solved": (solved + 1).tolist(),
        "dual": integers,
    }
    with TemporaryDirectory() as folder:
        table, text = Path(folder, name.name), Path(folder, "proof.json")
        proof["decimals"] = write_design(problem, proof["names"], columns, table)
        proof["decimals"] = max(proof["decimals"], *map(decimals, map(repr, theta)))
        with open(table, "rb") as handle:
            proof["sha256"] = hashlib.file_digest(handle, "sha256").hexdigest()
        text.write_text(json_lines(proof), encoding="utf-8")
        proof["gap"] = checked_gap(text)
        with outputs() as files:
            files.write(place, json_lines(proof))
            with open(table, "rb") as handle:
                shutil.copyfileobj(handle, files.open(design))


def checked_gap(path: Path) -> float:
    """Return the duality gap that the checker computes, rounded up to 3 digits.

    Raises
    ------
    DataError
        If the checker cannot satisfy the dual constraint.
    """
    try:
        upper, lower, _ = check_proof.check(path)
    except (ValueError, StopIteration):
        raise DataError(
            "This fit has no proof: no dual variables near the optimum satisfy the "
            "constraint exactly, as happens near separation. Use a penalty lam above 0."
        ) from None
    excess = upper - lower
    up = Context(prec=3, rounding=ROUND_UP)
    return float(up.divide(Decimal(excess.numerator), Decimal(excess.denominator)))


def json_lines(proof: dict[str, Any]) -> str:
    """Write JSON with one key per line."""
    lines = (f'"{k}": {json.dumps(v, ensure_ascii=False)}' for k, v in proof.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def decimals(text: str) -> int:
    """Count the digits after the decimal point.

    Examples
    --------
    >>> [decimals(text) for text in ("2.0", "0.125", "2.5e-07", "1e+20")]
    [1, 3, 8, 0]
    """
    return max(0, -int(Decimal(text).as_tuple().exponent))


def write_design(
    problem: Problem, names: list[str], columns: Integers, path: Path
) -> int:
    """Write the rows as CSV; return the largest number of decimals."""
    w, offset, most = problem.row_weights, problem.row_offsets, 0
    with open(path, "w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow([*HEADER, *names])
        for rows in blocks(problem.n, problem.p):
            X = dense_rows(problem.X[rows])[:, columns]
            block = np.column_stack([problem.y[rows], w[rows], offset[rows], X])
            lines = [
                [repr(value).removesuffix(".0") for value in row]
                for row in block.tolist()
            ]
            most = max(most, *(decimals(text) for line in lines for text in line))
            writer.writerows(lines)
    return most


def in_units(problem: Problem, dual: Vector) -> list[int]:
    """Convert dual variables to units of ``2^-60``, within their exact bounds."""
    a = feasible(dual, problem.y, problem.intercept, problem.dual_upper_bounds)
    integers = [int(value) for value in (a * float(check_proof.DUAL)).tolist()]
    if problem.weights is None or problem.loss == "squared_hinge":
        return integers
    weights = (Fraction(repr(w)) for w in problem.weights.tolist())
    limits = (int(w * check_proof.DUAL) for w in weights)
    return [min(pair) for pair in zip(integers, limits, strict=True)]


def row_of_balance(problem: Problem, integers: list[int]) -> int:
    """Return the row that can best absorb the remainder of ``sum_i a_i y_i``."""
    a, up = np.array(integers, dtype=np.float64), problem.y > 0.0
    surplus = sum(integers[i] for i in np.flatnonzero(up))
    surplus -= sum(integers[i] for i in np.flatnonzero(~up))
    room = problem.dual_upper_bounds * check_proof.DUAL - a
    return int(np.argmax(np.where(up == (surplus > 0), a, room)))


def rows_of_likelihood(problem: Problem, dual: Vector) -> tuple[Integers, Integers]:
    """Return estimable columns and rows that determine them: pivots of blockwise QR.

    Rows are scaled by the root of ``a (w - a)``, which makes corrections of a dual
    variable ``a`` small relative to its distance from both bounds.
    """
    at, w = estimable_columns(problem), problem.row_weights
    root = np.sqrt(np.maximum(0.0, dual * (w - dual)))

    def pivots(rows: Integers) -> Integers:
        from scipy.linalg import qr

        Z = dense_rows(at.rows(problem.X[rows])) * root[rows, None]
        if at.intercept:
            Z = np.column_stack([root[rows], Z])
        order = qr(Z.T, mode="r", pivoting=True)[1]
        return np.asarray(rows[np.sort(order[: at.k])])

    chosen = [
        pivots(np.arange(first, min(first + PIVOT_ROWS, problem.n)))
        for first in range(0, problem.n, PIVOT_ROWS)
    ]
    return at.columns, pivots(np.concatenate(chosen))


@suggest_names("result")
@dataclass(frozen=True, eq=False, repr=False)
class Certification:
    """Bounds on how far coefficients are from the optimum; returned by `certify`.

    Attributes
    ----------
    objective : float
        ``lam/2 ||beta||^2 + mean loss`` at the coefficients.
    dual_objective : float
        A lower bound on the minimum.
    gap : float
        ``objective - dual_objective``, an upper bound on how far the objective is above
        its minimum.
    relative_gap : float
        ``gap / objective``.
    distance : float
        ``sqrt(2 gap / lam)``, an upper bound on the Euclidean distance between the
        coefficients, without the intercept, and the optimal coefficients; infinite with
        ``lam = 0``.

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
        """Write a proof of the gap, as `LinearResults.write_proof` does for a fit.

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
    """Bound how far the objective at any program's coefficients is above its minimum.

    For the objective ``P``, the dual objective ``D`` and feasible dual variables ``a``,
    ``P(beta, alpha) - min P <= gap = P(beta, alpha) - D(a)``. The function computes the
    optimum and uses its dual variables, so the gap nearly equals the difference
    ``P(beta, alpha) - min P``.

    Parameters
    ----------
    model : SVM or Logit
        Model with the same objective as the program: scikit-learn's ``C`` corresponds
        to ``lam = 1 / (C n)``, and glmnet's ``lambda`` to `lam` itself.
    coef : Series, dict, or array of shape (p,) or (1, p)
        Coefficients, by name or in the order of ``model.names``.
    intercept : float or array of shape (1,), optional
        Omit it for a model without intercept, or if `coef` contains ``"Intercept"``.

    Returns
    -------
    Certification

    Raises
    ------
    OptionError
        If coefficients are missing or not finite, or `model` is not a linear model.
    DataError
        If the rows are not in memory, if there are more than a million, or if the
        penalty is Firth's.

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
    if type(problem) is not Problem or not hasattr(model, "fit"):
        raise OptionError(
            "certify() needs a linear model, such as ps.svm(...), not its fit."
        )
    check_provable(problem)
    model = model.at_chosen_lambda()
    problem = model.problem
    beta, alpha = coefficients(problem, model.names, coef, intercept)
    likelihood = model._likelihood
    start = likelihood.solution.dual if not problem.lam else np.zeros(problem.n)
    solution = Solution(beta, alpha, closest_dual(problem, start), 0, 0, None)
    at = certificate_of(problem, solution)
    distance = float(np.sqrt(2.0 * at.gap / problem.lam)) if problem.lam else np.inf
    bounds = (at.objective, at.dual_objective, at.gap, at.relative_gap, distance)
    return Certification(*bounds, problem, list(model.names), solution)


def coefficients(
    problem: Problem, names: tuple[str, ...], coef: Any, intercept: Any
) -> tuple[Vector, float]:
    """Return the coefficients in the order of the columns, and the intercept."""
    terms = ["Intercept"] * problem.intercept + list(names)
    by_name = dict(coef) if isinstance(coef, Mapping | pd.Series) else None
    has_first = problem.intercept and intercept is not None
    first: Any = np.ravel(intercept) if has_first else []
    if by_name is not None:
        by_name |= dict(zip(["Intercept"], first, strict=False))
        check_coefficients("coef", by_name, terms)
        coef, first = [by_name[name] for name in terms], []
    try:
        theta = np.concatenate([first, np.ravel(coef)]).astype(np.float64)
    except (TypeError, ValueError):
        raise OptionError("coef and intercept must be numbers.") from None
    if theta.size != len(terms) or not np.isfinite(theta).all():
        raise OptionError(
            f"coef and intercept must be {len(terms):,} finite numbers; these are "
            f"{theta.size:,}, {np.isfinite(theta).sum():,} of them finite."
        )
    free = int(problem.intercept)
    return theta[free:], float(theta[0]) if free else 0.0
