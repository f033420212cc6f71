"""The kinds of fits in a file: what a linear one and one with a kernel have alone."""

import dataclasses
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import DataError
from pegasos_stats.models.inference import uncertainty
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.inference.options import (
    Bootstrap,
    Cluster,
    CovType,
    Sandwich,
    seconds_of,
)
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.persist import header
from pegasos_stats.models.persist.archive import Archive, Arrays, Header
from pegasos_stats.models.persist.data_fields import DataFields
from pegasos_stats.models.persist.fit_fields import (
    LARGEST,
    LARGEST_SEED,
    FitFields,
    options_of,
)
from pegasos_stats.models.persist.judged import packed_note, unpacked_notes
from pegasos_stats.models.persist.values import packed, restored
from pegasos_stats.models.results import Results
from pegasos_stats.solvers import kernel_problem
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.problem import Problem, Solution

ROUNDED = 1e-6  # of the largest number of a matrix


def check_sandwich(found: Covariance) -> None:
    """Raise ValueError for numbers that no sandwich has."""
    perhaps = found.newton_step, found.fixed, found.prior
    there = [array for array in perhaps if array is not None]
    for array in (found.matrix, found.bread, *there):
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{array!r} is no array")
    if found.fixed is not None and found.fixed.shape != found.matrix.shape:
        raise ValueError(f"a covariance has the shape {found.fixed.shape}")
    undefined = np.isnan(found.matrix).all()
    if not undefined and not np.isfinite(found.matrix).all():
        raise ValueError("the covariance is not finite")
    if not undefined and not np.isfinite(found.bread).all():
        raise ValueError("the bread is not finite")
    for square in (found.matrix, found.fixed):
        if square is not None and np.isfinite(square).all():
            check_variances(square)
    width = found.bandwidth
    wide = width is None or header.real(width, "the width", 0.0) > 0.0
    if not (wide or undefined):
        raise ValueError("the width is 0")
    if type(found.df) is not float or not found.df > 0.0:
        raise ValueError(f"df is {found.df!r}")
    if type(found.rows) is not float or not found.rows >= 0.0:
        raise ValueError(f"it is worth {found.rows!r} rows")
    check_separated(found)


def check_variances(matrix: np.ndarray) -> None:
    """Raise ValueError for a matrix that is not symmetric, or variances below zero.

    Its other eigenvalues may be below zero: of two kinds of groups it is a difference.
    """
    largest = np.abs(matrix).max(initial=0.0)
    if largest > LARGEST:
        raise ValueError(f"a covariance is {largest:g}")
    if (np.diag(matrix) < -ROUNDED * largest).any():
        raise ValueError("a variance is below zero")
    if (np.abs(matrix / 2.0 - matrix.T / 2.0) > ROUNDED * largest).any():
        raise ValueError("a covariance is not symmetric")


def check_separated(found: Estimate) -> None:
    """Raise ValueError for directions that are no numbers, or without a reason."""
    free, alike = (
        np.zeros((1, 0)) if each is None else each
        for each in (found.unbounded, found.collinear)
    )
    if not all(
        isinstance(a, np.ndarray) and np.isfinite(a).all() for a in (free, alike)
    ):
        raise ValueError("a direction is not finite")
    if not (free.any(axis=0).all() and alike.any(axis=0).all()):
        raise ValueError("a direction is 0")
    separated = bool(header.whole(found.separated, "a count"))
    if (separated and not free.size) or (free.size and not (separated or alike.size)):
        raise ValueError("rows are separated by no direction")


def check_bootstrap(found: BootstrapResult) -> None:
    """Raise ValueError for numbers that no bootstrap has."""
    if found.priors is not None and len(found.priors) != len(found.estimates):
        raise ValueError(f"{len(found.priors)} resamples have priors")
    for array in (found.tolerance, found.fixed, found.reference):
        if not isinstance(array, np.ndarray | None):
            raise ValueError(f"{array!r} is no array")
    if found.reference is not None and not np.isfinite(found.reference).all():
        raise ValueError("the reference is not finite")
    for array in (found.estimate, found.estimates, found.covariance):
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{array!r} is no array")
        if not np.isfinite(array).all():
            raise ValueError("a resample is not finite")
    check_variances(found.covariance)
    if found.fixed is not None and found.fixed.shape != found.estimates.shape:
        raise ValueError(f"other estimates have the shape {found.fixed.shape}")
    left = header.whole(found.n_left_out, "a count") + len(found.estimates)
    if left != found.options.replicates:
        raise ValueError(f"{left} of {found.options.replicates} resamples are there")
    header.whole(found.seed, "the seed", -LARGEST_SEED, LARGEST_SEED)
    for number in (found.relative_gap, found.distance):
        if type(number) is not float:
            raise ValueError(f"{number!r} is no distance")
    check_separated(found)
    if header.real(found.agreeing, "a share", 0.0) > 1.0:
        raise ValueError(f"{found.agreeing!r} is no share")


COVARIANCES = {"Sandwich": Sandwich, "Cluster": Cluster, "Bootstrap": Bootstrap}
PREFIX = "covariance."  # of the names of its arrays
VECTORS = "estimate", "newton_step", "tolerance"
APART = ("options", "notes")  # fields that are written apart
MOST_COEFFICIENTS = 256  # whose covariance is computed to be saved: half a megabyte
QUICK = 3.0  # seconds that resamples may take for it
SLACK = 1e-6  # relative, of an objective, for its rounding
NOT_SAVED = (
    "The training rows are not in a saved model; give data, as in predict(data), and "
    "ask for standard errors, as by result.bse, before saving."
)


class Absent:
    """In the place of the training rows, which are not saved: only their shape.

    Parameters
    ----------
    shape : tuple of int
    rows : int array, shape (k,), optional
        Rows that are there none the less, in rising order, and `values`, theirs.
    digest : str, optional
        Of all rows, by which they are known.
    advice : str
        What is said to who asks for them.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        digest: str | None = None,
        rows: np.ndarray | None = None,
        values: np.ndarray | None = None,
        advice: str = NOT_SAVED,
    ) -> None:
        self.shape, self.digest, self.advice = shape, digest, advice
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self._values = np.empty((0, *shape[1:])) if values is None else values

    def __getitem__(self, rows: NDArray[np.intp] | slice) -> np.ndarray:
        asked = np.arange(self.shape[0])[rows]
        if not np.isin(asked, self._rows).all():
            self._refuse()
        found: np.ndarray = self._values[np.searchsorted(self._rows, asked)]
        return found

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DataError(self.advice)


def linear_out(result: LinearResults, fit: Header) -> Arrays:
    """Coefficients and dual weights; and the covariance, see `covariance_out`."""
    arrays: Arrays = {"beta": result.solution.beta, "dual": result.solution.dual}
    return arrays | covariance_out(result, fit)


def linear_in(fields: FitFields, fit: Header, archive: Archive) -> LinearResults:
    """Undo `linear_out`."""
    n, p = fields.n, fields.p
    fields.check_width(p)
    beta, dual = archive.take("beta", "f8", p), archive.take("dual", "f8", n)
    if not (np.isfinite(beta).all() and np.isfinite(dual).all()):
        raise ValueError("a coefficient is not finite")
    check_penalty(beta, fields.problem["lam"], fields.certificate)
    cov_type = None
    if fit["cov_type"] is not None:
        name, options = header.items(fit["cov_type"], "cov_type", 2)
        kind = COVARIANCES[name]
        cov_type = kind(**options_of(kind, options))
    result = LinearResults(
        problem=Problem(Absent((n, p), fields.digest), **fields.problem),
        solution=Solution(beta, fields.alpha, dual, *fields.counts, **fields.ran),
        errors_by=cov_type,
        groups=groups_in(fit["groups"], cov_type),
        **fields.results,
    )
    vars(result)["cov_type"] = cov_type
    if fit["covariance"] is not None:
        k = p + fields.intercept
        found = covariance_in(fit["covariance"], k, cov_type, archive)
        vars(result)["estimated"] = found
    return result


def covariance_out(result: LinearResults, fit: Header) -> Arrays:
    """Options of the covariance; and what was computed of it, or is quick to compute.

    The training rows are not saved, so it cannot be computed later.
    """
    options, problem = result.cov_type, result.problem
    fit["cov_type"] = options and [type(options).__name__, packed(asdict(options))]
    fit["covariance"], groups = None, result.groups
    fit["groups"] = groups and [list(groups.names), list(groups.numbers)]
    little = problem.p <= MOST_COEFFICIENTS and problem.has_rows
    if isinstance(options, Bootstrap):
        asked = result.errors_by != "default"
        little = (
            little and not asked and seconds_of(problem, options.replicates) <= QUICK
        )
    else:
        little = little and uncertainty.is_quick(problem)
    if options is None or not (result.has_covariance or little):
        return {}
    found = result.estimated
    facts, arrays = {}, {}
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if isinstance(value, np.ndarray):
            arrays[field.name] = value
        elif field.name not in APART:
            facts[field.name] = packed(value)
    remarks = [packed_note(note) for note in found.notes]
    fit["covariance"] = [type(found).__name__, facts, list(arrays), remarks]
    return {PREFIX + name: array for name, array in arrays.items()}


def groups_in(stored: header.Json, options: CovType) -> Groups | None:
    """Names and numbers of the groups; of which group a row was is not saved."""
    if stored is None and not isinstance(options, Cluster):
        return None
    names, numbers = header.items(stored, "the groups", 2)
    ways = len(header.items(numbers, "the numbers of groups"))
    told = [header.text(name, "a name") for name in header.items(names, "names", ways)]
    counts = [header.whole(number, "a number of groups", 2) for number in numbers]
    most = {Cluster: 2, Bootstrap: 1}
    if not 0 < ways <= most.get(type(options), 0):
        raise ValueError(f"there are {ways} kinds of groups")
    return Groups(tuple(told), tuple(counts))


def covariance_in(
    stored: header.Json, k: int, options: CovType, archive: Archive
) -> Estimate:
    """The covariance of k coefficients.

    Raises
    ------
    ValueError and others
        If it is not as `covariance_out` writes it.
    """
    kind, facts, names, remarks = header.items(stored, "the covariance", 4)
    is_resampled = isinstance(options, Bootstrap)
    values = {name: restored(fact) for name, fact in facts.items()}
    for name in header.items(names, "the names of arrays"):
        values[name] = archive.take(PREFIX + name, "f8", *_shape_of(name, k))
    notes = unpacked_notes(remarks)
    if kind != ("BootstrapResult" if is_resampled else "Covariance"):
        raise ValueError(f"a {kind} is estimated by {options}")
    if isinstance(options, Bootstrap):
        resampled = BootstrapResult(**values, options=options, notes=notes)
        check_bootstrap(resampled)
        return resampled
    covariance = Covariance(**values, notes=notes)
    check_sandwich(covariance)
    return covariance


def _shape_of(name: str, k: int) -> tuple[int | None, ...]:
    if name in VECTORS:
        return (k,)
    if name in ("prior", "priors"):
        return (k + 1 if name == "prior" else None,)
    if name in ("unbounded", "collinear"):
        return (k, None)
    return (None if name in ("estimates", "fixed") else k, k)


def check_penalty(beta: np.ndarray, lam: float, certificate: Certificate) -> None:
    """Raise ValueError for coefficients whose penalty alone is above the objective."""
    with np.errstate(over="ignore"):
        penalty = lam / 2.0 * float(beta @ beta)
    most = (certificate.objective + certificate.rounding) * (1.0 + SLACK)
    if penalty > most:
        raise ValueError(f"the penalty is {penalty}, and the objective {most}")


def kernel_out(result: KernelResults, fit: Header) -> Arrays:
    """Kernel, counts or dual weights, and the rows that predictions depend on."""
    problem, found = result.problem, result.solution
    fit["kernel"] = kernel_of(problem)
    kept = {"counts": found.counts, "dual": found.dual, "g": found.g}
    arrays: Arrays = {k: array for k, array in kept.items() if array is not None}
    if result.columns is not None:
        arrays["columns"] = result.columns
    else:
        arrays["support"] = problem.X[kernel_problem.support_of(problem, found)[0]]
    return arrays


def kernel_in(fields: FitFields, fit: Header, archive: Archive) -> KernelResults:
    """Undo `kernel_out`."""
    n, p = fields.n, fields.p
    kernel, memory = kernel_read(fit["kernel"], fields)
    kept = "dual" if (fields.refinement or fields.solver).to_optimum else "counts"
    each = archive.take(kept, "f8" if kept == "dual" else "i8", n)
    g = archive.take("g", "f8", n)
    good = (each >= 0).all() and np.isfinite(each).all() and np.isfinite(g).all()
    if not good or (kept == "counts" and fields.counts[0] < 1):
        what = "count" if kept == "counts" else "dual weight"
        raise ValueError(f"a {what} is below zero, or a score not finite")
    solution = kernel_problem.KernelSolution(
        None if kept == "dual" else each,
        g,
        fields.alpha,
        *fields.counts,
        dual=each if kept == "dual" else None,
        **fields.ran,
    )
    columns, X = None, Absent((n, p), fields.digest)
    if kernel.name == "precomputed":
        columns = columns_in(fields, archive)
    else:
        fields.check_width(p)
        weighted = kept == "counts" and fields.weights is not None
        rows = np.flatnonzero(each * fields.weights if weighted else each)
        support = archive.take("support", "f8 f4", len(rows), p)
        if not np.isfinite(support).all():
            raise ValueError("a support row is not finite")
        X = Absent((n, p), fields.digest, rows, support)
    return KernelResults(
        problem=kernel_problem.KernelProblem(
            X, **fields.problem, kernel=kernel, memory=memory
        ),
        solution=solution,
        columns=columns,
        **fields.results,
    )


def kernel_of(problem: kernel_problem.KernelProblem) -> header.Json:
    """Write a kernel and its memory."""
    return [asdict(problem.kernel), int(problem.memory)]


def kernel_read(
    stored: header.Json, fields: DataFields
) -> tuple[kernel_problem.KernelFunction, int]:
    """Undo `kernel_of`."""
    options, memory = header.items(stored, "the kernel", 2)
    kernel = kernel_problem.checked_kernel(**options, X=np.ones((1, 1)))
    if kernel != kernel_problem.KernelFunction(**options) or fields.loss != "hinge":
        raise ValueError(f"no kernel has {options}")
    return kernel, header.whole(memory, "memory", 1)


def columns_in(fields: DataFields, archive: Archive) -> np.ndarray:
    """Columns of a precomputed kernel that are rows of the fit."""
    n, width = fields.n, len(fields.design.names)
    columns = archive.take("columns", "i8", n)
    known = (columns >= 0).all() and (columns < width).all()
    if not known or len(np.unique(columns)) < n or fields.p != n:
        raise ValueError(f"columns are not {n} of {width}")
    return columns


@dataclass(frozen=True)
class FitKind:
    """A kind of results in a file.

    Attributes
    ----------
    type : type
    out : callable
        Writes what this kind has alone into the fields of a fit; returns the arrays.
    back : callable
        Puts a fit together again.
    own : set of str
        Fields that this kind has alone.
    """

    type: type[Results]
    out: Callable[[Any, Header], Arrays]
    back: Callable[[FitFields, Header, Archive], Results]
    own: set[str]


KINDS = {
    "linear": FitKind(
        LinearResults, linear_out, linear_in, {"cov_type", "covariance", "groups"}
    ),
    "kernel": FitKind(KernelResults, kernel_out, kernel_in, {"kernel"}),
}
